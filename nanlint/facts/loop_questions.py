"""Questions about what training code asks, replaces and resumes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.analysis.trained_by_name import is_building, is_loss
from nanlint.facts.code_questions import CodeQuestions
from nanlint.facts.context import small_statements
from nanlint.facts.finite_checks import Check, check_of, subject_of
from nanlint.facts.names import dotted_text
from nanlint.facts.naming import words_of
from nanlint.facts.values import UNKNOWN
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.context import Compared
    from nanlint.facts.values import Call

_LOGGERS = frozenset(
    {"logger", "log", "logging", "wandb", "writer", "pbar", "tqdm", "warnings", "console", "tb", "metrics"}
)
_ASIDE = frozenset({"val", "valid", "validate", "validation", "eval", "evaluate", "evaluation", "test"})
_CHECKING = frozenset({"finite", "isfinite", "nan", "isnan", "inf", "isinf", "overflow"})


class LoopQuestions(CodeQuestions):
    """One file, and the training that it does."""

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


def _adds_a_number(statement: cst.CSTNode) -> bool:
    """`total += loss.item()`, which is for a log: no gradient comes back from there."""
    inner = walk(statement.value) if isinstance(statement, cst.AugAssign) else ()
    return any(isinstance(each, cst.Attribute) and each.attr.value == "item" for each in inner)


def is_logging(node: cst.CSTNode) -> bool:
    """Whether it is a call that tells somebody something, by its name: `print(...)`, `self.logger.warning(...)`."""
    words = (dotted_text(node.func) or "").split(".") if isinstance(node, cst.Call) else []
    # `log` and `write` alone may be anything.
    return words[-1:] in (["print"], ["warn"]) or not _LOGGERS.isdisjoint(words[:-1])
