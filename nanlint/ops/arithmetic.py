"""Float arithmetic on intervals: what +, *, / and their like make of every value an operand can have.

Results are rounded to the working format, so 1 - 1e-8 is 1 in float32. A known bound that overflows sets the bit of its
infinity; an end without a known bound stays one. Every function is sound: what torch computes from values of the
operands, the result admits.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.ops.interval import EMPTY, INF, Interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.ops.formats import Format

End = tuple[float, bool]
"""A computed bound, and whether it comes from an end without a known bound."""

Reach = tuple[float, float, bool, bool]
"""The low and the high end of an interval, and whether -inf and inf are reached."""

NOWHERE: Reach = (INF, -INF, False, False)


def between(form: Format, ends: Iterable[End]) -> Reach:
    """The rounded hull of computed bounds; a known bound that overflows sets its infinity's bit."""
    low, high, minus, plus = NOWHERE
    for value, is_open in ends:
        end = value if is_open else form.round(value)
        low = min(low, end)
        high = max(high, end)
        if not is_open and math.isinf(end):
            minus, plus = minus or end < 0, plus or end > 0
    return low, high, minus, plus


def neg(a: Interval) -> Interval:
    """-a."""
    return Interval(-a.high, -a.low, a.plus_inf, a.minus_inf, a.nan, a.nonzero, a.integer)


def absolute(a: Interval) -> Interval:
    """|a|."""
    infinite = a.minus_inf or a.plus_inf
    if not a.has_finite:
        return Interval(INF, -INF, plus_inf=infinite, nan=a.nan)
    least = 0.0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
    return Interval(least, max(-a.low, a.high), plus_inf=infinite, nan=a.nan, nonzero=a.nonzero, integer=a.integer)


def add(form: Format, a: Interval, b: Interval) -> Interval:
    """The sum `a + b`."""
    low, high, minus, plus = NOWHERE
    if a.has_finite and b.has_finite:
        lows = a.low + b.low, math.isinf(a.low) or math.isinf(b.low)
        highs = a.high + b.high, math.isinf(a.high) or math.isinf(b.high)
        low, high, minus, plus = between(form, (lows, highs))
    # Of two values of one sign neither cancels the other: one that a guard keeps from 0 keeps the sum from it.
    same_sign = (a.low >= 0 and b.low >= 0) or (a.high <= 0 and b.high <= 0)
    return Interval(
        low,
        high,
        minus_inf=minus or (a.minus_inf and _not_only(b, INF)) or (b.minus_inf and _not_only(a, INF)),
        plus_inf=plus or (a.plus_inf and _not_only(b, -INF)) or (b.plus_inf and _not_only(a, -INF)),
        nan=a.nan or b.nan or (a.plus_inf and b.minus_inf) or (a.minus_inf and b.plus_inf),
        nonzero=same_sign and (a.nonzero or b.nonzero),
        integer=a.integer and b.integer,
    )


def _not_only(a: Interval, infinity: float) -> bool:
    return a.has_finite or (a.minus_inf if infinity > 0 else a.plus_inf)


def sub(form: Format, a: Interval, b: Interval) -> Interval:
    """The difference `a - b`."""
    return add(form, a, neg(b))


def mul(form: Format, a: Interval, b: Interval) -> Interval:
    """The product `a * b`; 0 * inf is NaN."""
    low, high, minus, plus = NOWHERE
    if a.has_finite and b.has_finite:
        low, high, minus, plus = between(form, [_product(x, y) for x in (a.low, a.high) for y in (b.low, b.high)])
    nan = a.nan or b.nan
    for one, other in ((a, b), (b, a)):
        if one.minus_inf or one.plus_inf:
            plus = plus or (one.plus_inf and other.has_positive) or (one.minus_inf and other.has_negative)
            minus = minus or (one.plus_inf and other.has_negative) or (one.minus_inf and other.has_positive)
            nan = nan or other.has_zero
    whole = a.integer and b.integer
    return Interval(low, high, minus, plus, nan, whole and not (a.has_zero or b.has_zero), whole)


def _product(x: float, y: float) -> End:
    # An end without a known bound is a finite value: 0 times it is 0.
    return (0.0 if 0 in (x, y) else x * y), math.isinf(x) or math.isinf(y)


