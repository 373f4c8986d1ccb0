"""The questions a rule may ask about one file.

Everything is worked out when it is first asked for: a chunk is parsed when a rule walks it or another chunk needs it,
and interpreted when a rule asks for a value. Unknown stays unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.code_questions import CodeQuestions
from nanlint.facts.dtypes import autocast_dtype
from nanlint.facts.evaluate import ANY_ATTRIBUTE
from nanlint.facts.names import dotted_text
from nanlint.facts.relations import same
from nanlint.facts.values import UNKNOWN, Call, Form, Kind, Value
from nanlint.ops.interval import FINITE, Interval
from nanlint.ops.names import SIGNATURES
from nanlint.source.walk import node_children, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_GRADIENT = frozenset(
    {"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.autograd.inference_mode"}
)
# Lightning calls these without a gradient.
_EVALUATION_STEPS = frozenset({"validation_step", "test_step", "predict_step"})
_RANDOM = (
    "rand",
    "normal",
    "bernoulli",
    "multinomial",
    "poisson",
    "dropout",
    "gumbel",
    "rrelu",
    "exponential",
    "cauchy",
)


class ModuleFacts(CodeQuestions):
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

    def autocast_at(self, node: cst.CSTNode) -> str:
        """The half dtype that an autocast region around `node` computes in; empty outside of one."""
        return autocast_dtype(self.regions_at(node), self.here.values) if self.here is not None else ""

    def has_gradient(self, node: cst.CSTNode) -> bool:
        """Whether a backward can pass through `node`: not under no_grad or inference_mode, not detached."""
        if self.function_name() in _EVALUATION_STEPS or _without_gradient(self.regions_at(node)):
            return False
        value = self.value_of(node) if isinstance(node, cst.BaseExpression) else UNKNOWN
        return not value.detached

    def is_same(self, first: cst.BaseExpression | None, second: cst.BaseExpression | None) -> bool:
        """Whether two expressions of the chunk read the same values."""
        return self.here is not None and same(first, second, self.here)

    def is_unchanged(self, node: cst.BaseExpression, at: cst.CSTNode) -> bool:
        """Whether `node`, written at `at` instead of where it stands, would give the same value there."""
        flow = self.here
        if flow is None or node not in flow.envs or at not in flow.envs or self._has_side_effect(node):
            return False
        then, now = flow.envs[node], flow.envs[at]
        return all(
            (then.get(name) or UNKNOWN).identity is (now.get(name) or UNKNOWN).identity for name in _names_in(node)
        )

    def _has_side_effect(self, node: cst.BaseExpression) -> bool:
        """Whether writing `node` a second time could give another value: random numbers, calls of unknown things."""
        for inner in walk(node):
            if isinstance(inner, (cst.Await, cst.NamedExpr, cst.Yield)):
                return True
            if isinstance(inner, cst.Call):
                call = self.call_of(inner)
                if call is None or call.function not in SIGNATURES or call.form is Form.MODULE or _is_random(call):
                    return True
        return False

    def backward_starts(self) -> list[cst.BaseExpression]:
        """The expressions of the chunk at hand that a backward starts from: `loss` of `scaler.scale(loss).backward()`."""
        found: list[cst.BaseExpression] = []
        for call in self.calls_of(".backward", ".manual_backward", "torch.autograd.backward"):
            start = call.subject if call.subject is not None else call.receiver
            scaled = self.call_of(start) if start is not None else None
            if scaled is not None and scaled.function == ".scale" and scaled.subject is not None:
                start = scaled.subject
            if start is not None:
                found.append(start)
        return found

    def inside(self, node: cst.BaseExpression, *functions: str) -> Iterator[cst.BaseExpression]:
        """`node`, then the operand of each of `functions` that it is a call of, from the outside in."""
        yield node
        call = self.call_of(node)
        while call is not None and call.function in functions and call.subject is not None:
            node = call.subject
            yield node
            call = self.call_of(node)


def _without_gradient(regions: tuple[Call, ...]) -> bool:
    """Whether the innermost region that says something about gradients switches them off."""
    off = False
    for region in regions:
        if region.function in _NO_GRADIENT or region.function == "torch.set_grad_enabled":
            mode = region.arguments.get("mode") or region.arguments.get("0")
            said = mode.value if isinstance(mode, cst.Name) else ""
            off = said == "False" if region.function == "torch.set_grad_enabled" else said != "False"
        elif region.function in {"torch.enable_grad", "torch.autograd.enable_grad"}:
            off = False
    return off


def _is_random(call: Call) -> bool:
    word = call.function.rpartition(".")[2]
    return any(part in word for part in _RANDOM)


def _names_in(node: cst.CSTNode) -> Iterator[str]:
    """Every name that evaluating `node` reads, attributes with all that precedes them."""
    if isinstance(node, cst.Name):
        yield node.value
        return
    text = dotted_text(node) if isinstance(node, cst.Attribute) else None
    if text is not None:
        parts = text.split(".")
        yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))
        yield f"{parts[0]}.{ANY_ATTRIBUTE}"
        return
    below = [node.value] if isinstance(node, (cst.Attribute, cst.Arg)) else node_children(node)
    for child in below:
        yield from _names_in(child)
