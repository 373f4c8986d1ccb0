"""What is 0 for some input by its making alone: totals, sizes, differences and products of vectors that nothing keeps from it.

No name and no setting tells that it happens; but nobody asked for it either, and the day on which it does is not announced.
Worth a word at `info`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.silence import is_drawn
from nanlint.facts.values import UNKNOWN

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator

_DEEPEST, _SQUARE = 8, 2


def is_of_squares(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether `node` is made of squares alone, summed up or not, whatever else may be wrong with them."""
    made_by = evaluator.values.get(node, UNKNOWN).origin if node is not None else None
    if node is None or made_by is None or made_by.node not in evaluator.values or depth == _DEEPEST:
        return False
    if is_drawn(node, evaluator):
        return False
    if made_by.function == "torch.add":
        parts = [made_by.arguments.get(name) for name in ("input", "other")]
        return all(is_of_squares(part, evaluator, depth + 1) for part in parts)
    if made_by.function == "torch.pow":
        exponent = made_by.arguments.get("exponent")
        return evaluator.values.get(exponent, UNKNOWN).number == _SQUARE  # type: ignore[arg-type] # a node or nothing
    if made_by.function in {"torch.sum", "torch.mean"}:
        return is_of_squares(made_by.subject, evaluator, depth + 1)
    return made_by.function == "torch.square"
