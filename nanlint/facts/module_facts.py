"""The questions a rule may ask about one file.

Everything is worked out when it is first asked for: a chunk is parsed when a rule walks it or another chunk needs it,
and interpreted when a rule asks for a value. Unknown stays unknown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.environment import without_gradient
from nanlint.facts.given import assigned, is_given
from nanlint.facts.made_of import names_behind
from nanlint.facts.shape_questions import ShapeQuestions
from nanlint.facts.values import UNKNOWN, Call, Kind, Value
from nanlint.facts.written import text_of
from nanlint.ops.interval import FINITE, INF, Interval

if TYPE_CHECKING:
    from nanlint.facts.guards import Bound

# Methods that Lightning and others call without a gradient.
_EVALUATION_STEPS = frozenset(
    {"validation_step", "test_step", "predict_step", "evaluate", "evaluation", "validate", "compute_metrics"}
)
_EXPORT = re.compile(r"(torch\.)?(jit\.)?is_(scripting|tracing)\(\)")
# Conditions on these tell nothing about values or sizes.
_SAYS_NOTHING = re.compile(
    r"\.(dim\(\)|ndim|device|dtype|training|requires_grad|is_(?!nonzero)\w+)|is(nan|finite|inf)\(|%|len\(\w+\.shape\)|isinstance\(|hasattr\(|^exists\("
)
_SIZE = re.compile(r"\.size\(|\.shape\b|\.numel\(|len\(")
_ELEMENTWISE = frozenset(
    f"torch.{name}" for name in ("add", "sub", "mul", "div", "pow", "square", "abs", "neg", "sqrt", "log", "exp")
)
_JOINING = frozenset({"torch.cat", "torch.stack"})
_DEEPEST = 4
_SCORES = frozenset({"score", "scores"})


class ModuleFacts(ShapeQuestions):
    """One file: its chunks, and what is known about them."""

    def value_of(self, node: cst.BaseExpression) -> Value:
        """All that is known of what `node` evaluates to."""
        return self.here.values.get(node, UNKNOWN) if self.here is not None else UNKNOWN

    def call_of(self, node: cst.CSTNode) -> Call | None:
        """The operation that `node` is, whatever its spelling."""
        return self.here.calls.get(node) if self.here is not None else None

    def calls_of(self, *functions: str) -> list[Call]:
        """Every call of these operations in the chunk at hand, in the order in which they are evaluated."""
        calls = self.here.calls.values() if self.here is not None else ()
        return [call for call in calls if call.function in functions]

    def calls_with(self, node: cst.BaseExpression) -> list[Call]:
        """Every call in the chunk at hand that is given the thing `node` is about, or is made on it."""
        calls = self.here.calls.values() if self.here is not None else ()
        return [
            call
            for call in calls
            if any(self.is_same_thing(node, given) for given in (*call.arguments.values(), call.receiver) if given)
        ]

    def comparisons(self) -> list[cst.Comparison]:
        """Every comparison in the chunk at hand."""
        return self.here.comparisons if self.here is not None else []

    def constant_of(self, node: cst.BaseExpression | None) -> float | None:
        """The number that `node` is, through names, defaults and arithmetic; None when it is not known."""
        return self.value_of(node).number if node is not None else None

    def possible_values(self, node: cst.BaseExpression | None) -> tuple[Value, ...]:
        """Each thing that `node` can be where paths met or a default was given; one of them may be unknown."""
        return self.value_of(node).possible if node is not None else ()

    def origin_of(self, node: cst.BaseExpression | None) -> Call | None:
        """The operation that made the values of `node`, seen through names, attributes, views and casts."""
        return self.value_of(node).origin if node is not None else None

    def origins_of(self, node: cst.BaseExpression | None) -> tuple[Call, ...]:
        """As `origin_of` on every path that leads here; () if it is unknown on one of them."""
        origins = [value.origin for value in self.possible_values(node)]
        return tuple(origin for origin in origins if origin is not None) if None not in origins else ()

    def range_of(self, node: cst.BaseExpression | None) -> Interval:
        """Every number that `node`, or an element of it, can be; FINITE when nothing is known."""
        return self.value_of(node).range if node is not None else FINITE

    def has_backward(self) -> bool:
        """Whether something in the file calls for a backward pass."""
        return any("backward" in chunk.words for chunk in self.outline.chunks.values())

    def is_known(self, node: cst.BaseExpression | None) -> bool:
        """Whether anything is known about the range of `node`."""
        return node is not None and self.value_of(node).is_known

    def is_tensor(self, node: cst.BaseExpression | None) -> bool:
        """Whether `node` is a tensor for all that is known: Python's own numbers raise where tensors turn NaN."""
        return node is not None and self.value_of(node).kind is Kind.TENSOR

    def is_number(self, node: cst.BaseExpression | None) -> bool:
        """Whether `node` is a Python number for all that is known."""
        return node is not None and self.value_of(node).kind is Kind.NUMBER

    def dtype_of(self, node: cst.BaseExpression | None) -> str:
        """The dtype of `node`: float16, bfloat16, float32, float64, int or bool; empty when nothing says."""
        return self.value_of(node).dtype if node is not None else ""

    def regions_at(self, node: cst.CSTNode) -> tuple[Call, ...]:
        """The `with` statements and decorators around `node`, outermost first."""
        return self.here.envs[node].regions if self.here is not None and node in self.here.envs else ()

    def is_recorded(self, node: cst.CSTNode) -> bool:
        """Whether autograd records what happens at `node`: not under no_grad, inference_mode, or in an evaluation step."""
        if self.function_name() in _EVALUATION_STEPS or without_gradient(self.regions_at(node)):
            return False
        return not (self.mentions("is_scripting", "is_tracing") and self._is_exported(node))

    def _is_exported(self, node: cst.CSTNode) -> bool:
        """Whether `node` stands where a model is scripted or traced: `if torch.jit.is_scripting():`, before the else."""
        below = node
        for around in self.parents_of(node):
            if isinstance(around, cst.If) and below is around.body and _EXPORT.match(text_of(around.test)):
                return True
            below = around
        return False

    def has_gradient(self, node: cst.CSTNode) -> bool:
        """Whether a backward can pass through `node`: not under no_grad or inference_mode, not detached."""
        if not self.is_recorded(node):
            return False
        if not isinstance(node, cst.BaseExpression):
            return True
        return not self.value_of(node).detached and not self.is_cut_off(node)

    def is_tested(self, node: cst.BaseExpression) -> bool:
        """Whether a condition that was passed on the way to `node` asks for the values or the size of something in it.

        `if mask.any():` is about `mask.sum()` and about `n`, if that was made from `mask`. What asks for a number of
        dimensions, a device or a mode says nothing about values.
        """
        flow = self.here
        guards = flow.envs[node].guards if flow is not None and node in flow.envs else {}
        # `assert x.size(1) == 3` is about the form of x.
        asked = {
            text: bound
            for text, bound in guards.items()
            if not _SAYS_NOTHING.search(text) and not (_SIZE.search(text) and _is_of_form(bound.range))
        }
        if self._is_compared(node) or self.is_asked_for(node):
            return True
        names = self._behind(node) if asked else set()
        if any(_mentions(text, name) for name in names for text in asked):
            return True
        # What was made from the same thing is above 0, so that is not all 0; or a name stands for a test of it.
        telling = [assigned(bound.node, flow) for bound in asked.values() if flow and self._tells_of_others(bound)]
        return any(not names.isdisjoint(self._behind(other)) for other in telling)

    def _is_compared(self, node: cst.BaseExpression) -> bool:
        """Whether `node` is `high - low` and the chunk asks somewhere whether `high > low`."""
        less = self.origin_of(node)
        if less is None or less.function != "torch.sub" or not self.is_here(less.node):
            return False
        ends = {self.source_of(part) for part in less.arguments.values()}
        tests = (self.comparison_of(test) for test in self.comparisons() if self.condition_at(test) is not None)
        return any(
            test is not None and {self.source_of(test.left), self.source_of(test.right)} == ends for test in tests
        )

    def _tells_of_others(self, bound: Bound) -> bool:
        """Whether a condition tells something about what its operand was made of: `if area > 0`, `if is_flat` of a test."""
        if not bound.range.has_zero and max(bound.range.low, self.range_of(bound.node).low) >= 0:
            return True
        made_by = self.value_of(bound.node).made_by if isinstance(bound.node, cst.Name) else None
        return made_by is not None and made_by.function == "comparison"

    def words_behind(self, node: cst.BaseExpression) -> set[str]:
        """The words of all names that `node` was made of in the chunk at hand."""
        return {word for name in self._behind(node) for word in re.split(r"[\W_]+", name.lower())}

    def _behind(self, node: cst.BaseExpression) -> set[str]:
        return names_behind(node, self.here) if self.here is not None else set()

    def backward_starts(self) -> list[cst.BaseExpression]:
        """The expressions of the chunk at hand that a backward starts from: `loss` of `scaler.scale(loss).backward()`.

        `y.mean().backward()` without a step tries a model out, and y is no loss.
        """
        found: list[cst.BaseExpression] = []
        makes_steps = self.mentions("step")
        for call in self.calls_of(".backward", ".manual_backward", "torch.autograd.backward"):
            start = call.subject if call.subject is not None else call.receiver
            scaled = self.call_of(start) if start is not None else None
            if scaled is not None and scaled.function == ".scale" and scaled.subject is not None:
                start = scaled.subject
            is_output = scaled is not None and scaled.function in {"torch.mean", "torch.sum"}
            if start is not None and (makes_steps or not is_output):
                found.append(start)
        return found

    def operand_of(self, node: cst.BaseExpression | None, function: str) -> cst.BaseExpression | None:
        """`x`, if `node` is `function` of x here or was made so in this chunk; None otherwise."""
        made_by = self.value_of(node).made_by if node is not None else None
        if made_by is None or made_by.function != function or not self.is_here(made_by.node):
            return None
        return made_by.subject

    def is_given(self, node: cst.BaseExpression) -> bool:
        """Whether `node` came into the function from outside: a parameter, what a loop runs over, a part of such a thing."""
        return self.here is not None and is_given(node, self.here)

    def rest_to_one(self, node: cst.BaseExpression | None) -> cst.BaseExpression | None:
        """`p`, if `node` is `1 - p` here or was made so in this chunk; None otherwise."""
        whole = self.operand_of(node, "torch.sub")
        made_by = self.value_of(node).made_by if node is not None else None
        if whole is None or made_by is None:
            return None
        is_one = self.constant_of(whole) == 1 or self.operand_of(whole, "torch.ones_like") is not None
        return made_by.arguments.get("other") if is_one else None


def _is_of_form(left: Interval) -> bool:
    """Whether a size was compared with another one, or with one number: that does not tell if there is anything."""
    return left.low == left.high or (left.low == -INF and left.high == INF and not left.nonzero)


def _mentions(text: str, name: str) -> bool:
    return name in text and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None