def div(form: Format, a: Interval, b: Interval) -> Interval:
    """The quotient `a / b`; x / 0 is infinite, 0 / 0 is NaN."""
    ends = [
        _quotient(x, y, side)
        for side, y_low, y_high in ((-1.0, b.low, min(b.high, 0.0)), (1.0, max(b.low, 0.0), b.high))
        if y_low <= y_high and not y_low == y_high == 0 and a.has_finite
        for x in (a.low, a.high)
        for y in (y_low, y_high)
    ]
    if a.has_finite and _is_infinite(b):
        ends.append((0.0, True))
    low, high, minus, plus = between(form, ends)
    if b.has_zero or _is_infinite(a):
        # A zero beside negative values may have been rounded from either side.
        positive, negative = b.has_positive or b.has_zero, b.has_negative
        minus = minus or _infinite(a, b, same_sign=(negative, positive))
        plus = plus or _infinite(a, b, same_sign=(positive, negative))
    nan = a.nan or b.nan or (a.has_zero and b.has_zero) or (_is_infinite(a) and _is_infinite(b))
    # Even by the largest number, what is not tiny leaves something.
    least = max(a.low, -a.high) if a.has_finite else 0.0
    nonzero = least > 0 and not _is_infinite(b) and form.round(min(least, form.max) / form.max) > 0
    return Interval(low, high, minus, plus, nan, nonzero)


def _quotient(x: float, y: float, side: float) -> End:
    if x == 0 or math.isinf(y):
        return 0.0, True
    if y == 0:
        return math.copysign(INF, x * side), True
    return x / y, math.isinf(x)


def _is_infinite(a: Interval) -> bool:
    return a.minus_inf or a.plus_inf


def _infinite(a: Interval, b: Interval, *, same_sign: tuple[bool, bool]) -> bool:
    """Whether an infinite quotient of the sign asked for is reached: by a zero of b, or by an infinity of a."""
    with_positive, with_negative = same_sign
    above = a.has_positive if b.has_zero else a.plus_inf and b.has_finite
    below = a.has_negative if b.has_zero else a.minus_inf and b.has_finite
    return (above and with_positive) or (below and with_negative)


def maximum(a: Interval, b: Interval) -> Interval:
    """The greater of two values; NaN if either is."""
    if a.is_empty or b.is_empty:
        return EMPTY
    parts = []
    if a.has_finite and b.has_finite:
        parts.append((max(a.low, b.low), max(a.high, b.high)))
    if a.minus_inf and b.has_finite:
        parts.append((b.low, b.high))
    if b.minus_inf and a.has_finite:
        parts.append((a.low, a.high))
    return Interval(
        min((low for low, _ in parts), default=INF),
        max((high for _, high in parts), default=-INF),
        minus_inf=a.minus_inf and b.minus_inf,
        plus_inf=a.plus_inf or b.plus_inf,
        nan=a.nan or b.nan,
        nonzero=not ((a.has_zero and b.least <= 0) or (b.has_zero and a.least <= 0)),
        integer=(a.integer or a.greatest < b.least) and (b.integer or b.greatest < a.least),
    )


def minimum(a: Interval, b: Interval) -> Interval:
    """The smaller of two values; NaN if either is."""
    return neg(maximum(neg(a), neg(b)))


def fmax(a: Interval, b: Interval) -> Interval:
    """The greater of two values; the other one if one is NaN."""
    numbers = maximum(a.without_nan(), b.without_nan())
    numbers = numbers.join(b.without_nan()) if a.nan else numbers
    numbers = numbers.join(a.without_nan()) if b.nan else numbers
    return replace(numbers, nan=a.nan and b.nan)


def fmin(a: Interval, b: Interval) -> Interval:
    """The smaller of two values; the other one if one is NaN."""
    return neg(fmax(neg(a), neg(b)))


def clamp(form: Format, a: Interval, low: Interval | None, high: Interval | None) -> Interval:
    """What `a` is when held between two bounds, which are rounded first: clamp_min(1e-8) is clamp_min(0) in half. NaN passes."""
    if low is not None:
        a = maximum(a, rounded(form, low))
    return a if high is None else minimum(a, rounded(form, high))


def rounded(form: Format, a: Interval) -> Interval:
    """The values of `a` once stored in `form`: too large ones are infinite, too small ones 0."""
    if not a.has_finite:
        return a
    low, high, minus, plus = between(form, [(end, math.isinf(end)) for end in (a.low, a.high)])
    whole = a.integer
    return Interval(low, high, minus or a.minus_inf, plus or a.plus_inf, a.nan, whole and a.nonzero, whole)


def square(form: Format, a: Interval) -> Interval:
    """The product of `a` with itself, which is never negative."""
    size = absolute(a)
    # The same value twice: an infinity never meets a 0 here.
    finite = size.finite()
    squared = mul(form, finite, finite)
    if a.nan or size.plus_inf:
        return replace(squared, plus_inf=squared.plus_inf or size.plus_inf, nan=a.nan)
    return squared
