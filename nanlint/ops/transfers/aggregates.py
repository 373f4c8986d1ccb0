"""Sums, means and products over a number of values that is not known."""

from __future__ import annotations

from nanlint.ops.curves import loosen
from nanlint.ops.formats import FLOAT16, Format
from nanlint.ops.interval import EMPTY, FINITE, INF, NONNEGATIVE, SIGNED_UNIT, UNIT, Interval, point

# More elements than a mean is taken over: 2**24 float32 ones still add up exactly.
MANY = 2.0**24


def total(a: Interval, *, empty: bool = True) -> Interval:
    """The sum of any number of values of `a`; `empty` if there may be none of them."""
    if a.is_empty:
        return point(0.0) if empty else EMPTY
    added = Interval(
        -INF if a.low < 0 else a.low,
        INF if a.high > 0 else a.high,
        a.minus_inf,
        a.plus_inf,
        nan=a.nan or (a.minus_inf and a.plus_inf),
        nonzero=a.nonzero and (a.low >= 0 or a.high <= 0),
        integer=a.integer,
    )
    return added.join(point(0.0)) if empty else added


def average(form: Format, a: Interval, *, empty: bool = True) -> Interval:
    """The mean of any number of values of `a`; NaN of none of them."""
    # Half types add up in float32, so float16 cannot overflow on the way.
    limit = INF if form is FLOAT16 else form.max / MANY
    low, high = (loosen(form, loosen(form, end, way), way) for end, way in ((a.low, -1.0), (a.high, 1.0)))
    return Interval(
        form.round(low),
        form.round(high),
        a.minus_inf or -INF < a.low < -limit,
        a.plus_inf or limit < a.high < INF,
        nan=a.nan or empty or (a.minus_inf and a.plus_inf),
    )


def product(a: Interval, *, empty: bool = True) -> Interval:
    """The product of any number of values of `a`; 1 of none of them."""
    if a.is_empty:
        return point(1.0) if empty else EMPTY
    infinite = a.minus_inf or a.plus_inf
    if a.has_finite and a.low >= 1:
        finite = Interval(a.low, 1.0 if a.high == 1 else INF)
    elif a.is_subset(UNIT):
        finite = Interval(0.0, a.high)
    elif a.low >= 0:
        finite = NONNEGATIVE
    else:
        finite = SIGNED_UNIT if a.is_subset(SIGNED_UNIT) else FINITE
    signed = a.has_negative
    multiplied = Interval(
        finite.low if a.has_finite else INF,
        finite.high if a.has_finite else -INF,
        minus_inf=infinite and signed,
        plus_inf=infinite,
        nan=a.nan or (infinite and a.has_finite and a.low < 1),
        integer=a.integer,
    )
    return multiplied.join(point(1.0)) if empty else multiplied
