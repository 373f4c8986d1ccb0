"""Questions about shapes of several operations: functions written out by hand, masks, exponents that something bounds."""

from __future__ import annotations

import re

import libcst as cst

from nanlint.facts import makings
from nanlint.facts.masks import (
    Filling,
    filling_behind,
    is_combined,
    is_optional,
    leaves_something,
)
from nanlint.facts.names import dotted_text
from nanlint.facts.naming import thing_of, words_of
from nanlint.facts.range_questions import RangeQuestions
from nanlint.facts.selections import Selection, selections
from nanlint.facts.values import UNKNOWN, Call
from nanlint.facts.written import text_of
from nanlint.model import Label
from nanlint.source.walk import walk

_MEASURES = frozenset(
    f"torch.{name}" for name in ("sum", "max", "amax", "mean", "norm", "linalg.norm", "linalg.vector_norm")
)
_TOLERANCES = frozenset({"eps", "epsilon", "tol", "tolerance", "tiny", "zero"})
_NEXT_TO_0 = 0.01
_LOG_SPACE = re.compile(r"log.*(exp|sum|add|mat|dot)", re.IGNORECASE)
# Who names these knows of the -inf.
_ASKING_FOR_INF = frozenset(
    ["isinf", "isfinite", "isneginf", "where", "masked_fill", "masked_fill_", "clamp", "nan_to_num", "maximum", "inf"]
)


class ShapeQuestions(RangeQuestions):
    """One file, and what is written in it in several operations that belong together."""

    added_eps = makings.added_eps
    has_gradient_behind = makings.has_gradient_behind

    def filling_behind(self, node: cst.BaseExpression | None) -> Filling | None:
        """The filling with -inf that `node` still shows; None if there is none."""
        return filling_behind(node, self.here) if self.here is not None else None

    def leaves_something(self, found: Filling) -> bool:
        """Whether the mask spares an element of each row by what it is: causal, by rank, by the scores themselves."""
        return self.here is not None and (leaves_something(found, self.here) or self._is_own_triangle(found.mask))

    def _is_own_triangle(self, mask: cst.BaseExpression) -> bool:
        """Whether the mask is kept by the object, whose constructor makes a triangle: a causal one, registered as a buffer."""
        constructor = self.outline.chunks.get(f"{self.outline.chunks[self._current].owner}.__init__")
        kept = (dotted_text(inner) for inner in walk(mask) if isinstance(inner, cst.Attribute))
        is_own = any(name is not None and name.startswith("self.") and "mask" in name for name in kept)
        return is_own and constructor is not None and constructor.mentions(("tril", "triu"))

    def is_combined(self, found: Filling, filled: cst.BaseExpression | None) -> bool:
        """Whether two masks meet in `filled`, as of queries and of keys: together they mask whole rows every day."""
        return self.here is not None and is_combined(found, filled, self.here)

    def is_optional(self, mask: cst.BaseExpression) -> bool:
        """Whether the mask, as it is or inverted, is a parameter that need not be given."""
        return self.here is not None and is_optional(mask, self.here)

    def sums_logarithms(self) -> bool:
        """Whether the function is a logsumexp by hand, is called so, and asks nowhere whether the largest is finite."""
        here = self.outline.chunks[self._current]
        is_named = _LOG_SPACE.search(here.name) is not None
        return is_named and here.mentions(("log",)) and here.mentions(("exp",)) and not here.mentions(_ASKING_FOR_INF)

    def file_mentions(self, *words: str) -> bool:
        """Whether one of these names or attributes occurs anywhere in the file."""
        return any(chunk.mentions(words) for chunk in self.outline.chunks.values())

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

    def is_of_rows(self, node: cst.BaseExpression) -> bool:
        """Whether `node` was made along some dimensions alone: one number for each row, not one of everything."""
        origin = self.here.values.get(node, UNKNOWN).origin if self.here is not None else None
        return origin is not None and "dim" in origin.arguments

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

    def selections(self, *functions: str) -> list[Selection]:
        """What calls of these operations in the chunk at hand may throw away of their operands."""
        flow = self.here
        calls = flow.calls.values() if flow is not None else ()
        return [each for call in calls if call.function in functions for each in selections(call, flow)]  # type: ignore[arg-type] # a call has a flow

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
