"""Questions about the training loops of the file: where they are, and what runs around them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.analysis.trained_by_name import is_building, is_loss
from nanlint.facts import resuming
from nanlint.facts.asking_again import opposite_at
from nanlint.facts.code_questions import CodeQuestions
from nanlint.facts.context import small_statements
from nanlint.facts.dtypes import autocast_dtype
from nanlint.facts.finite_checks import Check, check_of, subject_of
from nanlint.facts.loop_calls import is_logging
from nanlint.facts.naming import words_of
from nanlint.facts.training_loop import TrainingLoop, is_distributed, training_loops
from nanlint.facts.values import UNKNOWN
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.facts.context import Compared
    from nanlint.facts.loop_events import Event
    from nanlint.facts.loop_paths import Decision
    from nanlint.facts.values import Call

_ASIDE = frozenset({"val", "valid", "validate", "validation", "eval", "evaluate", "evaluation", "test"})
_CHECKING = frozenset({"finite", "isfinite", "nan", "isnan", "inf", "isinf", "overflow"})


class LoopQuestions(CodeQuestions):
    """One file, and the training that it does."""

    _loops: list[TrainingLoop] | None = None

    def parse_exactly(self, chunks: Iterable[str]) -> None:
        """As in `Reach`; loops that were read from sketches are forgotten, too."""
        super().parse_exactly(chunks)
        self._loops = None

    def training_loops(self) -> list[TrainingLoop]:
        """Every loop or step method of the file that makes a backward and a step."""
        if self._loops is None:
            self._loops = training_loops(self)
        return self._loops

    def training_subject(self, node: cst.BaseExpression) -> str:
        """What `node` is to training, by its name: "loss", "gradients", "norm", "parameters", or "other"."""
        return subject_of(node, self.here) if self.here is not None else "other"

    def check_of(self, test: cst.BaseExpression) -> Check | None:
        """The question about finiteness that a condition asks; None if it asks something else."""
        return check_of(test, self.here) if self.here is not None else None

    def is_named_check(self, call: Call) -> bool:
        """Whether a helper says by its name that it looks for what is not finite: `has_inf(loss)`."""
        is_helper = not call.function.startswith(("torch.", "math.", "numpy."))
        return is_helper and not _CHECKING.isdisjoint(call.function.lower().replace(".", "_").split("_"))

    def is_nan(self, node: cst.BaseExpression) -> bool:
        """Whether `node` is NaN whatever happens, and not only by a default."""
        value = self.here.values.get(node, UNKNOWN) if self.here is not None else UNKNOWN
        return value.number is not None and math.isnan(value.number) and not value.assumed

    def asks_for_some(self, call: Call) -> bool:
        """Whether one finite element of a gradient answers a condition: `torch.isfinite(p.grad).any()`, `p.grad.isnan().all()`."""
        flow = self.here
        around = next((each for each in self.parents_of(call.node) if flow is not None and each in flow.calls), None)
        asked = flow.calls[around].function if flow is not None and around is not None else ""
        if asked != ("torch.any" if call.function.endswith("isfinite") else "torch.all") or call.subject is None:
            return False
        return self.training_subject(call.subject) == "gradients" and self.condition_at(call.node) is not None

    def is_aside(self, node: cst.BaseExpression) -> bool:
        """Whether `node`, or the function at hand, is about a validation or a test by its name."""
        function = self.function_name().lower().split("_")
        return not _ASIDE.isdisjoint((*words_of(node), *function))

    def only_informs(self, test: cst.BaseExpression) -> bool:
        """Whether all that a condition decides is what somebody reads: `if isnan(x): print(x)`, `total += x.item()`."""
        condition = self.condition_at(test)
        decides = condition.decides if condition is not None else None
        if not isinstance(decides, cst.If) or decides.orelse is not None:
            return False
        told = small_statements(decides.body)
        return all(is_logging(getattr(each, "value", each)) or _adds_a_number(each) for each in told)

    def number_instead(self, test: cst.BaseExpression, thing: cst.BaseExpression) -> cst.BaseExpression | None:
        """The number that `thing` is set to where a condition is true: 0.0 of `if isnan(loss): loss = 0.0`; None for none."""
        condition = self.condition_at(test)
        decides = condition.decides if condition is not None else None
        for each in small_statements(decides.body) if isinstance(decides, cst.If) else ():
            if isinstance(each, cst.Assign) and len(each.targets) == 1 and self.here is not None:
                number = self.here.values.get(each.value, UNKNOWN).number
                if number is not None and math.isfinite(number) and self.is_same_thing(each.targets[0].target, thing):
                    return each.value
        return None

    def comparisons_about(self, node: cst.BaseExpression) -> Iterator[tuple[cst.Comparison, Compared]]:
        """Every comparison of the thing that `node` is about, and of its number with inf: `loss_value == float("inf")`."""
        flow, subject = self.here, self.training_subject(node)
        for test in flow.comparisons if flow is not None else ():
            sides = self.comparison_of(test)
            if sides is None or flow is None:
                continue
            is_infinite = abs(flow.values.get(sides.right, UNKNOWN).number or 0.0) == float("inf")
            is_of_one_kind = is_infinite and subject != "other" and self.training_subject(sides.left) == subject
            if is_of_one_kind or self.is_same_thing(sides.left, node):
                yield test, sides

    def check_around(self, node: cst.CSTNode) -> Check | None:
        """The innermost `if` around `node` that asks whether something is finite, as that question; None for none."""
        for around in self.parents_of(node):
            found = self.check_of(around.test) if isinstance(around, cst.If) else None
            if found is not None:
                return found
        return None

    def is_asserted_around(self, node: cst.CSTNode) -> bool:
        """Whether an `if` around `node` asserts something, and so knows why it was taken."""
        for around in self.parents_of(node):
            if isinstance(around, cst.FunctionDef):
                break
            if isinstance(around, cst.If) and any(isinstance(inner, cst.Assert) for inner in walk(around.body)):
                return True
        return False

    def is_option(self, node: cst.CSTNode, verbs: frozenset[str], thing: str) -> bool:
        """Whether an `if` around `node` asks for a setting that says what is done there: `if self.replace_nan:`."""
        asked = [around.test for around in self.parents_of(node) if isinstance(around, cst.If)]
        words = [set(words_of(test)) for test in asked if isinstance(test, (cst.Name, cst.Attribute))]
        return any(thing in each and not verbs.isdisjoint(each) for each in words)

    def is_building(self) -> bool:
        """Whether the function at hand builds or initialises something, by its name."""
        return is_building(self.function_name())

    def is_loss(self) -> bool:
        """Whether the function at hand or its class is called a loss."""
        return is_loss(self.outline.chunks[self._current])

    def speaks_of_loss(self) -> bool:
        """Whether the code at hand names a loss."""
        return any("loss" in word for word in self.outline.chunks[self._current].words)

    def is_logged(self, node: cst.CSTNode) -> bool:
        """Whether `node` is written out for somebody to read, there where it stands: `logger.info(a / b)`, `f"{a / b}"`."""
        return any(
            type(around) is cst.FormattedString or (type(around) is cst.Call and is_logging(around))
            for around in self.parents_of(node)
        )

    def assigned_to(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The one name, attribute or element that `node` is assigned to; None if it is assigned to none."""
        around = next(self.parents_of(node), None)
        if isinstance(around, cst.Assign) and len(around.targets) == 1:
            return around.targets[0].target
        return around.target if isinstance(around, cst.AnnAssign) else None

    def is_returned(self, node: cst.BaseExpression) -> bool:
        """Whether `node` is what a `return` gives back."""
        return isinstance(next(self.parents_of(node), None), cst.Return)

    def is_index_of_target(self, node: cst.BaseExpression) -> bool:
        """Whether `node` picks the elements that are set: `torch.isnan(x)` of `x[torch.isnan(x)] = 0`."""
        inside = list(self.parents_of(node))
        subscripts = [place for place, around in enumerate(inside) if isinstance(around, cst.Subscript)]
        return bool(subscripts) and isinstance(inside[subscripts[0] + 1], cst.AssignTarget)

    def autocast_dtype(self, event: Event) -> str:
        """The half dtype that an autocast region around an event computes in; empty outside of one."""
        return autocast_dtype(event.regions, event.flow.values, "")

    def is_autocast(self, event: Event) -> bool:
        """Whether an event runs inside an autocast region that is not switched off."""
        return bool(self.autocast_dtype(event))

    def opposite_at(self, decision: Decision, event: Event) -> str | None:
        """The opposite of a condition, to be asked in front of an event; None where it might be answered otherwise there."""
        return opposite_at(decision.test, event.node, event.flow) if decision.flow is event.flow else None

    def model_of(self, event: Event) -> str:
        """The model whose parameters the optimizer of a step was made with, where that is written in its function; "" elsewhere."""
        function = event.node.func if isinstance(event.node, cst.Call) else None
        optimizer = function.value if isinstance(function, cst.Attribute) else None
        return resuming.model_of(optimizer, event.flow)

    # -- resuming and saving ----------------------------------------------------------------------------------

    def training_role(self, node: cst.BaseExpression) -> str:
        """What an object is to a run: "scaler", "scheduler", "optimizer", or "other"."""
        return resuming.role_of(node, self.here) if self.here is not None else "other"

    def is_of_torch(self, schedule: Event) -> bool:
        """Whether the step of a scheduler is that of torch's or transformers' own, as far as the file tells."""
        function = schedule.node.func if isinstance(schedule.node, cst.Call) else None
        return isinstance(function, cst.Attribute) and resuming.is_known_scheduler(function.value, schedule.flow)

    def is_told_where(self, event: Event, node: cst.BaseExpression | None) -> bool:
        """Whether an argument of an event comes from a parameter of the function around it: the caller tells where."""
        return resuming.reads_parameter(node, event.flow)

    def spelled_out(self, event: Event, node: cst.BaseExpression | None) -> str:
        """The text of an argument of an event, seen through a name; "" for what comes from elsewhere."""
        return resuming.spelled_out(node, event.flow)

    def saved_models(self, event: Event) -> list[str]:
        """The models whose states a save writes, as far as that is written there, in the words of its function."""
        return resuming.saved_models(event.call.subject if event.call is not None else None, event.flow)

    # -- several processes ------------------------------------------------------------------------------------

    def is_distributed(self) -> bool:
        """Whether the file trains with several processes, by the words it uses."""
        return is_distributed(self.outline)

    def forget(self) -> None:
        """Let go of every tree."""
        super().forget()
        self._loops = None


def _adds_a_number(statement: cst.CSTNode) -> bool:
    """`total += loss.item()`, which is for a log: no gradient comes back from there."""
    inner = walk(statement.value) if isinstance(statement, cst.AugAssign) else ()
    return any(isinstance(each, cst.Attribute) and each.attr.value == "item" for each in inner)
