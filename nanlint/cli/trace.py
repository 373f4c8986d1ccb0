"""`nanlint trace SCRIPT`: run a training script and name the first operation that makes NaN or Inf."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TextIO

from nanlint.errors import NanlintError, UsageError

if TYPE_CHECKING:
    from nanlint.trace.run import Plan

EPILOG = """\
examples:
  nanlint trace train.py --epochs 3            the script's own options come behind it
  nanlint trace --report nan.html -- train.py  a page with curves, chain, code and fix
  nanlint trace -m project.train --lr 1e-3     a module, as python -m runs it
  torchrun --nproc-per-node 2 -m nanlint trace train.py

exit codes: 1 a non-finite value did harm; else that of the script; 2 nanlint itself failed
"""

MODES = ("replay", "live", "hooks")
OLDEST_TORCH = (2, 4)
"""The first whose autocast and GradScaler are the same for all devices."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this command; everything from the script on belongs to the script."""
    parser.usage = "nanlint trace [OPTIONS] [--] SCRIPT|-m MODULE [ARGS...]"
    parser.add_argument(
        "--mode",
        choices=MODES,
        default=MODES[0],
        help="replay: check steps, run a bad one again under the tracer (default); live: look at every operation; "
        "hooks: look at modules only",
    )
    parser.add_argument(
        "--strict", action="store_true", help="list non-finite values that do no harm as well (implies --mode live)"
    )
    parser.add_argument("--report", metavar="FILE", default="", help="write a page (.html) or the diagnosis (.json)")
    parser.add_argument(
        "--folder", metavar="DIR", default="nanlint-trace", help="where repro scripts go (default: nanlint-trace)"
    )
    parser.add_argument("--log", metavar="FILE", default="", help="write a line of JSON for every step (nanlint plot)")
    parser.add_argument("--save-batch", metavar="FILE", default="", help="save the batch of the bad step (torch.load)")
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE", help="run a module")
    parser.add_argument("script", nargs=argparse.REMAINDER, metavar="SCRIPT", help="the script and its arguments")


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Run the script in this process; what is found goes to stderr, stdout is the script's."""
    del out
    plan_arguments = _target(options)
    _require_torch()
    from nanlint.trace.run import Plan, trace  # noqa: PLC0415 - it imports torch

    return trace(_plan(options, plan_arguments, Plan), err)


def _plan(options: argparse.Namespace, words: list[str], make: type[Plan]) -> Plan:
    target, *arguments = words
    return make(
        target,
        arguments,
        is_module=bool(options.module),
        mode=options.mode,
        strict=options.strict,
        report=options.report,
        folder=options.folder,
        log=options.log,
        save_batch=options.save_batch,
    )


def _target(options: argparse.Namespace) -> list[str]:
    words: list[str] = list(options.module or options.script)
    if words[:1] == ["--"]:
        words = words[1:]
    if words[:1] == ["-m"] and not options.module:
        options.module = words = words[1:]
    if not words:
        raise UsageError("trace needs a script: nanlint trace train.py, or nanlint trace -m MODULE")
    return words


def _require_torch() -> None:
    """Say how to get torch, or a newer one, before anything is imported."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - for this command only
    from importlib.util import find_spec  # noqa: PLC0415 - same

    if find_spec("torch") is None:
        raise NanlintError("trace runs your script with torch, which is not installed; pip install 'nanlint[torch]'")
    try:
        installed = version("torch")
    except PackageNotFoundError:  # built in place: whoever does that knows its version
        return
    if tuple(int(part) for part in installed.split(".")[:2]) < OLDEST_TORCH:
        oldest = ".".join(map(str, OLDEST_TORCH))
        raise NanlintError(f"trace needs torch {oldest} or newer, and this is {installed}; pip install -U torch")
