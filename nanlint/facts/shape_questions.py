"""Questions about shapes of several operations: functions written out by hand, masks, exponents that something bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts import makings
from nanlint.facts.naming import thing_of, words_of
from nanlint.facts.range_questions import RangeQuestions
from nanlint.facts.values import UNKNOWN, Call
from nanlint.facts.written import text_of
from nanlint.model import Label

if TYPE_CHECKING:
    import libcst as cst

_MEASURES = frozenset(
    f"torch.{name}" for name in ("sum", "max", "amax", "mean", "norm", "linalg.norm", "linalg.vector_norm")
)
_TOLERANCES = frozenset({"eps", "epsilon", "tol", "tolerance", "tiny", "zero"})
_NEXT_TO_0 = 0.01


class ShapeQuestions(RangeQuestions):
    """One file, and what is written in it in several operations that belong together."""

    added_eps = makings.added_eps

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
