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
from nanlint.facts.relations import range_under
from nanlint.facts.values import UNKNOWN, Call
from nanlint.facts.zeros import reaches_zero
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

    def reaches_zero(self, node: cst.BaseExpression | None) -> bool:
        """Whether `node` can be exactly 0 for all that is known, and not by underflow alone, as exp(x) is."""
        return self.here is not None and reaches_zero(node, self.here)

    def is_bounded(self, node: cst.BaseExpression) -> bool:
        """Whether `node`, or what it is minus of, was clamped to a bound that is no number here, or is a quotient of such things."""
        return self.here is not None and (is_bounded(node, self.here) or is_quotient_of_bounded(node, self.here))

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


def _inside(reach: Interval) -> Interval:
    low, high = reach.low + _EDGE, reach.high - _EDGE
    return replace(reach, low=low, high=high) if low < high else reach
