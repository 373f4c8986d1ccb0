"""Scores that are masked by an assignment: `scores[mask] = -inf` is `scores.masked_fill_(mask, -inf)` in other words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.naming import words_of
from nanlint.facts.values import UNKNOWN, Call, Form, Kind, Value

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator

_MASKS = frozenset({"mask", "masks", "masked", "pad", "padding", "valid", "invalid", "keep"})
# float16 ends here: what is below is written to mask something.
_LOWEST = -65504.0


def filled_elements(target: cst.Subscript, value: Value, evaluator: Evaluator) -> Call | None:
    """The filling that `target = value` is; None if it sets elements by their number, or no mask constant."""
    index = target.slice[0].slice if len(target.slice) == 1 else None
    number = value.number
    if not isinstance(index, cst.Index) or value.node is None or number is None or number > _LOWEST:
        return None
    if not _is_mask(index.value, evaluator):
        return None
    arguments = {"input": target.value, "mask": index.value, "value": value.node}
    return Call("torch.masked_fill", target, Form.OPERATOR, arguments)


def _is_mask(index: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """By its dtype or its name; nobody inverts the number of an element."""
    held = evaluator.values.get(index, UNKNOWN)
    if isinstance(index, cst.UnaryOperation):
        return isinstance(index.operator, cst.BitInvert)
    return held.kind is not Kind.NUMBER and (held.dtype == "bool" or not _MASKS.isdisjoint(words_of(index)))
