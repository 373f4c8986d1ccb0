"""The turns of a training loop at run time: which one is running, and whether it is to be run once more.

What counts as lost is asked of the session; this module keeps order among loops that run inside each other.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from nanlint.trace.marks import Mark


class Rewind(BaseException):
    """Leaves the running turn of the innermost training loop."""

    def __init__(self, *, repeat: bool) -> None:
        super().__init__("nanlint runs this step again")
        self.repeat = repeat


class Watcher(Protocol):
    """What the loops ask the session."""

    activity: int

    def take_mark(self) -> Mark | None:
        """The present moment, if there is a use for it."""
        ...

    def is_lost(self, turn: Turn, frame: FrameType) -> bool:
        """Whether a turn that has ended is to be run again."""
        ...

    def is_worth_repeating(self, turn: Turn, error: BaseException) -> bool:
        """Whether a turn that ended in an exception is to be run again."""
        ...


@dataclass(slots=True)
class Turn:
    """One turn of one loop."""

    mark: Mark | None
    activity: int
    """How much had happened when it began."""
    again: bool = False
    """To be run once more."""
    is_again: bool = False
    """Being run once more."""
    kept: dict[str, Any] = field(default_factory=dict)
    """The values that names had before it."""


class Loops:
    """The object that a repeatable loop talks to."""

    def __init__(self, watcher: Watcher) -> None:
        self.turns: list[Turn] = []
        self._watcher = watcher
        self._thread = threading.get_ident()
        self._idle: dict[int, int] = {}

    def _is_elsewhere(self) -> bool:
        """Whether it is another thread that asks; its loops are left alone."""
        return threading.get_ident() != self._thread

    def is_again(self) -> bool:
        """Whether this attempt is not the first one of its turn."""
        return not self._is_elsewhere() and self.turns[-1].is_again

    def keep(self, name: str, value: object) -> None:
        """The present value of a name that the turn is about to change."""
        if not self._is_elsewhere():
            self.turns[-1].kept[name] = value

    def kept(self) -> dict[str, Any]:
        """What names are given back before another attempt."""
        return self.turns[-1].kept

    def attempts(self) -> Iterator[tuple[()]]:
        """Once for the turn itself, then once for each time that it is to be run again."""
        if self._is_elsewhere():
            yield ()
            return
        loop = id(sys._getframe(1).f_code)  # noqa: SLF001 - to know the loops in which nothing happens
        watcher = self._watcher
        is_idle = self._idle.get(loop, 0) > 3
        turn = Turn(None if is_idle else watcher.take_mark(), watcher.activity)
        self.turns.append(turn)
        try:
            yield ()
            while turn.again or (not is_idle and watcher.is_lost(turn, sys._getframe(1))):  # noqa: SLF001 - the frame of the loop
                turn.again, turn.is_again = False, True
                yield ()
        finally:
            self._leave(turn)
            self._idle[loop] = 0 if watcher.activity != turn.activity else self._idle.get(loop, 0) + 1

    def _leave(self, turn: Turn) -> None:
        """Take the turn off, and whatever ended inside it without saying so."""
        if any(other is turn for other in self.turns):
            while self.turns.pop() is not turn:
                pass

    def swallow(self, error: BaseException) -> bool:
        """Whether the turn goes on in another attempt; if not, the error is raised further."""
        if self._is_elsewhere() or not self.turns:
            return False
        turn = self.turns[-1]
        if isinstance(error, Rewind):
            turn.again = error.repeat
            return True
        if self._watcher.is_worth_repeating(turn, error):
            turn.again = True
            return True
        self._leave(turn)
        return False
