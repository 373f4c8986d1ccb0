"""From a bad loss or gradient back to the operation that began it.

NaN is followed to the operation that made it of something else; an infinity is followed only if it was computed. An
infinity that the code asked for, as a mask does, is left alone: what makes NaN of it is the origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.trace.events import Event, Operand


@dataclass(frozen=True, slots=True)
class Trail:
    """The events from the origin to the end, and the operand that was bad before any of them, if there is one."""

    events: tuple[Event, ...]
    outside: Operand | None = None

    @property
    def origin(self) -> Event:
        """The operation that began it."""
        return self.events[0]


def walk_back(last: Event, events: Sequence[Event]) -> Trail:
    """The trail that ends at `last`."""
    trail = [last]
    while True:
        cause = _cause(trail[-1], events)
        if cause is None:
            return Trail(tuple(reversed(trail)))
        if cause.maker is None:
            return Trail(tuple(reversed(trail)), cause)
        trail.append(events[cause.maker])


def _cause(event: Event, events: Sequence[Event]) -> Operand | None:
    """The operand that is to blame for what is wrong with the result; None if none is."""
    flawed = [operand for operand in event.operands if operand.flaws]
    broken = [operand for operand in flawed if operand.flaws.nan] if event.flaws.nan else []
    computed = [operand for operand in flawed if not _is_asked_for(operand, events)]
    # Where everything was asked for, the way leads to the place that asked.
    candidates = broken or computed or (flawed if event.is_literal else [])
    return min(candidates, key=lambda operand: -1 if operand.maker is None else operand.maker, default=None)


def _is_asked_for(operand: Operand, events: Sequence[Event]) -> bool:
    if operand.flaws.nan:
        return False
    if operand.maker is None:
        return not operand.flaws.above
    return events[operand.maker].is_literal


def earliest(trails: Sequence[Trail]) -> Trail | None:
    """The trail whose origin was executed first."""
    return min(trails, key=lambda trail: trail.origin.index, default=None)
