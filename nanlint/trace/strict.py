"""Every non-finite value there was, harmless ones too: what `--strict` prints at the end of a run."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanlint.trace.diagnose import what
from nanlint.trace.tracing import TracedStep

if TYPE_CHECKING:
    from nanlint.trace.events import Event
    from nanlint.trace.measure import Flaws
    from nanlint.trace.places import Place


@dataclass(slots=True)
class Sighting:
    """One operation at one line that made non-finite values of finite ones, and how often."""

    operation: str
    place: Place | None
    is_backward: bool
    flaws: Flaws
    is_literal: bool
    times: int = 0

    @property
    def line(self) -> str:
        """The sighting as one line."""
        where = self.place.shown if self.place else "an unknown line"
        kind = "asked for" if self.is_literal else "computed"
        name = f"{self.operation.strip('_')}{' (backward)' if self.is_backward else ''}"
        return f"{where}: {name} made {what(self.flaws)} ({kind}, {self.times} times)"


class Sightings:
    """Collects over all steps of a run."""

    def __init__(self) -> None:
        self._seen: dict[tuple[object, ...], Sighting] = {}

    def look(self) -> TracedStep:
        """A tracer that reports here before it forgets."""
        return _Collecting(self)

    def add(self, events: list[Event]) -> None:
        """Count the events that began something."""
        for event in events:
            if event.is_literal or event.makes_it:
                self._count(event)

    def _count(self, event: Event) -> None:
        if event.is_literal and any(operand.flaws for operand in event.operands):
            return
        place = event.source.places[0] if event.source.places else None
        name = event.source.operation if event.is_backward else event.operation
        sighting = Sighting(name, place, event.is_backward, event.flaws, event.is_literal)
        key = (name, place, event.is_backward, event.is_literal)
        self._seen.setdefault(key, sighting).times += 1

    @property
    def lines(self) -> list[str]:
        """One line each, in the order of first sight."""
        return [sighting.line for sighting in self._seen.values()]


class _Collecting(TracedStep):
    def __init__(self, sightings: Sightings) -> None:
        super().__init__()
        self._sightings = sightings

    def forget(self) -> None:
        self._sightings.add(self.events)
        super().forget()

    def stop(self) -> None:
        self._sightings.add(self.events)
        super().stop()
