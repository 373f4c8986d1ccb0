"""How the code is run: options that `nanlint confirm` and `nanlint check --confirm` share.

Only what the user gives is in the namespace, so that `check` can tell options without --confirm from defaults.
"""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from nanlint.errors import UsageError

if TYPE_CHECKING:
    from nanlint.confirm.options import Options

DTYPES = ("float16", "bfloat16", "float32", "float64")
PLAUSIBILITIES = ("ordinary", "edge", "large", "extreme")
FLAGS = (
    "device",
    "dtype",
    "amp",
    "flush_denormals",
    "timeout",
    "evaluations",
    "budget",
    "seed",
    "max_plausibility",
    "save",
    "executor",
)
_EXECUTOR = re.compile(r"(local|ray|ray://\S+)$")
_DEVICE = re.compile(r"(auto|cpu|mps|cuda(:\d+)?)$")


def add_running(group: argparse._ArgumentGroup) -> None:
    """Device, precision, limits."""
    absent = argparse.SUPPRESS
    group.add_argument(
        "--device", default=absent, metavar="DEVICE", help="auto, cpu, cuda, cuda:N or mps (default: auto)"
    )
    group.add_argument(
        "--dtype", choices=DTYPES, default=absent, help="run in this dtype (default: those of the finding)"
    )
    group.add_argument(
        "--amp",
        nargs="?",
        const="float16",
        default=absent,
        choices=DTYPES[:2],
        help="run under mixed precision (float16 if you name none)",
    )
    group.add_argument(
        "--flush-denormals",
        action="store_true",
        default=absent,
        help="treat denormal numbers as 0, as some GPU kernels do",
    )
    group.add_argument("--timeout", type=float, default=absent, metavar="SECONDS", help="per finding (default: 30)")
    group.add_argument(
        "--budget",
        type=float,
        default=absent,
        metavar="MINUTES",
        help="for all findings, the likeliest first; what is left is counted (default: 10)",
    )
    group.add_argument(
        "--evaluations", type=int, default=absent, metavar="N", help="runs per finding and dtype (default: 2000)"
    )
    group.add_argument("--seed", type=int, default=absent, metavar="N", help="of all random numbers (default: 0)")
    group.add_argument(
        "--max-plausibility",
        choices=PLAUSIBILITIES,
        default=absent,
        help="the least plausible inputs that confirm (default: large); extreme ones are reported as information",
    )
    group.add_argument(
        "--executor",
        default=absent,
        metavar="WHERE",
        help="local, or a Ray cluster: ray (RAY_ADDRESS, or that of this machine) or ray://HOST:PORT (default: local)",
    )
    group.add_argument(
        "--save", metavar="DIR", default=absent, help="write a script and a pytest for everything confirmed"
    )


def given(options: argparse.Namespace) -> list[str]:
    """The options about running that the user gave, as they are written."""
    return [f"--{flag.replace('_', '-')}" for flag in FLAGS if hasattr(options, flag)]


def running_options(options: argparse.Namespace) -> Options:
    """What confirm is asked for; raises UsageError for what cannot be meant."""
    from nanlint.confirm.options import Options  # noqa: PLC0415 - for runs that confirm
    from nanlint.model.verdict import Plausibility  # noqa: PLC0415 - same

    device = getattr(options, "device", "auto")
    if not _DEVICE.match(device):
        raise UsageError(f"--device {device}: give auto, cpu, cuda, cuda:N or mps")
    executor = getattr(options, "executor", "local")
    if not _EXECUTOR.match(executor):
        raise UsageError(f"--executor {executor}: give local, ray or ray://HOST:PORT")
    for flag in ("timeout", "budget", "evaluations"):
        if getattr(options, flag, 1) <= 0:
            raise UsageError(f"--{flag} {getattr(options, flag)}: give a number above 0")
    asked = {flag: getattr(options, flag) for flag in FLAGS if hasattr(options, flag) and flag != "save"}
    asked["device"] = device
    if "flush_denormals" in asked:
        asked["flush"] = asked.pop("flush_denormals")
    if "max_plausibility" in asked:
        asked["max_plausibility"] = Plausibility(asked["max_plausibility"])
    return Options(**asked)
