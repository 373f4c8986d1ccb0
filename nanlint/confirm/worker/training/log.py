"""What happened in a driven script, in order: forwards, backwards, clips, steps, saves, and each run of the flagged line."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

Json = dict[str, Any]
FLAGGED = "flagged"
ROUNDS = 7
"""How often the flagged line is run before the script is ended."""
MOST_FORWARDS = 1500
"""Forwards after which a script is ended that does not come to the flagged line so often."""


class Enough(BaseException):
    """The script has run long enough to be judged; no `except Exception` of its own goes on."""


@dataclass
class Entry:
    """One event; `more` is what is known of it."""

    kind: str
    more: Json = field(default_factory=dict)


@dataclass
class Log:
    """The events of one run."""

    path: str
    script: str
    first: int
    last: int
    entries: list[Entry] = field(default_factory=list)
    seen: dict[int, Any] = field(default_factory=dict)
    """What the flagged line has at hand, by identity: averages are looked for among it."""
    error: BaseException | None = None
    printed: str = ""
    clean: Log | None = None
    """The same run without the fault."""
    other: Log | None = None
    """What a second process does that has no fault and meets the one of this run."""
    partner: Log | None = None
    """The run of the process that it adds its tensors up with."""
    forwards: int = 0
    lines: set[tuple[str, int]] = field(default_factory=set)
    """The lines of the two files that were run: how far a script came before it failed."""

    def note(self, kind: str, **more: Any) -> None:
        """Add an event."""
        self.entries.append(Entry(kind, more))

    def of(self, *kinds: str) -> list[Entry]:
        """The events of these kinds, in order."""
        return [entry for entry in self.entries if entry.kind in kinds]

    def after(self, kind: str) -> list[Entry]:
        """What happened after the first event of a kind."""
        place = next((place for place, entry in enumerate(self.entries) if entry.kind == kind), len(self.entries))
        return self.entries[place + 1 :]

    @property
    def tells_more(self) -> bool:
        """Whether it printed more than the run without the fault."""
        return self.clean is not None and self.printed.count("\n") > self.clean.printed.count("\n")

    @property
    def meetings(self) -> list[str]:
        """Where several processes wait for each other: what the gradients of all are for, and what is added up."""
        return [entry.kind for entry in self.of("backward", "all_reduce")]

    @property
    def reached(self) -> bool:
        """Whether the flagged line was run."""
        return any(entry.kind == FLAGGED for entry in self.entries)

    def _enter(self, frame: FrameType, _: str, __: object) -> Any:
        return self._line if frame.f_code.co_filename in {self.path, self.script} else None

    def _line(self, frame: FrameType, event: str, _: object) -> Any:
        name = frame.f_code.co_filename
        if event == "line":
            self.lines.add((name, frame.f_lineno))
        if event == "line" and name == self.path and self.first <= frame.f_lineno <= self.last:
            latest = self.entries[-1] if self.entries else None
            if latest is None or latest.kind != FLAGGED:
                self._flag(frame)
        return self._line

    def _flag(self, frame: FrameType) -> None:
        if len(self.of(FLAGGED)) >= ROUNDS:
            raise Enough
        self.note(FLAGGED)
        held = dict(frame.f_locals)
        owner = held.get("self")
        for thing in [*held.values(), *(vars(owner).values() if hasattr(owner, "__dict__") else ())]:
            self.seen[id(thing)] = thing

    def __enter__(self) -> Log:  # noqa: PYI034 - Self is not in Python 3.10
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
