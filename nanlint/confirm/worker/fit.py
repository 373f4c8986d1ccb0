"""Find arguments with which the function runs and reaches the flagged line: a best-first search over specs.

Progress is the number of different lines of the user's file that a try has run before it failed. Real tensors of a few
elements are used: they fail faster than fake ones.
"""

from __future__ import annotations

import heapq
import itertools
import json
import re
import sys
import time
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nanlint.confirm.composites import replaced, within
from nanlint.confirm.inputs import Parameter, Spec, attribute, proposals, tensor, value
from nanlint.confirm.uses import Uses
from nanlint.confirm.worker.moves import anyway, by_complaint, kinds, others, with_spec
from nanlint.confirm.worker.sandbox import Blocked
from nanlint.confirm.worker.subject import Signature

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from nanlint.confirm.worker.bench import Bench
    from nanlint.confirm.worker.outcome import Outcome
    from nanlint.confirm.worker.subject import Subject

Json = dict[str, Any]


class Watch:
    """Which lines of the user's file ran, and whether the flagged ones did."""

    def __init__(self, target: Json) -> None:
        self.path, self.first, self.last = target["path"], target["first"], target["last"]
        self.anywhere = bool(target.get("anywhere"))
        self.lines: set[int] = set()

    @property
    def reached(self) -> bool:
        """Whether the flagged statement was run."""
        return self.anywhere or any(self.first <= line <= self.last for line in self.lines)

    def _enter(self, frame: FrameType, _: str, __: object) -> Any:
        return self._line if frame.f_code.co_filename == self.path else None

    def _line(self, frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            self.lines.add(frame.f_lineno)
        return self._line

    def __enter__(self) -> Watch:  # noqa: PYI034 - Self is not in Python 3.10
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)


@dataclass
class Fit:
    """The outcome of the search: the best case and how far it came."""

    case: Json | None = None
    reached: bool = False
    error: str = ""
    tries: int = 0
    others: list[Json] = field(default_factory=list)
    """Further cases that reach the line, by other ways."""


@dataclass
class Budget:
    """What a search may cost."""

    tries: int = 300
    seconds: float = 5.0


def watched(bench: Bench, case: Json, target: Json) -> tuple[Outcome, Watch]:
    """Run a case and note the lines it ran."""
    before = bench.kept.get("key")
    with Watch(target) as watch:
        outcome = bench.run(case)
    if bench.kept.get("key") != before:
        bench.kept["lines"] = set(watch.lines)
    # What the constructor ran counts for every call of the object it made.
    watch.lines |= bench.kept.get("lines", set())
    return outcome, watch


def fit(bench: Bench, target: Json, base: Json, budget: Budget) -> Fit:
    """The first case that runs to its end through the flagged line; else the best there is."""
    search = _Search(bench, target, base)
    return search.run(budget)


