"""Find arguments with which the function runs and reaches the flagged line: a best-first search over specs.

Progress is the number of different lines of the user's file that a try has run before it failed. Real tensors of a few
elements are used: they fail faster than fake ones.
"""

from __future__ import annotations

import heapq
import itertools
import json
import sys
import time
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from nanlint.confirm.columns import sized
from nanlint.confirm.worker.answers import by_complaint, is_about_shapes
from nanlint.confirm.worker.complaints import complaint
from nanlint.confirm.worker.evidence import Uses
from nanlint.confirm.worker.guards import demands_on, inner_switches, switched
from nanlint.confirm.worker.guesses import alternatives, mentioned, required, starts
from nanlint.confirm.worker.moves import aligned, anyway, others, with_spec
from nanlint.confirm.worker.walls.audit_hook import Blocked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from nanlint.confirm.worker.bench import Bench
    from nanlint.confirm.worker.outcome import Outcome

Json = dict[str, Any]
_MOST_MOVES = 400
"""Moves from one case: an argument of a hundred parts has more than anybody waits for."""


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
    until: float = float("inf")
    """The time at which the clock kills it."""


def watched(bench: Bench, case: Json, target: Json) -> tuple[Outcome, Watch]:
    """Run a case and note the lines it ran."""
    with Watch(target) as watch:
        bench.ran = watch.lines
        outcome = bench.run(case)
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
        self.required = required(bench.subject, self.alternatives)
        self.demands = demands_on(target)
        self.columns = bench.subject.calling.columns
        self.outranked: Json | None = None
        """A case that runs, with an input of too few dimensions."""

    def run(self, budget: Budget) -> Fit:
        for case in starts(self.bench.subject, self.base, self.demands):
            heapq.heappush(self.queue, (-1000.0, next(self.order), sized(case, self.columns)))
        while self.queue and self.best.tries < budget.tries and time.monotonic() < budget.until:
            _, _, case = heapq.heappop(self.queue)
            key = _key(case)
            if key in self.seen or _key(case["ctor"]) in self.unbuilt:
                continue
            self.seen.add(key)
            self.best.tries += 1
            if self._try(case):
                break
        if self.outranked is not None and not self.best.reached:
            # No other rank runs; what is found with this one is no witness.
            self.best.case, self.best.reached, self.best.error = self.outranked, True, ""
        return self.best

    def _try(self, case: Json) -> bool:
        """Run one case and push what could come after it; True if it is what we look for."""
        outcome, watch = watched(self.bench, case, self.target)
        if _is_hopeless(outcome):
            self.best.case, self.best.error = None, outcome.error
            return True
        ended = not outcome.error or outcome.refused
        if ended and watch.reached and self._is_outranked(case):
            self.outranked = self.outranked or case
            self._push(self._repairs(case, ""), len(watch.lines))
            return False
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
        moves = self._guards(case) if ended else self._repairs(case, complaint(outcome.trace))
        self._push(moves, progress)
        return False

    def _push(self, moves: Iterator[tuple[float, Json]], progress: int) -> None:
        for cost, moved in itertools.islice(moves, _MOST_MOVES):
            fitting = sized(moved, self.columns)
            heapq.heappush(self.queue, (cost - 3.0 * progress, next(self.order), fitting))

    def _is_outranked(self, case: Json) -> bool:
        """Whether an input has fewer dimensions than a weight that it is multiplied with or added to."""
        if not self.bench.subject.is_module:
            return False
        tracer = self.bench.run(case, traced=True).tracer
        return tracer is not None and tracer.is_outranked

    def _repairs(self, case: Json, error: str) -> Iterator[tuple[float, Json]]:
        """Answers to the complaint, then what is worth a try: in the constructor only, if that is what failed."""
        for moved in by_complaint(case, error):
            yield 0.0, moved
        if self.bench.building:
            # Tensors of the constructor have shapes like those of the call.
            inner = {**case, "call": case["ctor"], "ctor": {}}
            shaped = chain(by_complaint(inner, error), aligned(inner))
            yield from ((0.5, {**case, "ctor": moved["call"]}) for moved in shaped)
        for place, moved in enumerate(mentioned(case, error, self.bench.subject, self.alternatives)):
            yield 1.0 + 0.1 * place, moved
        if not self.bench.building:
            for place, moved in enumerate(aligned(case)):
                yield (0.5 if is_about_shapes(error) else 3.0) + 0.05 * place, moved
        if self.bench.building:
            choices = list(others(case, "ctor", self.required))
        else:
            choices = [
                *anyway(case),
                *others(case, "call", self.required),
                *others(case, "ctor", self.required),
            ]
        for place, moved in enumerate(choices):
            yield 4.0 + 0.1 * place, moved

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
        yield from ((5.0, moved) for moved in (*anyway(case), *others(case, "call", self.required)))


def _is_hopeless(outcome: Outcome) -> bool:
    """Whether no other arguments would help: the sandbox said no, or there is not memory enough."""
    return isinstance(outcome.trace, (Blocked, MemoryError)) or "out of memory" in outcome.error


def _key(thing: Json) -> str:
    return json.dumps(thing, sort_keys=True, default=str)
