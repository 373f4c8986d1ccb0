"""How a value comes to be exactly 0: with ordinary operands, or only where one of them underflows.

`exp(x)` is 0 in float32 from x = -104 on, so its range holds 0; a sum of squares is 0 for a row of zeros. Only the second
is an everyday event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from nanlint.facts.values import UNKNOWN, Call
from nanlint.ops.names import METHODS

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator

_Ask = Callable[["cst.BaseExpression | None"], bool]

# They round to 0 far out alone. A softmax is not among them: it is a share, and a confident model drives it to 0.
_UNDERFLOWING = frozenset(
    {"torch.exp", "torch.exp2", "torch.sigmoid", "torch.nn.functional.softplus", "torch.erfc", "torch.special.ndtr"}
)
# They are 0 where their operand is, or where all of its elements are.
_CARRYING = frozenset(
    METHODS[name]
    for name in (
        "sum", "mean", "nansum", "nanmean", "cumsum", "amax", "max", "amin", "min", "median", "abs", "neg", "square", "sqrt",
        "pow", "view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "contiguous", "clone", "expand",
        "select", "narrow", "gather", "index_select", "float", "double", "half", "bfloat16", "to", "detach", "cpu", "t",
    )
) | {"subscript"}  # fmt: skip
# Deeper than people nest; past it a 0 counts as ordinary.
_DEEPEST = 20


def reaches_zero(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether `node` can be exactly 0 without an underflow."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    if not value.range.has_zero:
        return False
    made_by = value.made_by
    if made_by is None or depth == _DEEPEST:
        return True
    if made_by.function in _UNDERFLOWING:
        return evaluator.range_of(made_by.subject).minus_inf

    def ask(operand: cst.BaseExpression | None) -> bool:
        return reaches_zero(operand, evaluator, depth + 1)

    if made_by.function in _CARRYING:
        return made_by.subject not in evaluator.values or ask(made_by.subject)
    combine = _COMBINING.get(made_by.function)
    return combine is None or combine(made_by, ask)


def _sum(call: Call, ask: _Ask) -> bool:
    return all(ask(call.arguments.get(name)) for name in ("input", "other"))


def _product(call: Call, ask: _Ask) -> bool:
    return any(ask(call.arguments.get(name)) for name in ("input", "other"))


_COMBINING: Mapping[str, Callable[[Call, _Ask], bool]] = {
    "torch.add": _sum,
    "torch.mul": _product,
    "torch.div": lambda call, ask: ask(call.arguments.get("input")),
}
"""What makes a result 0 whose operands are not negative; of others nothing is known here, and a 0 counts as ordinary."""
