"""A call that restores saved state: which parts of the run, what a config says of them, and what else is restored there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.project.syntax_names import last_word
from nanlint.analysis.source_text import SourceText, shortened
from nanlint.analysis.training_loop.runs import configured_rate as rates
from nanlint.analysis.training_loop.runs.run_parts import OPTIMIZER, OTHER, SCALER, SCHEDULER, is_known_scheduler
from nanlint.hazards.fixes.rate_again import rate_put_in_again
from nanlint.model import Label
from nanlint.source.syntax.below import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.analysis.project.definitions import Function
    from nanlint.analysis.project.whole import FileInProject
    from nanlint.analysis.training_loop.runs.configured_rate import Rate
    from nanlint.analysis.training_loop.runs.resuming import Part
    from nanlint.hazards.hazard import Hazard
    from nanlint.model import Edit

_QUOTED = 40
_SCALER = "GradScaler"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class Resume:
    """What one call restores."""

    def __init__(self, parts: Sequence[Part], hazard: Hazard, file: FileInProject) -> None:
        self.parts = parts
        self._hazard = hazard
        self._file = file

    @property
    def overridden(self) -> tuple[Part, Rate] | None:
        """The part with whose state an old learning rate comes back, and what a config says instead; None if there is none."""
        function = self._hazard.function
        own = [part for part in self.parts if not part.is_given]
        schedulers = [part for part in own if any(map(is_known_scheduler, part.makers))]
        optimizers = [part for part in own if part.role == OPTIMIZER]
        for part in (*schedulers, *(() if self._has_own_schedule(function) else optimizers)):
            rate = rates.configured_rate(part, self._hazard.graph) or self._rate_beside(part)
            if rate is None or rates.is_only_read_off(part) or rates.is_compared(function, rate):
                continue
            if not rates.is_set_again(function, part, self._hazard.graph):
                return part, rate
        return None

    def _rate_beside(self, scheduler: Part) -> Rate | None:
        """The rate of the one optimizer that is restored with a scheduler whose own making does not tell which it drives."""
        graph = self._hazard.graph
        beside = [part for part in graph.restoring.in_function(self._hazard.function) if part.role == OPTIMIZER]
        return rates.configured_rate(beside[0], graph) if scheduler not in beside and len(beside) == 1 else None

    def _has_own_schedule(self, function: Function) -> bool:
        """Whether a scheduler's state is loaded as well, of which another finding tells, or the rate is set step by step."""
        beside = [part for part in self._hazard.graph.restoring.in_function(function) if part.role == SCHEDULER]
        is_told = not all(map(rates.is_only_read_off, beside))
        return is_told or rates.has_own_schedule(function)

    @property
    def loses_scaler(self) -> bool:
        """Whether an optimizer and a model go on where they were, and a GradScaler of this file starts anew."""
        restoring, functions = self._hazard.graph.restoring, self._file.functions
        beside = restoring.in_function(self._hazard.function)
        function = self._hazard.function
        # What comes from a caller in this file is told of there.
        callers = {site.op.scope.module for site in function.calls if site.op.scope is not None}
        is_told = function.module in callers
        own = [part for part in self.parts if part.role == OPTIMIZER and not (part.is_given and is_told)]
        if (
            not own
            or not any(part.role == OTHER for part in beside)
            or not any(_makes_scaler(function) for function in functions)
        ):
            return False
        restored = [part for function in functions for part in restoring.in_function(function)]
        return not any(part.role == SCALER or _is_of_a_loop(part) for part in restored)

    def text_of(self, rate: Rate) -> str:
        """A rate as it is written, on one line, wherever that is."""
        scope = rate.maker.scope
        text = SourceText(scope.module.text).text_of(rate.node) if scope is not None else ast.unparse(rate.node)
        return shortened(" ".join(text.split()), _QUOTED)

    def label_at(self, rate: Rate, text: str) -> tuple[Label, ...]:
        """A label at a rate, if it is written in this file and apart from the call."""
        scope, place = rate.maker.scope, self._hazard.source.span_of(rate.node)
        is_here = scope is not None and scope.module is self._hazard.function.module
        return (Label(place, text),) if is_here and not place.overlaps(self._hazard.span) else ()

    def rate_put_in_again(self, part: Part) -> Edit | None:
        """The lines that make the configured rate count again; None where there are none."""
        return rate_put_in_again(part, self._hazard)


def _makes_scaler(function: Function) -> bool:
    """Whether a function, or a file outside of its functions, makes a GradScaler that outlives a step."""
    whole = function.node
    parts = whole.body if isinstance(whole, ast.Module) else [whole]
    outside = [part for part in parts if part is whole or not isinstance(part, _DEFINITIONS)]
    calls = (node for part in outside for node in walk(part) if isinstance(node, ast.Call))
    return any(last_word(call) == _SCALER for call in calls) and not _is_one_step(function)


def _is_one_step(function: Function) -> bool:
    """Whether it is a function with a backward outside of loops: what it makes for itself does not outlive the step."""
    if isinstance(function.node, ast.Module) or not any(kind == "backward" for kind, _, _ in function.sinks):
        return False
    loops = [node for node in walk(function.node) if isinstance(node, _LOOPS)]
    return not any(getattr(inner, "attr", "") == "backward" for loop in loops for inner in walk(loop))


def _is_of_a_loop(part: Part) -> bool:
    """Whether it is one of what a loop goes over: `for name, part in parts.items(): part.load_state_dict(...)`."""
    return part.role == OTHER and isinstance(part.node, ast.Name) and not part.makers and part.is_taken_out
