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
    batch: dict[str, Any] = field(default_factory=dict)
    """What the loop gave it, by name."""
    again: bool = False
    drawn: list[tuple[int, Any]] = field(default_factory=list)
    """What it took from iterators by `next`, with the identity of each iterator."""
    waiting: list[tuple[int, Any]] = field(default_factory=list)
    """What is to be handed out once more, because the turn is run again."""


class Loops:
    """The object that a repeatable loop talks to."""

    def __init__(self, watcher: Watcher) -> None:
        self.turns: list[Turn] = []
        self._watcher = watcher
        self._thread = threading.get_ident()
        self._idle: dict[int, int] = {}

    def next_of(self, iterator: Iterator[Any], *default: Any) -> Any:
        """`next(iterator)`; in a turn that is run again, what it was then."""
        if threading.get_ident() != self._thread or not self.turns:
            return next(iterator, *default)
        again = self._drawn_before(id(iterator))
        value, inside = again or (next(iterator, *default), self.turns)
        for turn in inside:
            turn.drawn.append((id(iterator), value))
        return value

    def _drawn_before(self, owner: int) -> tuple[Any, list[Turn]] | None:
        """What the outermost turn that is run again took from this iterator, and the turns that take it now."""
        for depth, turn in enumerate(self.turns):
            for place, (other, value) in enumerate(turn.waiting):
                if other == owner:
                    del turn.waiting[place]
                    return value, self.turns[depth:]
        return None

    def attempts(self, batch: dict[str, Any] | None = None) -> Iterator[bool]:
        """False for the turn itself, then True for each time that it is to be run again; `batch` is what the loop gave it."""
        if threading.get_ident() != self._thread:
            yield False
            return
        loop = id(sys._getframe(1).f_code)  # noqa: SLF001 - to know the loops in which nothing happens
        watcher = self._watcher
        is_idle = self._idle.get(loop, 0) > 3
        turn = Turn(None if is_idle else watcher.take_mark(), watcher.activity, batch or {})
        self.turns.append(turn)
        try:
            yield False
            while turn.again or (not is_idle and watcher.is_lost(turn, sys._getframe(1))):  # noqa: SLF001 - the frame of the loop
                turn.again = False
                turn.waiting, turn.drawn = turn.drawn, []
                yield True
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
        if threading.get_ident() != self._thread or not self.turns:
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
