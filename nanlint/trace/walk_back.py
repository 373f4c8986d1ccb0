"""From a bad loss or gradient back to the operation that began it.

NaN is followed to the operation that made it of something else; an infinity is followed only if it was computed. An
infinity that the code asked for, as a mask does, is left alone: what makes NaN of it is the origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    """The trail that ends at `last`; of several beginnings the one that was executed first."""
    next_of: dict[int, Event] = {}
    waiting: list[Event] = [last]
    ends: list[Trail] = []
    while waiting:
        event = waiting.pop()
        causes = _causes(event, events)
        outside = next((cause for cause in causes if cause.maker is None), None)
        if outside is not None or not causes:
            ends.append(Trail((event,), outside))
        for cause in causes:
            if cause.maker is not None and cause.maker not in next_of:
                next_of[cause.maker] = event
                waiting.append(events[cause.maker])
    first = min(ends, key=lambda trail: trail.origin.index)
    return Trail(tuple(_way(first.origin, last, next_of)), first.outside)


def _way(event: Event, last: Event, next_of: dict[int, Event]) -> Iterator[Event]:
    while event is not last:
        yield event
        event = next_of[event.index]
    yield last


def _causes(event: Event, events: Sequence[Event]) -> list[Operand]:
    """The operands that are to blame for what is wrong with the result; none if it made it itself."""
    flawed = [operand for operand in event.operands if operand.flaws and operand.maker != event.index]
    broken = [operand for operand in flawed if operand.flaws.nan] if event.flaws.nan else []
    computed = [operand for operand in flawed if not _is_asked_for(operand, events)]
    # Where everything was asked for, the way leads to the place that asked.
    return broken or computed or (flawed if event.is_literal else [])


def _is_asked_for(operand: Operand, events: Sequence[Event]) -> bool:
    if operand.flaws.nan:
        return False
    if operand.maker is None:
        return not operand.flaws.above
    return events[operand.maker].is_literal


def earliest(trails: Sequence[Trail]) -> Trail | None:
    """The trail whose origin was executed first."""
    return min(trails, key=lambda trail: trail.origin.index, default=None)
