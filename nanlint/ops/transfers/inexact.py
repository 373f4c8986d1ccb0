"""Results told less than exactly: rounded outward, spoiled by infinities, or known by sign and size alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.ops.curves import loosen
from nanlint.ops.interval import INF, Interval, point
from nanlint.ops.names import full_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.ops.formats import Format
    from nanlint.ops.transfers.operands import Operands, Transfer


def widened(form: Format, a: Interval, times: int = 1) -> Interval:
    """The same values, give or take what a function that is not correctly rounded may be off, `times` over."""
    if not a.has_finite:
        return a
    low, high = a.low, a.high
    for _ in range(times):
        low, high = loosen(form, low, -1.0), loosen(form, high, 1.0)
    return Interval(form.round(low), form.round(high), a.minus_inf, a.plus_inf, a.nan)


def spoiled(result: Interval, *operands: Interval) -> Interval:
    """`result` if every operand is finite; else NaN may come in, and infinities on the sides that are open."""
    if all(operand.is_finite for operand in operands):
        return result
    return replace(result, minus_inf=result.low == -INF, plus_inf=result.high == INF, nan=True)


def hull(a: Interval, b: Interval) -> Interval:
    """Everything between two ranges: what averages and interpolations of them can be."""
    return replace(a.join(b), integer=False, nonzero=False)


def nan_if_infinite(result: Interval, a: Interval) -> Interval:
    """`result`, and NaN if an infinity or a NaN comes in."""
    return replace(result, nan=result.nan or not a.is_finite)


def signed_like(a: Interval) -> Interval:
    """Every finite value of a sign that `a` has."""
    return Interval(-INF if a.has_negative else 0.0, INF if a.has_positive else 0.0)


def bounded(low: float, high: float, times: int = 1) -> Transfer:
    """A function with these bounds, give or take a few roundings, that is NaN at infinities and NaN."""
    return lambda given: spoiled(widened(given.form, Interval(low, high), times), given["input"])


def if_finite(known: Interval) -> Transfer:
    """`known` of a finite input, and more of any other."""
    return lambda given: spoiled(known, given["input"])


def lifted(function: Callable[..., Interval], *names: str) -> Transfer:
    """A function of the format and of these operands."""
    return lambda given: function(given.form, *(given[name] for name in names))


def of_values(function: Callable[..., Interval], *names: str) -> Transfer:
    """A function of these operands, which rounds nothing."""
    return lambda given: function(*(given[name] for name in names))


def by_name(rows: Mapping[str, Transfer]) -> dict[str, Transfer]:
    """Transfers by the names of their operations, several of which have one; "F.mish" is `torch.nn.functional.mish`."""
    named = ((word, transfer) for words, transfer in rows.items() for word in words.split())
    return {word if "einops." in word else full_name(f"torch.{word}"): transfer for word, transfer in named}


def toward_zero(given: Operands) -> Interval:
    """Functions that keep the sign and never make a value larger."""
    a = given["input"]
    return replace(a.join(point(0.0)), integer=False) if a.has_finite or not a.is_finite else a


def always(known: Interval) -> Transfer:
    """An operation that returns `known` whatever it is given."""
    return lambda _: known


def same(given: Operands) -> Interval:
    """An operation that moves the values of its input and changes none."""
    return given["input"]
