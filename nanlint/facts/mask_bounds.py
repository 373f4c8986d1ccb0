"""What a mask tells of the values that it picks.

`x > 0` and `torch.gt(x, 0)` bound x, `x.abs() > eps` keeps it from 0; `a & b` tells of both where it is true.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.guards import NOT_ZERO, Bound, bounds, bounds_of_pair
from nanlint.facts.values import UNKNOWN
from nanlint.ops.interval import INF, Interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanlint.facts.evaluate import Evaluator

# Where `a & b` is true both are, where `a | b` is false none is. Masks are not joined out of more parts than this, nested.
_JOINING = {True: cst.BitAnd, False: cst.BitOr}
DEEPEST_MASK = 6
_COMPARING: Mapping[str, type[cst.CSTNode]] = {
    "torch.gt": cst.GreaterThan,
    "torch.ge": cst.GreaterThanEqual,
    "torch.lt": cst.LessThan,
    "torch.le": cst.LessThanEqual,
    "torch.eq": cst.Equal,
    "torch.ne": cst.NotEqual,
}


def definition(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression:
    """The comparison that a mask's name stands for."""
    value = evaluator.values.get(node, UNKNOWN)
    return value.made_by.node if value.made_by is not None else node


def told(mask: cst.BaseExpression, evaluator: Evaluator, *, holds: bool, depth: int = 0) -> Iterator[Bound]:
    """What a mask tells where it is true (or false): `a & b` tells of both, `~a` the opposite, a name what it stands for."""
    test = definition(mask, evaluator)
    if depth < DEEPEST_MASK and isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.BitInvert):
        yield from told(test.expression, evaluator, holds=not holds, depth=depth + 1)
    elif depth < DEEPEST_MASK and isinstance(test, cst.BinaryOperation) and isinstance(test.operator, _JOINING[holds]):
        for part in (test.left, test.right):
            yield from told(part, evaluator, holds=holds, depth=depth + 1)
    else:
        yield from _told_by_one(test, evaluator, holds=holds)


def _told_by_one(test: cst.BaseExpression, evaluator: Evaluator, *, holds: bool) -> Iterator[Bound]:
    def read(part: cst.BaseExpression) -> float | None:
        return evaluator.values.get(part, UNKNOWN).number

    call = evaluator.calls.get(test)
    sign = _COMPARING.get(call.function) if call is not None else None
    other = call.arguments.get("other") if call is not None else None
    if call is None or sign is None or call.subject is None or other is None:
        yield from bounds(test, holds=holds, read=read)
    else:
        yield from bounds_of_pair(call.subject, sign, other, holds=holds, read=read)


def through_size(bound: Bound, evaluator: Evaluator) -> Iterator[Bound]:
    """The bound, and what it says of x if it is one on `x.abs()` or on the square of x."""
    yield bound
    made_by = evaluator.values.get(bound.node, UNKNOWN).made_by
    if made_by is None or made_by.subject is None:
        return
    is_square = made_by.function == "torch.square" or (
        made_by.function == "torch.pow" and _exponent(made_by.arguments.get("exponent"), evaluator) == 2
    )
    if made_by.function != "torch.abs" and not is_square:
        return
    said = bound.range
    if said.nonzero or said.low > 0:
        yield Bound(made_by.subject, replace(NOT_ZERO, nan=said.nan))
    if 0 <= said.high < INF:
        end = math.sqrt(said.high) if is_square else said.high
        yield Bound(made_by.subject, Interval(-end, end, nan=said.nan))


def _exponent(node: cst.BaseExpression | None, evaluator: Evaluator) -> float | None:
    return evaluator.values.get(node, UNKNOWN).number if node is not None else None
