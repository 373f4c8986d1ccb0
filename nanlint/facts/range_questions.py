"""Questions about what a range means for an operation: which values break it, how a 0 comes about, what a format rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.loop_questions import LoopQuestions
from nanlint.facts.values import UNKNOWN
from nanlint.facts.zeros import reaches_zero
from nanlint.ops.formats import FORMATS

if TYPE_CHECKING:
    import libcst as cst

# An eps is within this of what it keeps values from.
_NEXT_TO = 1e-2


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
