"""Questions about shapes of several operations: functions written out by hand, masks, exponents that something bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.by_hand import ByHand, by_hand
from nanlint.facts.exponents import is_falling, is_log_probability, is_shifted
from nanlint.facts.masks import Filling, can_be_half, filling, filling_behind, is_combined, leaves_something
from nanlint.facts.range_questions import RangeQuestions

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.values import Call


class ShapeQuestions(RangeQuestions):
    """One file, and what is written in it in several operations that belong together."""

    def filling(self, call: Call) -> Filling | None:
        """What `call` fills with a constant where a mask says so; None if it does no such thing."""
        return filling(call, self.here) if self.here is not None else None

    def filling_behind(self, node: cst.BaseExpression | None) -> Filling | None:
        """The filling with -inf that `node` still shows; None if there is none."""
        return filling_behind(node, self.here) if self.here is not None else None

    def leaves_something(self, found: Filling) -> bool:
        """Whether the mask spares an element of each row by what it is: causal, by rank, by the scores themselves."""
        return self.here is not None and leaves_something(found, self.here)

    def is_combined(self, found: Filling, filled: cst.BaseExpression | None) -> bool:
        """Whether two masks meet in `filled`, as of queries and of keys: together they mask whole rows every day."""
        return self.here is not None and is_combined(found, filled, self.here)

    def can_be_half(self, node: cst.BaseExpression | None) -> bool:
        """Whether `node` is float16, or is what autocast and `.half()` make so: a product of matrices, attention scores."""
        return self.here is not None and can_be_half(node, self.here)

    def by_hand(self, call: Call) -> ByHand | None:
        """The function that a logarithm or a quotient of exponentials is written out for; None if it is no such."""
        return by_hand(call, self.here) if self.here is not None else None

    def is_shifted(self, node: cst.BaseExpression | None) -> bool:
        """Whether a maximum was subtracted on the way to `node`, so that its exponential cannot overflow."""
        return self.here is not None and is_shifted(node, self.here)

    def is_falling(self, node: cst.BaseExpression | None) -> bool:
        """Whether `node` is read as never positive: a log-probability, minus a square or a distance."""
        return self.here is not None and (is_log_probability(node) or is_falling(node, self.here))
