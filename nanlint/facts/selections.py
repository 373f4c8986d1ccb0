"""Operations that throw a part of their operand away: by a condition, a mask, an index, or because it is not finite."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from nanlint.facts.values import UNKNOWN, Call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.evaluate import Evaluator

WHERE, FILL, PRODUCT, PART = "torch.where", "torch.masked_fill", "torch.mul", "subscript"
_CLEANING = frozenset({"torch.nan_to_num", "torch.clamp", "torch.clamp_min"})
_TESTS = frozenset({"comparison", "torch.bitwise_and", "torch.bitwise_or", "torch.bitwise_not"})


class Selection(NamedTuple):
    """`value` is kept where `condition` holds (or where it does not); None for a condition that is not written."""

    call: Call
    value: cst.BaseExpression
    condition: cst.BaseExpression | None = None
    holds: bool = True


def selections(call: Call, evaluator: Evaluator) -> Iterator[Selection]:
    """What `call` may throw away of each of its operands."""
    given = call.arguments
    if call.function == WHERE and {"condition", "input", "other"} <= set(given):
        yield Selection(call, given["input"], given["condition"])
        yield Selection(call, given["other"], given["condition"], holds=False)
    elif call.function == FILL and {"input", "mask"} <= set(given):
        yield Selection(call, given["input"], given["mask"], holds=False)
    elif call.function in _CLEANING and "input" in given:
        yield Selection(call, given["input"])
    elif call.function == PART:
        yield from _picked(call, evaluator)
    elif call.function == PRODUCT:
        for value, mask in ((given.get("input"), given.get("other")), (given.get("other"), given.get("input"))):
            test = _test_behind(mask, evaluator)
            if value is not None and test is not None:
                yield Selection(call, value, test)


def _picked(call: Call, evaluator: Evaluator) -> Iterator[Selection]:
    """`x[mask]`, and `x[mask] = 0`, which keeps the rest."""
    part = call.node
    if not isinstance(part, cst.Subscript) or len(part.slice) != 1:
        return
    index = part.slice[0].slice
    if isinstance(index, cst.Index) and _test_behind(index.value, evaluator) is not None:
        yield Selection(call, part.value, index.value, holds=part not in evaluator.targets)


def _test_behind(mask: cst.BaseExpression | None, evaluator: Evaluator) -> cst.BaseExpression | None:
    """The comparison that `mask` was made of, cast or not; None for anything else."""
    origin = evaluator.values.get(mask, UNKNOWN).origin if mask is not None else None
    return origin.node if origin is not None and origin.function in _TESTS else None
