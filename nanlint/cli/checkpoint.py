"""`nanlint checkpoint PATH…`: NaN and Inf in saved states, and what a run would resume with."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from nanlint.cli.terminal import Waiting, add_colour, wants_colour
from nanlint.errors import ExitCode, NanlintError

if TYPE_CHECKING:
    import argparse

    from nanlint.checkpoint.diagnosis import Request
    from nanlint.checkpoint.layout import Checkpoint
    from nanlint.checkpoint.series import Series
    from nanlint.checkpoint.stated import Config

EPILOG = """\
examples:
  nanlint checkpoint last.pt                         is it clean, and which lr would training resume with?
  nanlint checkpoint runs/                           which checkpoint to resume from
  nanlint checkpoint last.ckpt --config config.yaml  does the saved lr override the config's?
  nanlint checkpoint embeddings.npy --json           for programs

Nothing in a checkpoint is run: no class of yours is needed, and a file from elsewhere can do no harm.
exit codes: 0 clean, 1 an error was found (with --strict, a warning), 2 the run failed or a file could not be read
"""

_MEGABYTE = 1_000_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="files and folders: .pt .pth .bin .ckpt .safetensors .npy .npz"
    )
    parser.add_argument(
        "--config", metavar="FILE", help="compare the saved learning rate with this .yaml, .toml, .json or .py"
    )
    parser.add_argument("--lr", type=float, metavar="LR", help="compare it with this value")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="exit with 1 on warnings, too, such as a learning rate that is not the config's",
    )
    parser.add_argument("--json", action="store_true", help="print JSON (docs/checkpoint.md has the schema)")
    parser.add_argument("--all", action="store_true", help="show every tensor that something is wrong with")
    parser.add_argument(
        "--trust", action="store_true", help="let torch load what cannot be read as data, and run its code"
    )
    add_colour(parser)


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> ExitCode:
    """Read the checkpoints, print what was found."""
    _need_torch()
    from pathlib import Path  # noqa: PLC0415 - main builds every command's parser for its help

    from nanlint.checkpoint.diagnosis import Request  # noqa: PLC0415 - imports torch
    from nanlint.checkpoint.layout import checkpoints  # noqa: PLC0415 - for this command only

    found = checkpoints(map(Path, options.paths))
    config = _config(options)
    waiting = Waiting(err)
    progress = _Progress(waiting, sum(file.stat().st_size for each in found for file in each.files))
    try:
        series = _series(found, Request(config, trust=options.trust, progress=progress))
    finally:
        waiting.stop()
    if not series.diagnoses:
        raise NanlintError(
            f"none of the {len(found)} files is a checkpoint (torch, safetensors and numpy files are read)"
        )
    _print(series, options, out)
    return _exit_code(series, strict=options.strict)


def _need_torch() -> None:
    from importlib.util import find_spec  # noqa: PLC0415 - as above

    if find_spec("torch") is None:
        raise NanlintError("checkpoint needs torch, which is not installed here; pip install 'nanlint[torch]'")


def _config(options: argparse.Namespace) -> Config:
    """What --config and --lr state; --lr is heard before the config's."""
    from pathlib import Path  # noqa: PLC0415 - as above

    from nanlint.checkpoint.stated import Config, Stated, read_config  # noqa: PLC0415 - as above

    config = read_config(Path(options.config)) if options.config else Config()
    if options.lr is None:
        return config
    others = tuple(each for each in config.numbers if not each.is_learning_rate)
    return Config((Stated("lr", options.lr, "--lr"), *others), config.formats, config.file)


class _Progress:
    """The bytes that were read, in megabytes, of those that there are."""

    def __init__(self, waiting: Waiting, total: int) -> None:
        self._waiting = waiting
        self._total = max(1, total // _MEGABYTE)
        self._done = 0

    def __call__(self, count: int) -> None:
        self._done += count
        self._waiting(min(self._done // _MEGABYTE, self._total), self._total)


def _series(found: list[Checkpoint], request: Request) -> Series:
    from nanlint.checkpoint.diagnosis import diagnose  # noqa: PLC0415 - as above
    from nanlint.checkpoint.series import in_order  # noqa: PLC0415 - as above

    return in_order([diagnose(each, request) for each in found])


def _print(series: Series, options: argparse.Namespace, out: TextIO) -> None:
    if options.json:
        from nanlint.checkpoint.document import document  # noqa: PLC0415 - for programs

        out.write(document(series))
        return
    from nanlint.checkpoint.text import report  # noqa: PLC0415 - for people
    from nanlint.report.paint import painter  # noqa: PLC0415 - as above

    out.write(painter(colour=wants_colour(options.color, out))(report(series, everything=options.all)))


def _exit_code(series: Series, *, strict: bool) -> ExitCode:
    """Bad values first: they are what one looks for. A file that could not be read is never a clean run."""
    if series.first_bad is not None or (strict and series.has_warnings):
        return ExitCode.FINDINGS
    return ExitCode.FAILED if any(each.failures for each in series.diagnoses) else ExitCode.CLEAN
