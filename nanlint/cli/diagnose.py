"""`nanlint diagnose [PROJECT]`: why is the loss NaN, and what to do first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from nanlint.cli.terminal import add_colour, wants_colour
from nanlint.errors import ExitCode, NanlintError, UsageError

if TYPE_CHECKING:
    import argparse

    from nanlint.diagnose.answer import Answer, StepResult

EPILOG = """\
examples:
  nanlint diagnose                                   the project in the working directory
  nanlint diagnose --run "python train.py --lr 1e-3" and a few steps of its script, traced
  nanlint diagnose --report why.html project/        one page with the answer and the curves
  nanlint diagnose --format json --budget 0          for programs, and without running any code

Code runs in confirm's sandbox only, and the training script only with --run.
exit codes: 0 no cause was found, 1 there is one, 2 the run itself failed, 130 interrupted
"""

INTERRUPTED = 130
FORMATS = ("text", "json")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("project", nargs="?", default=".", metavar="PROJECT", help="the folder (default: this one)")
    parser.add_argument("--run", default="", metavar="COMMAND", help='trace a few steps: --run "python train.py ..."')
    parser.add_argument("--steps", type=int, default=200, metavar="N", help="steps of --run (default: 200)")
    parser.add_argument(
        "--run-seconds", type=float, default=300.0, metavar="S", help="and seconds of it (default: 300)"
    )
    parser.add_argument(
        "--budget", type=float, default=120.0, metavar="S", help="seconds for confirm (default: 120); 0: run no code"
    )
    parser.add_argument("--config", default="", metavar="FILE", help="the config with the learning rate of the run")
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="of the answer (default: text)")
    parser.add_argument("--report", default="", metavar="FILE", help="write a page (.html) as well")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    add_colour(parser)


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Look at the project, print the answer."""
    from nanlint.diagnose.project import find  # noqa: PLC0415 - main builds every command's parser for its help
    from nanlint.diagnose.steps import Plan, diagnose  # noqa: PLC0415 - same

    for flag, least in (("steps", 1), ("run_seconds", 0.001), ("budget", 0)):
        if not getattr(options, flag) >= least:
            raise UsageError(f"--{flag.replace('_', '-')} {getattr(options, flag)}: give a number above 0")
    if options.report and not options.report.endswith((".html", ".htm")):
        raise UsageError(f"--report {options.report}: the page is HTML; name it why.html (--format json prints data)")
    config = Path(options.config) if options.config else None
    if config is not None and not config.is_file():
        raise UsageError(f"--config {options.config}: there is no such file")
    project = find(options.project)
    plan = Plan(config, options.run, options.steps, options.run_seconds, options.budget)
    progress = _Progress(err, shown=not options.quiet)
    answer = diagnose(project, plan, progress.begin, progress.tell, progress.end)
    _print(answer, options, out)
    _write_page(answer, options.report, err)
    if answer.is_interrupted:
        return INTERRUPTED
    return ExitCode.FINDINGS if answer.causes else ExitCode.CLEAN


def _print(answer: Answer, options: argparse.Namespace, out: TextIO) -> None:
    if options.format == "json":
        from nanlint.diagnose.document import document  # noqa: PLC0415 - for programs

        out.write(document(answer))
        return
    from nanlint.diagnose.text import report  # noqa: PLC0415 - for people
    from nanlint.report.paint import painter  # noqa: PLC0415 - same

    out.write(painter(colour=wants_colour(options.color, out))(report(answer)))


def _write_page(answer: Answer, path: str, err: TextIO) -> None:
    if not path:
        return
    from nanlint.diagnose.page import page  # noqa: PLC0415 - for those who ask for it

    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(page(answer), encoding="utf-8")
    except OSError as error:
        raise NanlintError(f"cannot write {path}: {error.strerror}") from None
    err.write(f"nanlint: the page is {path}\n")


class _Progress:
    """A line for each step on stderr; on a terminal what it is at comes and goes behind it."""

    def __init__(self, err: TextIO, *, shown: bool) -> None:
        self._err, self._shown, self._is_terminal = err, shown, shown and err.isatty()
        self._head = ""

    def begin(self, number: int, name: str) -> None:
        """A step begins."""
        self._head = f"[{number}/6] {name}"
        self.tell("")

    def tell(self, what: str) -> None:
        """What the step is at."""
        if self._is_terminal:
            self._err.write(f"\r\x1b[K{self._head} {what[-60:]}")
            self._err.flush()

    def end(self, result: StepResult) -> None:
        """A step is over."""
        if self._shown:
            state = "" if result.state == "done" else f"{result.state}: "
            summary = (result.summary.splitlines() or [""])[0][:160]
            clear = "\r\x1b[K" if self._is_terminal else ""
            self._err.write(f"{clear}{self._head}: {state}{summary} ({result.seconds:.1f} s)\n")
            self._err.flush()
