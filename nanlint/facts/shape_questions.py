"""Questions about shapes of several operations: functions written out by hand, masks, exponents that something bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts import makings
from nanlint.facts.eps import Raised, raised
from nanlint.facts.half import (
    is_area,
    is_linear_attention,
    is_relied_on,
    is_sum_of_squares,
    is_sum_over_classes,
    is_sum_over_pixels,
    may_have_empty_rows,
    needs_less_than_one,
    widens,
)
from nanlint.facts.masks import (
    Filling,
    can_be_half,
    filled_with,
    filling,
    holds_least,
)
from nanlint.facts.naming import thing_of, words_of
from nanlint.facts.range_questions import RangeQuestions
from nanlint.facts.saturation import saturated
from nanlint.facts.schedules import lowering
from nanlint.facts.values import UNKNOWN, Call
from nanlint.facts.written import text_of
from nanlint.model import Label

if TYPE_CHECKING:
    from nanlint.facts.flow import Flow
    from nanlint.source.outline import Chunk

_MEASURES = frozenset(
    f"torch.{name}" for name in ("sum", "max", "amax", "mean", "norm", "linalg.norm", "linalg.vector_norm")
)
_TOLERANCES = frozenset({"eps", "epsilon", "tol", "tolerance", "tiny", "zero"})
_NEXT_TO_0 = 0.01
_HALVES, _WIDE = frozenset({"float16", "half", "bfloat16"}), frozenset({"float", "float32"})
_CASTS = frozenset({"type_as", "to", "half"})
_LIFTING = frozenset({"max", "maximum", "clamp", "clamp_min", "clip"})


def _casts_half_for(name: str, chunk: Chunk) -> bool:
    return chunk.mentions((name,)) and chunk.mentions(_HALVES) and chunk.mentions(_WIDE)


class ShapeQuestions(RangeQuestions):
    """One file, and what is written in it in several operations that belong together."""

    added_eps = makings.added_eps

    def filling(self, call: Call) -> Filling | None:
        """What `call` fills with a constant where a mask says so; None if it does no such thing."""
        return filling(call, self.here) if self.here is not None else None

    def filled_with(self, found: Filling) -> float | None:
        """The number that is filled in; None if it is not known."""
        return filled_with(found, self.here) if self.here is not None else None

    def saturated(self, node: cst.BaseExpression) -> str:
        """The function whose rounding makes `node` exactly 0: "sigmoid", "softmax", "tanh"; "" for none."""
        return saturated(node, self.here) if self.here is not None else ""

    def lowering(self, node: cst.BaseExpression) -> str:
        """How a setting is lowered step by step, here or in a method beside: subtracted, multiplied; empty for not at all."""
        here = self.outline.chunks[self._current]
        beside = [chunk for chunk in self.outline.chunks.values() if here.owner and chunk.owner == here.owner]
        name = self.source_of(node)
        return (
            lowering(name, beside if name.startswith("self.") else [here])
            if name.replace(".", "").isidentifier()
            else ""
        )

    def holds_least(self, node: cst.BaseExpression | None) -> bool:
        """Whether `node` is filled with `torch.finfo(dtype).min` where something is masked."""
        return self.here is not None and holds_least(node, self.here)

    def raises_scores(self) -> bool:
        """Whether a function of the file lifts what goes into its softmax: `torch.max(scores, torch.finfo(dtype).min)`."""
        return any(
            chunk.words.issuperset({"softmax", "finfo"}) and not chunk.words.isdisjoint(_LIFTING)
            for chunk in self.outline.chunks.values()
        )

    def can_be_half(self, node: cst.BaseExpression | None) -> bool:
        """Whether `node` is float16, or is what autocast and `.half()` make so: a product of matrices, attention scores."""
        return self.here is not None and can_be_half(node, self.here)

    def is_relied_on(self, floor: Call, value: cst.BaseExpression) -> bool:
        """Whether something here divides by what `floor` keeps from 0, `value`, or takes a root or logarithm of it."""
        return self.here is not None and is_relied_on(floor, value, self.here)

    def needs_less_than_one(self, ceiling: Call, *functions: str) -> bool:
        """Whether one of these operations is given what `ceiling` keeps below 1, or what is left to 1 of it: `log(1 - p)`."""
        return self.here is not None and needs_less_than_one(ceiling, functions, self.here)

    def is_area(self, call: Call) -> bool:
        """Whether `call` multiplies the sides of boxes, in a dtype that may be float16."""
        return self.here is not None and is_area(call, self.here)

    def is_linear_attention(self, call: Call, keys: frozenset[str]) -> bool:
        """`k.transpose(-2, -1) @ v`: keys, which go by these words, meet values, summed up over all tokens."""
        return self.here is not None and is_linear_attention(call, keys, self.here)

    def is_sum_over_classes(self, call: Call) -> bool:
        """Whether `call` sums up log-probabilities over a dimension."""
        return self.here is not None and is_sum_over_classes(call, self.here)

    def is_sum_of_squares(self, call: Call) -> bool:
        """Whether `call` sums up squares, or takes their mean, in a function that takes a root."""
        return self.here is not None and is_sum_of_squares(call, self.here)

    def is_first_count(self, call: Call, names: frozenset[str]) -> bool:
        """Whether `call` is the first of this function that sums up over all pixels what goes by one of these names."""
        flow = self.here
        if flow is None or not self._is_count(call, names, flow):
            return False
        return next(each for each in flow.calls.values() if self._is_count(each, names, flow)) is call

    def _is_count(self, call: Call, names: frozenset[str], flow: Flow) -> bool:
        return "_".join(self.kept_as(call)) in names and is_sum_over_pixels(call, flow)

    def may_have_empty_rows(self, node: cst.BaseExpression) -> bool:
        """Whether a row of `node` may be 0 as a whole: not one of weights or embeddings, or of random numbers."""
        return self.here is not None and may_have_empty_rows(node, self.here)

    def is_widened(self) -> bool:
        """Whether something is cast to float32 or float64 in the chunk at hand: `x.float()`, `_upcast(boxes)`.

        Or the dtype is promoted to float32, or a function of the file that calls it asks for half and casts first.
        """
        flow, here = self.here, self.outline.chunks[self._current]
        calls = flow.calls.values() if flow is not None else ()
        is_promoted = here.mentions(("promote_types",)) and here.mentions(("float32",))
        if is_promoted or any(_casts_half_for(here.name, chunk) for chunk in self.outline.chunks.values()):
            return True
        return flow is not None and any(widens(call, flow) for call in calls)

    def file_mentions(self, *words: str) -> bool:
        """Whether one of these names or attributes occurs anywhere in the file."""
        return any(chunk.mentions(words) for chunk in self.outline.chunks.values())

    def user_of(self, node: cst.BaseExpression) -> Call | None:
        """The operation that `node` is an operand of, as it is written; None if there is none around it."""
        for around in self.parents_of(node):
            call = self.here.calls.get(around) if self.here is not None else None
            if call is not None:
                return call if any(operand is node for operand in call.arguments.values()) else None
            if not isinstance(around, (cst.Arg, cst.Attribute)):
                return None
        return None

    def is_cast(self, node: cst.BaseExpression) -> bool:
        """Whether `node` is cast where it stands: `scores.masked_fill(mask, -1e9).to(dtype)`."""
        around = self.user_of(node)
        return around is not None and around.function.rpartition(".")[2] in _CASTS

    def asks_dtype(self, node: cst.CSTNode) -> bool:
        """Whether `node` stands in a branch that a condition on dtypes decides: `if x.dtype == torch.float16:`."""
        tests = (around.test for around in self.parents_of(node) if isinstance(around, (cst.If, cst.IfExp)))
        return any(word in text for text in map(self.source_of, tests) for word in ("dtype", "float16", "half"))

    def is_asked_for(self, node: cst.BaseExpression) -> bool:
        """Whether the chunk compares `node` with 0 or a tolerance, wherever that is, or another measure of the same thing.

        Who writes `keep = (area > 0) & (part / area > 0.5)`, or leaves when `grad.abs().max() <= tolerance`, knows of the 0.
        """
        return any(self.is_same(one, node) or self._measure_the_same(one, node) for _, one in self._asked_about_0())

    def _asked_about_0(self) -> list[tuple[cst.Comparison, cst.BaseExpression]]:
        """What the chunk compares with 0 or a tolerance."""
        if self.here is None:
            return []
        if self._asked is None or self._asked[0] is not self.here:
            tests = [(test, self.comparison_of(test)) for test in self.here.comparisons]
            found = [
                (test, one)
                for test, sides in tests
                if sides is not None
                for one, other in ((sides.left, sides.right), (sides.right, sides.left))
                if self._is_next_to_0(other)
            ]
            self._asked = self.here, found
        return self._asked[1]

    def _is_next_to_0(self, node: cst.BaseExpression) -> bool:
        number = self.here.values.get(node, UNKNOWN).number if self.here is not None else None
        if number is not None:
            return abs(number) <= _NEXT_TO_0
        return not _TOLERANCES.isdisjoint(words_of(node))

    def _measure_the_same(self, first: cst.BaseExpression, second: cst.BaseExpression) -> bool:
        calls = [self.here.calls.get(node) for node in (first, second)] if self.here is not None else []
        if not all(call is not None and call.function in _MEASURES for call in calls):
            return False
        return text_of(thing_of(first)) == text_of(thing_of(second))

    def squared(self, call: Call | None) -> cst.BaseExpression | None:
        """`x`, if `call` is `x ** 2`, `x.square()` or `x * x`; None for anything else."""
        if call is None or self.here is None:
            return None
        exponent = self.here.values.get(call.arguments.get("exponent"), UNKNOWN)  # type: ignore[arg-type] # a node or nothing
        is_square = (
            call.function == "torch.square"
            or (call.function == "torch.pow" and exponent.number == 2)
            or (call.function == "torch.mul" and self.is_same(call.subject, call.arguments.get("other")))
        )
        return call.subject if is_square else None

    def raised(self, call: Call | None) -> Raised | None:
        """`value` and `eps` of `value + eps`; None for any other operation."""
        return raised(call, self.here) if self.here is not None else None

    def labels_at(self, node: cst.CSTNode | None, text: str, *, apart_from: cst.CSTNode) -> tuple[Label, ...]:
        """A label on `node`; none if it stands in another function, or one of the two is a part of the other."""
        if (
            node is None
            or not self.is_here(node)
            or self.is_within(node, apart_from)
            or self.is_within(apart_from, node)
        ):
            return ()
        return (Label(self.span_of(node), text),)
