"""Questions about what a range means for an operation: which values break it, how a 0 comes about, what a format rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.facts.log_arguments import (
    is_bounded,
    is_quotient_of_bounded,
)
from nanlint.facts.loop_questions import LoopQuestions
from nanlint.facts.mask_bounds import definition, narrowed
from nanlint.facts.measured import is_of_squares
from nanlint.facts.relations import range_under
from nanlint.facts.root_arguments import is_expanded_square, is_square_by_name
from nanlint.facts.unit_arguments import is_dot, is_of_rotation, is_part_of_length
from nanlint.facts.values import UNKNOWN, Call
from nanlint.facts.zeros import expects_zero, reaches_zero
from nanlint.ops.formats import FORMATS
from nanlint.ops.interval import FINITE, Interval
from nanlint.ops.zones import zones

if TYPE_CHECKING:
    import libcst as cst

# An eps is within this of what it keeps values from.
_NEXT_TO = 1e-2
# How far from the ends of what a mask picks something still counts as an end of it.
_EDGE = 1e-4


class RangeQuestions(LoopQuestions):
    """Between the questions about code and those about values."""

    def rounds_to(self, node: cst.BaseExpression, limit: float, dtype: str) -> bool:
        """Whether `node` is a number next to `limit`, and is `limit` itself in `dtype`: 1e-8 is 0 in float16."""
        number = self.here.values.get(node, UNKNOWN).number if self.here is not None else None
        if number is None or number == limit or abs(number - limit) > _NEXT_TO or dtype not in FORMATS:
            return False
        return FORMATS[dtype].round(number) == limit

    def reaches_zero(self, node: cst.BaseExpression | None) -> bool:
        """Whether `node` can be exactly 0 for all that is known, and not by underflow alone, as exp(x) is."""
        return self.here is not None and reaches_zero(node, self.here)

    def is_bounded(self, node: cst.BaseExpression) -> bool:
        """Whether `node`, or what it is minus of, was clamped to a bound that is no number here, or is a quotient of such things."""
        return self.here is not None and (is_bounded(node, self.here) or is_quotient_of_bounded(node, self.here))

    def is_of_squares(self, node: cst.BaseExpression) -> bool:
        """Whether `node` is made of squares alone, summed up or not, whatever else may be wrong with them."""
        return self.here is not None and is_of_squares(node, self.here)

    def is_expanded_square(self, node: cst.BaseExpression) -> bool:
        """Whether `node` is the square of a difference multiplied out, `a + b - 2 * c`, which rounds below 0."""
        return self.here is not None and is_expanded_square(node, self.here)

    def is_square_by_name(self, node: cst.BaseExpression) -> bool:
        """Whether `node` is called a square, a variance, an energy or a distance, and nothing else is known of it."""
        return self.here is not None and is_square_by_name(node, self.here)

    def is_of_rotation(self, node: cst.BaseExpression) -> bool:
        """Whether `node` is one element of a matrix that is a rotation by its name, which rounds past 1."""
        return is_of_rotation(node)

    def is_dot(self, node: cst.BaseExpression) -> bool:
        """Whether `node` is computed from a dot product or a trace, which rounds past what it is on paper."""
        return self.here is not None and is_dot(node, self.here)

    def is_part_of_length(self, node: cst.BaseExpression) -> bool:
        """Whether `node` is `z / r` with a norm or a root as r: 1 where the rest of the vector is 0."""
        return self.here is not None and is_part_of_length(node, self.here)

    def expects_zero(self, node: cst.BaseExpression | None) -> bool:
        """Whether a 0 of `node` is an everyday event: of a difference, a variance, a clamp; not of one vector's length."""
        return self.here is not None and expects_zero(node, self.here)

    def range_where(self, node: cst.BaseExpression, condition: cst.BaseExpression, *, holds: bool) -> Interval:
        """The range of `node` where the mask `condition` is true (or false), as far as the mask's comparison names it."""
        flow = self.here
        if flow is None:
            return FINITE
        test = definition(condition, flow)
        return narrowed(node, lambda part: range_under(part, test, flow, holds=holds), flow)

    def breaks(self, call: Call, operand: str, reach: Interval) -> bool:
        """Whether some ordinary value of `reach` breaks `call`, forward or backward, as its argument `operand`."""
        values = self.here.values if self.here is not None else {}
        dtype = values.get(call.node, UNKNOWN).dtype
        stated = {name: values.get(node, UNKNOWN).number for name, node in call.arguments.items()}
        constants = {name: number for name, number in stated.items() if number is not None}
        found = zones(call.function, dtype if dtype in FORMATS else "float32", constants)
        return any(zone.operand == operand and zone.meets_ordinarily(reach) for zone in found)

    def is_kept_by(self, call: Call, operand: str, condition: cst.BaseExpression, *, holds: bool) -> bool:
        """Whether a mask picks just those values of an operand that do not break `call`, but for the ends, which `x > 1` leaves out."""
        node = call.arguments[operand]
        kept = self.range_where(node, condition, holds=holds)
        whole = self.here.range_of(node) if self.here is not None else FINITE
        if not self.breaks(call, operand, kept):
            return True
        return self.breaks(call, operand, _inside(whole)) and not self.breaks(call, operand, _inside(kept))

    def is_inverse(self, node: cst.BaseExpression | None) -> bool:
        """Whether `node` is 1 divided by something: as an exponent hardly ever an integer."""
        values = self.here.values if self.here is not None else {}
        made_by = values.get(node, UNKNOWN).made_by if node is not None else None
        if made_by is None or made_by.function != "torch.div":
            return made_by is not None and made_by.function == "torch.reciprocal"
        return made_by.subject is not None and values.get(made_by.subject, UNKNOWN).number == 1


def _inside(reach: Interval) -> Interval:
    low, high = reach.low + _EDGE, reach.high - _EDGE
    return replace(reach, low=low, high=high) if low < high else reach
