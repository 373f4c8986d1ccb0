"""Questions about what a range means for an operation: which values break it, how a 0 comes about, what a format rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.loop_questions import LoopQuestions
from nanlint.facts.zeros import reaches_zero

if TYPE_CHECKING:
    import libcst as cst

# An eps is within this of what it keeps values from.
_NEXT_TO = 1e-2


class RangeQuestions(LoopQuestions):
    """Between the questions about code and those about values."""

    def reaches_zero(self, node: cst.BaseExpression | None) -> bool:
        """Whether `node` can be exactly 0 for all that is known, and not by underflow alone, as exp(x) is."""
        return self.here is not None and reaches_zero(node, self.here)