class _Search:
    def __init__(self, bench: Bench, target: Json, base: Json) -> None:
        self.bench, self.target, self.base = bench, target, base
        self.order = itertools.count()
        self.queue: list[tuple[float, int, Json]] = []
        self.seen: set[str] = set()
        self.unbuilt: set[str] = set()
        """Constructor arguments that have failed: what they would be called with does not matter."""
        self.best = Fit()
        self.best_progress = -1
        self.alternatives = alternatives(bench.subject)

    def run(self, budget: Budget) -> Fit:
        for case in starts(self.bench.subject, self.base):
            self._push(case, -1000.0)
        # Processor time: a busy machine must not change what is found.
        end = time.process_time() + budget.seconds
        while self.queue and self.best.tries < budget.tries and time.process_time() < end:
            _, _, case = heapq.heappop(self.queue)
            if _key(case["ctor"]) in self.unbuilt:
                continue
            self.best.tries += 1
            if self._try(case):
                break
        return self.best

    def _try(self, case: Json) -> bool:
        """Run one case and push what could come after it; True if it is what we look for."""
        outcome, watch = watched(self.bench, case, self.target)
        if _is_hopeless(outcome):
            self.best.case, self.best.error = None, outcome.error
            return True
        ended = not outcome.error or outcome.refused
        if ended and watch.reached:
            self.best.case, self.best.reached, self.best.error = case, True, ""
            return True
        if self.bench.building:
            self.unbuilt.add(_key(case["ctor"]))
        progress = len(watch.lines) + (1 if ended else 0) + (5 if watch.reached else 0)
        if progress > self.best_progress:
            self.best_progress = progress
            self.best.error = outcome.error
            if ended or self.best.case is None:
                self.best.case = case if ended else None
                self.best.reached = False
        moves = self._guards(case) if ended else self._repairs(case, complaint(outcome))
        for cost, moved in moves:
            self._push(moved, cost - 3.0 * progress)
        return False

    def _repairs(self, case: Json, error: str) -> Iterator[tuple[float, Json]]:
        """Answers to the complaint, then what is worth a try: in the constructor only, if that is what failed."""
        for moved in by_complaint(case, error):
            yield 0.0, moved
        if self.bench.building:
            choices = list(others(case, "ctor", self.alternatives))
        else:
            choices = [
                *anyway(case),
                *others(case, "call", self.alternatives),
                *others(case, "ctor", self.alternatives),
            ]
        for place, moved in enumerate(choices):
            yield 4.0 + 0.1 * place, moved
        for place, moved in enumerate(mentioned(case, error, self.alternatives)):
            yield 1.0 + 0.1 * place, moved

    def _guards(self, case: Json) -> Iterator[tuple[float, Json]]:
        """The function ran past the flagged line: turn the switches that its conditions read."""
        for part, signature in (("call", self.bench.subject.calling), ("ctor", self.bench.subject.building)):
            for parameter in signature.parameters:
                tested = signature.uses.get(parameter.name, Uses()).tested
                for spec in switched(parameter, signature, case[part].get(parameter.name)):
                    yield (0.0 if tested else 2.0), with_spec(case, part, parameter.name, spec)
        if self.bench.subject.is_module:
            yield 1.0, {**case, "train": not case.get("train", True)}
        yield from ((1.5, moved) for moved in inner_switches(case, self.bench.subject))
        yield from ((5.0, moved) for moved in (*anyway(case), *others(case, "call", self.alternatives)))

    def _push(self, case: Json, cost: float) -> None:
        key = _key(case)
        if key not in self.seen:
            self.seen.add(key)
            heapq.heappush(self.queue, (cost, next(self.order), case))


def complaint(outcome: Outcome) -> str:
    """The error message and the lines of code that raised it, innermost first: asserts state what they want."""
    frames = traceback.extract_tb(outcome.trace.__traceback__) if outcome.trace is not None else []
    lines = [frame.line or "" for frame in frames if "torch" not in frame.filename]
    return "\n".join([outcome.error, *reversed(lines[-2:])])


def _is_hopeless(outcome: Outcome) -> bool:
    """Whether no other arguments would help: the sandbox said no, or there is not memory enough."""
    if isinstance(outcome.trace, (Blocked, MemoryError)):
        return True
    return "allocate memory" in outcome.error or "out of memory" in outcome.error


def _key(thing: Json) -> str:
    return json.dumps(thing, sort_keys=True, default=str)


def switched(parameter: Parameter, signature: Signature, now: Spec | None) -> Iterator[Spec]:
    """Other values of an optional parameter: the other side of a switch, a tensor instead of None, another word."""
    uses = signature.uses.get(parameter.name, Uses())
    current = now["value"] if now is not None and now["kind"] == "value" else parameter.default
    if isinstance(current, bool):
        yield value(not current)
    elif current is None:
        yield from proposals(parameter, uses, rank=2, building=False)
        yield tensor(parameter.name, 2)
    elif isinstance(current, str):
        yield from (value(word) for word in uses.words if word != current)
    elif isinstance(current, int):
        yield from (value(number) for number in (0, 1, 2, current + 1))


