"""Which of two values is the larger, by how both were computed: `sigmoid(x + 1 / 255)` is no less than `sigmoid(x)`.

Each step keeps the order in floats as well: a rounded sum, product or quotient never turns it round, nor does a function named here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import made_from
from nanlint.analysis.relations import aligned, copied_from
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op, Value

_RISING = torch_names("sigmoid tanh exp erf relu floor ceil")
_SCALES = torch_names("mul div")
_SUMS = torch_names("add sub")
_DEEPEST = 6


def is_no_less(upper: Value | None, lower: Value | None, depth: int = _DEEPEST) -> bool:
    """Whether `upper` is at least `lower`, element by element, wherever both are numbers."""
    if upper is None or lower is None or not depth:
        return False
    upper, lower = copied_from(upper), copied_from(lower)
    if upper.key == lower.key:
        return True
    one, two = made_from(upper), made_from(lower)
    if one is not None and two is not None and one.function == two.function and _is_kept(one, two, depth):
        return True
    return _is_raised(one, lower, 1, depth) or _is_raised(two, upper, -1, depth)


def _is_kept(one: Op, two: Op, depth: int) -> bool:
    """Whether two operations of one kind keep the order of what they are given."""
    if one.function in _RISING:
        return is_no_less(one.subject, two.subject, depth - 1)
    if one.function not in _SCALES | _SUMS or not one.operands.keys() == two.operands.keys() == {"input", "other"}:
        return False
    for moving, fixed in (("input", "other"), ("other", "input")):
        first, second, shared = one.operands[moving], two.operands[moving], one.operands[fixed]
        if not aligned(shared, two.operands[fixed]) or (one.function == "torch.div" and moving == "other"):
            continue
        if one.function == "torch.sub" and moving == "other":
            first, second = second, first
        if (one.function in _SUMS or shared.range.least >= 0) and is_no_less(first, second, depth - 1):
            return True
    return False


def _is_raised(op: Op | None, other: Value, sign: int, depth: int) -> bool:
    """Whether `op` only adds to what is no less than `other`; with a sign of -1, takes away from what is no more."""
    if op is None or op.function not in _SUMS or op.operands.keys() != {"input", "other"}:
        return False
    for kept, added in (("input", "other"), ("other", "input")):
        step = op.operands[added].range
        is_up = op.function == "torch.add" if sign > 0 else op.function == "torch.sub"
        moves = step.least >= 0 if is_up else step.greatest <= 0
        pair = (op.operands[kept], other) if sign > 0 else (other, op.operands[kept])
        if moves and (added == "other" or op.function == "torch.add") and is_no_less(*pair, depth=depth - 1):
            return True
    return False
