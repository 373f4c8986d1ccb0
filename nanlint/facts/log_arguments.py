"""Bounds that somebody sets elsewhere, and quotients of what is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.unkept import is_kept
from nanlint.facts.values import UNKNOWN
from nanlint.ops.interval import INF

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call

_DIV = "torch.div"
_CLAMPS = frozenset({"torch.clamp", "torch.clamp_min"})


def is_bounded(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether `node`, or what it is minus of, was clamped to a bound that is no number here: whoever sets it sets a guard."""
    minus = made_as(node, evaluator, "torch.neg")
    value = evaluator.values.get((minus.subject if minus is not None else None) or node, UNKNOWN)
    clamp = value.origin
    if clamp is None or clamp.function not in _CLAMPS:
        return False
    if clamp.node not in evaluator.values:
        # What a helper clamps to is seen in the result, if it is a number.
        return value.range.low == -INF
    bounds = [clamp.arguments.get(end) for end in ("min", "max")]
    return any(bound is not None and evaluator.values.get(bound, UNKNOWN).number is None for bound in bounds)


def is_quotient_of_bounded(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`(a + eps) / (b + eps)`, `peak ** 2 / (error + eps)`: above 0, as both are, or as what somebody set is."""
    made = made_as(node, evaluator, _DIV)
    above, below = _operands(made) if made is not None else (None, None)
    if above is None or below is None or evaluator.values.get(below, UNKNOWN).range.low <= 0:
        return False
    power = made_as(above, evaluator, "torch.pow")
    base = power.subject if power is not None else None
    return evaluator.values.get(above, UNKNOWN).range.low > 0 or is_kept(base if base is not None else above)


def made_as(node: cst.BaseExpression | None, evaluator: Evaluator, function: str) -> Call | None:
    """What made the values of `node`, if it is this operation and stands in this chunk."""
    made = evaluator.values.get(node, UNKNOWN).origin if node is not None else None
    return made if made is not None and made.function == function and made.node in evaluator.values else None


def _operands(call: Call | None) -> list[cst.BaseExpression]:
    given = [call.arguments.get(name) for name in ("input", "other")] if call is not None else []
    return [operand for operand in given if operand is not None]
