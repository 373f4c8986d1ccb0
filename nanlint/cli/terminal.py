"""What a terminal gets and a pipe does not: colour, and a progress bar when one waits longer than a second."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import argparse

    from rich.progress import Progress as Bar

_PATIENCE = 1.0
_REFRESH = 0.1


def add_colour(parser: argparse._ActionsContainer) -> None:
    """The option that every printing command has."""
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour on a terminal and none in a pipe (auto), or as you say; NO_COLOR and FORCE_COLOR are honoured",
    )


def wants_colour(choice: str, out: TextIO) -> bool:
    """Whether `out` gets colours."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (out.isatty() and os.environ.get("TERM") != "dumb")


class Waiting:
    """A progress bar on `err`, shown only if it is a terminal and the work takes longer than a second.

    It is drawn when a file is done and never by a thread: worker processes may be forked while it is shown.
    """

    def __init__(self, err: TextIO, *, shown: bool = True) -> None:
        self._err = err
        self._shown = shown and err.isatty()
        self._next = time.monotonic() + _PATIENCE
        self._bar: Bar | None = None

    def __call__(self, done: int, total: int) -> None:
        """Note that `done` of `total` files are checked."""
        if not self._shown or time.monotonic() < self._next:
            return
        if self._bar is None:
            self._bar = _bar(self._err)
            self._bar.add_task("checking", total=total)
        self._bar.update(self._bar.task_ids[0], completed=done, refresh=True)
        self._next = time.monotonic() + _REFRESH

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()


def _bar(err: TextIO) -> Bar:
    from rich.console import Console  # noqa: PLC0415 - for those who wait
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(file=err), transient=True, auto_refresh=False)
    bar.start()
    return bar
