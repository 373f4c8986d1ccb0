"""Look for a case that breaks the subject where the finding says: evaluate, and on damage trace back to its origin."""

from __future__ import annotations

import re
import time
import traceback
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from nanlint.confirm.columns import suits
from nanlint.confirm.worker.blame import is_about
from nanlint.confirm.worker.origin import damage, origins
from nanlint.confirm.worker.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.confirm.worker.bench import Bench
    from nanlint.confirm.worker.origin import Event, Tracer

Json = dict[str, Any]


@dataclass(frozen=True)
class Hit:
    """A failure that the finding tells of: two of them are the same if all fields agree."""

    operation: str
    line: int
    result: str
    direction: str
    of: str = ""
    """The operation of the forward whose gradient it is; in the forward, the one that chose among NaN."""

    def to_json(self) -> Json:
        """For the parent."""
        return asdict(self)


@dataclass
class Found:
    """Where a search ended."""

    case: Json | None = None
    hit: Hit | None = None
    other: str = ""
    """A failure of the function that is not the finding's."""
    is_cut: bool = False
    """Whether the clock ended it."""


def judge(bench: Bench, case: Json, target: Json) -> tuple[Hit | None, Outcome]:
    """Run a case, and if it breaks run it again under the tracer to see where; what does not suit the code breaks nothing."""
    if not suits(case, bench.subject.calling.columns):
        return None, Outcome()
    outcome = bench.run(case)
    chooses = bool(_CHOICES.search(bench.subject.calling.source))
    if not outcome.is_bad and not chooses:
        return None, outcome
    traced = bench.run(case, traced=True)
    hit = hit_of(traced, target)
    return hit or (_choice(traced, target) if chooses else None), traced


_CHOICES = re.compile(r"\b(argmax|argmin|topk|argsort|sort)\(")
_CHOOSING = frozenset({"argmax", "argmin", "topk", "argsort", "sort"})
"""Operations that hide a NaN: what they choose among NaN is nobody's choice."""


def _choice(outcome: Outcome, target: Json) -> Hit | None:
    """The finding's NaN that a choice was made of."""
    tracer = outcome.tracer
    if tracer is None or tracer.is_outranked:
        return None
    for event in tracer.events:
        for parent, nan, _ in event.parents if event.operation in _CHOOSING else ():
            hit = _hit(tracer, tracer.events[parent], target) if nan else None
            if hit is not None:
                return replace(hit, of=event.operation)
    return None


def hit_of(outcome: Outcome, target: Json) -> Hit | None:
    """The finding's failure in a traced outcome, if it is there."""
    tracer = outcome.tracer
    if tracer is None or tracer.is_outranked:
        return None
    if outcome.refused:
        return _refusal(outcome, target)
    if not outcome.damaged and outcome.forward:
        bad = [event for event in tracer.events if event.nan and not event.benign]
        return _hit(tracer, bad[-1], target) if bad else None
    for damaged in outcome.damaged:
        event = damage(tracer, damaged)
        hit = _hit(tracer, event, target) if event is not None else None
        if hit is not None:
            return hit
    return None


def _hit(tracer: Tracer, damaged: Event, target: Json) -> Hit | None:
    hazard = target.get("hazard") or {}
    of_inf = hazard.get("zone", "") in {"inf", "-inf"}
    if of_inf and not damaged.nan:
        # The finding is about an infinity that becomes NaN, not about how an infinity comes to be.
        return None
    for last in origins(tracer, damaged, births=of_inf):
        if is_about(tracer, last, target, target.get("hazard")):
            line = next((line for line, _ in last.place), 0)
            result, direction = "nan" if damaged.nan else "inf", "backward" if damaged.backward else "forward"
            of = tracer.events[last.forward].operation if last.forward is not None else ""
            return Hit(last.operation, line, result, direction, of)
    return None


def _refusal(outcome: Outcome, target: Json) -> Hit | None:
    """Torch raised: at the flagged line, or because of a NaN that was made there."""
    tracer = outcome.tracer
    assert tracer is not None  # noqa: S101 - the caller has looked
    lines = [
        frame.lineno for frame in traceback.extract_tb(outcome.trace.__traceback__) if frame.filename == target["path"]
    ]
    if any(target["first"] <= (line or 0) <= target["last"] for line in lines) or (target.get("anywhere") and lines):
        return Hit("raises", lines[-1] or 0, outcome.error.splitlines()[0][:120], "forward")
    for event in reversed(tracer.events):
        if (event.nan or event.inf) and not event.benign:
            return _hit(tracer, event, target)
    return None


def search(bench: Bench, cases: Iterable[Json], target: Json, *, evaluations: int, until: float) -> Found:
    """The first case that breaks as the finding says, within so many evaluations; at `until` the clock kills it."""
    limit = bench.evaluations + evaluations
    found = Found()
    for case in cases:
        found.is_cut = time.monotonic() > until
        if found.is_cut or bench.evaluations >= limit:
            break
        hit, outcome = judge(bench, case, target)
        if hit is not None:
            found.case, found.hit = case, hit
            break
        if outcome.is_bad and outcome.tracer is not None and not found.other:
            found.other = _told(outcome)
    return found


def _told(outcome: Outcome) -> str:
    """Another failure, in a few words."""
    tracer = outcome.tracer
    for damaged in outcome.damaged:
        event = damage(tracer, damaged) if tracer is not None else None
        for last in origins(tracer, event) if tracer is not None and event is not None else ():
            line = next((line for line, _ in last.place), 0)
            if line:
                return f"line {line} makes {'NaN' if last.nan else 'Inf'} ({last.operation})"
    return ""
