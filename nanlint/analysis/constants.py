"""Numbers that the source states: their ranges, and Python's own arithmetic on them."""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import NOTHING
from nanlint.ops.interval import FINITE, Interval, point

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.analysis.op_graph import Value

_ARITHMETIC: Mapping[str, Callable[[float, float], object]] = {
    "torch.add": operator.add,
    "torch.sub": operator.sub,
    "torch.mul": operator.mul,
    "torch.div": operator.truediv,
    "torch.floor_divide": operator.floordiv,
    "torch.remainder": operator.mod,
    "torch.pow": operator.pow,
}
# Larger integers are computed as floats: somebody's source must not make us multiply numbers of a million digits.
_LARGEST_INTEGER = 2**53


def computed(function: str, operands: Mapping[str, Value]) -> object:
    """What Python makes of two known numbers; NOTHING if it is no number, or they are not known."""
    work, numbers = _ARITHMETIC.get(function), [value.constant for value in operands.values()]
    if work is None or len(numbers) != 2:
        return NOTHING
    stated = [number for number in numbers if isinstance(number, int | float)]
    if len(stated) != 2:
        return NOTHING
    try:
        left, right = (float(number) if abs(number) > _LARGEST_INTEGER else number for number in stated)
        result = work(left, right)
    except (ArithmeticError, ValueError):
        return NOTHING
    return result if isinstance(result, int | float) else NOTHING


@lru_cache(maxsize=4096)
def _point(value: float) -> Interval:
    return point(value)


def range_of(constant: object) -> Interval:
    """The one value that a literal is; FINITE for what is no number."""
    if not isinstance(constant, bool | int | float):
        return FINITE
    try:
        return _point(float(constant))
    except OverflowError:
        return FINITE
