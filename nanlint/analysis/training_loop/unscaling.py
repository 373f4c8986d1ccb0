"""What is unscaled twice before a GradScaler is updated: in one round, or by way of a round that is cut short."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.training_loop.events import EventKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.analysis.training_loop.event_tree_parts import Leave
    from nanlint.analysis.training_loop.events import Event
    from nanlint.analysis.training_loop.paths import Path
    from nanlint.model import Edit


class Again(NamedTuple):
    """An `unscale_` that comes a second time, and whether it does so on every way that leads to it."""

    event: Event
    is_always: bool


class CutShort(NamedTuple):
    """An `unscale_` behind which rounds are left by `continue` before the scaler is updated."""

    event: Event
    leaves: tuple[Leave, ...]

    def updated(self) -> list[Edit]:
        """An update above each `continue`; nothing if there is one that cannot have it."""
        text = f"{self.event.receiver}.update()"
        edits = [leave.line_before(text) for leave in self.leaves if leave.code is self.event.code]
        found = [edit for edit in edits if edit is not None]
        return found if len(found) == len(self.leaves) else []


def unscaled_again(paths: Sequence[Path]) -> list[Again]:
    """Every `unscale_` of what is unscaled already."""
    counts: dict[Event, int] = {}
    for path in paths:
        for event in _unscaled(path)[0]:
            counts[event] = counts.get(event, 0) + 1
    return [Again(event, count == sum(event in path.steps for path in paths)) for event, count in counts.items()]


def cut_short(paths: Sequence[Path]) -> list[CutShort]:
    """The first `unscale_` of every round that ends in a `continue` without an update."""
    found: dict[Event, dict[object, Leave]] = {}
    for path in paths:
        pending = _unscaled(path)[1]
        if path.end == "continue" and pending and path.leave is not None:
            found.setdefault(pending[0], {})[path.leave.node] = path.leave
    return [CutShort(event, tuple(leaves.values())) for event, leaves in found.items()]


def stepped_again(paths: Sequence[Path]) -> list[Event]:
    """Steps of an optimizer itself that follow every step of a scaler with it, with no backward in between."""
    behind: dict[Event, set[Event]] = {}
    for path in paths:
        steps = path.events(EventKind.STEP, EventKind.BACKWARD)
        for place, first in enumerate(steps):
            if first.kind is EventKind.STEP and first.is_scaled:
                second = _second_step(first, steps[place + 1 :])
                behind[first] = behind.get(first, second) & second
    return [event for second in behind.values() for event in second]


def is_instead(step: Event, paths: Sequence[Path]) -> bool:
    """Whether the scaler makes the step where the last condition before this one is answered otherwise: it is off here."""
    before = [path.decisions(0, path.steps.index(step)) for path in paths if step in path.steps]
    asked = {decisions[-1].test: decisions[-1].truth for decisions in before if decisions}
    return any(
        asked.get(decision.test) is (not decision.truth)
        and any(event.is_scaled for event in path.events(EventKind.STEP))
        for path in paths
        for decision in path.decisions(0, len(path.steps))
    )


def _second_step(first: Event, steps: Sequence[Event]) -> set[Event]:
    until = takewhile(lambda event: event.kind is EventKind.STEP, steps)
    return {event for event in until if not event.is_scaled and event.receiver == first.first_argument()}


def _unscaled(path: Path) -> tuple[list[Event], list[Event]]:
    """Those that unscale what is unscaled already, and those that no update has followed by the end."""
    again: list[Event] = []
    unscaled: dict[str, Event] = {}
    for event in path.events(EventKind.UNSCALE, EventKind.UPDATE, EventKind.OPAQUE):
        if event.kind is not EventKind.UNSCALE:
            unscaled.clear()
        elif event.target in unscaled and not any("stage" in text.lower() for text in event.conditions):
            again.append(event)
        elif not event.is_framework:
            unscaled[event.target] = event
    return again, list(unscaled.values())