def mentioned(case: Json, error: str, alternatives: dict[str, dict[str, list[Spec]]]) -> Iterator[Json]:
    """Other specs for what the line that failed speaks of: arguments, attributes, and what is inside them."""
    words = set(re.findall(r"\w+", error))
    for part in ("call", "ctor"):
        for name, spec in case[part].items():
            if name.rpartition(".")[2] in words:
                for other in alternatives[part].get(name, []):
                    yield with_spec(case, part, name, other)
            for path, inner in within(spec):
                label = path[-1].strip("[]") if path else ""
                if label in words:
                    for other in [*attribute(label, Uses()), *kinds(label, 2)]:
                        if other != inner:
                            yield with_spec(case, part, name, replaced(spec, path, other))


def inner_switches(case: Json, subject: Subject) -> Iterator[Json]:
    """Other values of the settings inside arguments: the words that the code compares them with, the other switch."""
    for part, signature in (("call", subject.calling), ("ctor", subject.building)):
        for name, spec in case[part].items():
            for path, inner in within(spec):
                uses = uses_at(signature.uses.get(name, Uses()), path)
                if path and inner["kind"] == "value":
                    for other in switched(Parameter(path[-1]), Signature(uses={path[-1]: uses}), inner):
                        yield with_spec(case, part, name, replaced(spec, path, other))
                for key, wanted in uses.items.items():
                    if inner["kind"] == "dict" and isinstance(key, str) and key not in inner["items"]:
                        more = {**inner, "items": {**inner["items"], key: attribute(key, wanted)[0]}}
                        yield with_spec(case, part, name, replaced(spec, path, more))


def uses_at(uses: Uses, path: tuple[str, ...]) -> Uses:
    """The evidence on what the labels of a path lead to."""
    for label in path:
        if label == "()":
            uses = uses.result or Uses()
        else:
            key = label[1:-1] if label.startswith("[") else label
            uses = (
                uses.parts.get(key)
                or uses.items.get(key)
                or (uses.items.get(int(key)) if key.isdigit() else None)
                or Uses()
            )
    return uses


def starts(subject: Subject, base: Json) -> Iterator[Json]:
    """First guesses: every rank in common use, with what the user supplied on top."""
    for rank in (2, 3, 4, 1):
        call = specs(subject.calling, rank, building=False)
        ctor = specs(subject.building, rank, building=True) if subject.owner is not None else {}
        yield {**base, "ctor": {**ctor, **base.get("ctor", {})}, "call": {**call, **base.get("call", {})}}


def specs(signature: Signature, rank: int, *, building: bool) -> dict[str, Spec]:
    """The likeliest spec of each parameter without a default."""
    return {parameter.name: _ways(parameter, signature, rank, building=building)[0] for parameter in signature.required}


def _ways(parameter: Parameter, signature: Signature, rank: int, *, building: bool) -> list[Spec]:
    """Specs of one parameter, or of one attribute of a shell."""
    uses = signature.uses.get(parameter.name, Uses())
    if "." in parameter.name:
        return [*signature.stated.get(parameter.name, []), *attribute(parameter.name, uses, rank)]
    return proposals(parameter, uses, rank=rank, building=building)


def alternatives(subject: Subject) -> dict[str, dict[str, list[Spec]]]:
    """Further specs of each parameter without a default."""
    return {
        part: {
            parameter.name: [
                *_ways(parameter, signature, 2, building=part == "ctor"),
                *([value(number) for number in (16, 8, 4, 3, 2, 1)] if part == "ctor" else []),
                *kinds(parameter.name, 2),
            ]
            for parameter in signature.required
        }
        for part, signature in (("ctor", subject.building), ("call", subject.calling))
    }
