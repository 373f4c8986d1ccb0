"""What everyday data makes 0 and what takes a coincidence: rows of zeros, and tallies of everything that a loop has seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ATTRIBUTE, CALL, ELEMENT, JOIN, PARAMETER, made_from
from nanlint.analysis.relations import maker, op_behind
from nanlint.analysis.selection import VIEWS
from nanlint.analysis.sources import suggests_mask
from nanlint.ops.interval import TRUTH
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op, Value

_DEEPEST = 8
_ZERO_MAKING = torch_names("""
    sub diff cross linalg.cross masked_fill where scatter nn.functional.one_hot sign relu nn.functional.relu
    nn.functional.relu6 clamp clamp_min
""")
"""Differences of what may be equal, fillings, and what cuts off."""
_ZERO_KEEPING = VIEWS | {
    "subscript",
    *(f"torch.{word}" for word in ("mul", "div", "neg", "sum", "mean", "cat", "stack")),
}


def has_ordinary_zero_rows(value: Value | None, depth: int = _DEEPEST) -> bool:
    """Whether whole rows of it are 0 in everyday data; for a ray, a feature or a quaternion it takes a coincidence."""
    made = made_from(value)
    if value is None or value.learned or value.range.constant == 0 or (made is not None and made.function == PARAMETER):
        return True  # of what callers pass, whom nobody knows, as of a padded batch, nothing says that no row is empty
    if made is None or not depth:
        return False
    factors = made.operands.values() if made.function == "torch.mul" else ()
    is_masked = any(each.range.is_subset(TRUTH) or suggests_mask(each) for each in factors)
    is_set = made.where == "element" or made.where.rpartition(".")[2] == "grad"
    if is_masked or is_set or made.function in _ZERO_MAKING or _is_of_what_was_passed(made):
        return True
    is_stored = made.function == ATTRIBUTE and "stored" in made.operands
    is_kept = is_stored or made.function in {JOIN, ELEMENT} or made.function in _ZERO_KEEPING
    parts = [part for each in made.operands.values() for part in (each, *each.parts)] if is_kept else []
    return any(has_ordinary_zero_rows(each, depth - 1) for each in parts)


def _is_of_what_was_passed(made: Op) -> bool:
    """`tower(x)` of a tower that a caller passes: it may end in a relu."""
    callee = made.operands.get("()")
    return made.function == CALL and callee is not None and callee.op is not None and callee.op.function == PARAMETER


def is_tally(value: Value, depth: int = _DEEPEST) -> bool:
    """`confusion[label, guess] += 1` in a loop: nothing is counted only if there is no round."""
    op = op_behind(value)
    if op is None or op.function != JOIN or not depth:
        return False
    added = maker(op.operands.get("1"), "torch.add") if op.where == "element" else None
    is_counted = added is not None and added.operands["input"].range.low == 0 and added.operands["other"].range.low > 0
    return is_counted or any(is_tally(each, depth - 1) for each in op.operands.values())
