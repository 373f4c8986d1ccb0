"""Float arithmetic on intervals: what +, *, exp and their like make of every value an operand can have.

Results are rounded to the working format, outward where torch's function is not correctly rounded, so 1 - 1e-8 is 1
in float32 and exp reaches 0. A known bound that overflows sets the bit of its infinity; an end without a known bound
stays one. Every function is sound: whatever torch computes from values of the operands, the result admits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nanlint.ops.formats import FLOAT16, Format
from nanlint.ops.interval import EMPTY, FINITE, INF, NONNEGATIVE, SIGNED_UNIT, UNIT, Interval, point

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# torch's transcendental functions are off by no more units in the last place than this.
SLACK = 4
# More elements than a mean is taken over: 2**24 float32 ones still add up exactly.
MANY = 2.0**24

End = tuple[float, bool]
"""A computed bound, and whether it comes from an end without a known bound."""


def _between(form: Format, ends: Iterable[End]) -> Interval:
    """The rounded hull of computed bounds; a known bound that overflows sets its infinity's bit."""
    low, high, minus, plus = INF, -INF, False, False
    for value, is_open in ends:
        rounded = value if is_open else form.round(value)
        minus = minus or (rounded == -INF and not is_open)
        plus = plus or (rounded == INF and not is_open)
        low, high = min(low, rounded), max(high, rounded)
    return Interval(low, high, minus, plus)


def neg(a: Interval) -> Interval:
    """-a."""
    return Interval(-a.high, -a.low, a.plus_inf, a.minus_inf, a.nan, a.nonzero, a.integer)


def absolute(a: Interval) -> Interval:
    """|a|."""
    infinite = a.minus_inf or a.plus_inf
    if not a.has_finite:
        return Interval(INF, -INF, plus_inf=infinite, nan=a.nan)
    least = 0.0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
    return Interval(least, max(-a.low, a.high), False, infinite, a.nan, a.nonzero, a.integer)


def add(form: Format, a: Interval, b: Interval) -> Interval:
    """a + b."""
    total = EMPTY
    if a.has_finite and b.has_finite:
        lows, highs = (a.low, b.low), (a.high, b.high)
        total = _between(form, [(sum(pair), any(map(math.isinf, pair))) for pair in (lows, highs)])
    # Of two values of one sign neither of which can cancel the other, one that is not 0 keeps the sum from 0.
    same_sign = (a.low >= 0 and b.low >= 0) or (a.high <= 0 and b.high <= 0)
    return replace(
        total,
        minus_inf=total.minus_inf or (a.minus_inf and _not_only(b, INF)) or (b.minus_inf and _not_only(a, INF)),
        plus_inf=total.plus_inf or (a.plus_inf and _not_only(b, -INF)) or (b.plus_inf and _not_only(a, -INF)),
        nan=a.nan or b.nan or (a.plus_inf and b.minus_inf) or (a.minus_inf and b.plus_inf),
        nonzero=same_sign and not (a.has_zero and b.has_zero),
        integer=a.integer and b.integer,
    )


def _not_only(a: Interval, infinity: float) -> bool:
    return a.has_finite or (a.minus_inf if infinity > 0 else a.plus_inf)


def sub(form: Format, a: Interval, b: Interval) -> Interval:
    """a - b."""
    return add(form, a, neg(b))


def mul(form: Format, a: Interval, b: Interval) -> Interval:
    """a * b; 0 * inf is NaN."""
    product = EMPTY
    if a.has_finite and b.has_finite:
        product = _between(form, [_product(x, y) for x in (a.low, a.high) for y in (b.low, b.high)])
    infinite_a, infinite_b = a.minus_inf or a.plus_inf, b.minus_inf or b.plus_inf
    plus = (a.plus_inf and b.has_positive) or (a.minus_inf and b.has_negative)
    plus = plus or (b.plus_inf and a.has_positive) or (b.minus_inf and a.has_negative)
    minus = (a.plus_inf and b.has_negative) or (a.minus_inf and b.has_positive)
    minus = minus or (b.plus_inf and a.has_negative) or (b.minus_inf and a.has_positive)
    return replace(
        product,
        minus_inf=product.minus_inf or minus,
        plus_inf=product.plus_inf or plus,
        nan=a.nan or b.nan or (infinite_a and b.has_zero) or (infinite_b and a.has_zero),
        nonzero=a.integer and b.integer and not (a.has_zero or b.has_zero),
        integer=a.integer and b.integer,
    )


def _product(x: float, y: float) -> End:
    # An end without a known bound is a finite value: 0 times it is 0.
    return (0.0 if 0 in (x, y) else x * y), math.isinf(x) or math.isinf(y)


def div(form: Format, a: Interval, b: Interval) -> Interval:
    """a / b; a zero of b has the sign of the values beside it, 0 / 0 is NaN."""
    ends = [
        _quotient(x, y, side)
        for side, y_low, y_high in ((-1.0, b.low, min(b.high, 0.0)), (1.0, max(b.low, 0.0), b.high))
        if y_low <= y_high and not y_low == y_high == 0 and a.has_finite
        for x in (a.low, a.high)
        for y in (y_low, y_high)
    ]
    quotient = _between(form, ends)
    if a.has_finite and (b.minus_inf or b.plus_inf):
        quotient = quotient.join(point(0.0))
    # Which signs a divisor has, a zero counting for the side the divisor is on.
    positive, negative = b.has_positive or (b.has_zero and b.low >= 0), b.has_negative
    grows = b.has_zero or a.minus_inf or a.plus_inf
    return replace(
        quotient,
        minus_inf=quotient.minus_inf or (grows and _infinite(a, b, same_sign=(negative, positive))),
        plus_inf=quotient.plus_inf or (grows and _infinite(a, b, same_sign=(positive, negative))),
        nan=a.nan or b.nan or (a.has_zero and b.has_zero) or (_is_infinite(a) and _is_infinite(b)),
        nonzero=False,
    )


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
    """a held between two bounds, which are rounded first: clamp_min(1e-8) is clamp_min(0) in half. NaN passes."""
    if low is not None:
        a = maximum(a, rounded(form, low))
    return a if high is None else minimum(a, rounded(form, high))


def rounded(form: Format, a: Interval) -> Interval:
    """The values of `a` once stored in `form`: too large ones are infinite, too small ones 0."""
    if not a.has_finite:
        return a
    stored = _between(form, [(end, math.isinf(end)) for end in (a.low, a.high)])
    return replace(
        stored,
        minus_inf=stored.minus_inf or a.minus_inf,
        plus_inf=stored.plus_inf or a.plus_inf,
        nan=a.nan,
        nonzero=a.nonzero and a.integer,
        integer=a.integer,
    )


def square(form: Format, a: Interval) -> Interval:
    """a * a, which unlike a * b is never negative."""
    size = absolute(a)
    # The same value twice: an infinity never meets a 0 here.
    squared = mul(form, size.finite(), size.finite())
    return replace(squared, plus_inf=squared.plus_inf or size.plus_inf, nan=a.nan)


@dataclass(frozen=True, slots=True)
class Curve:
    """A monotone function: where it is defined, what it can return, and whether it overflows for large arguments.

    `value` is called with infinities too and returns the limit there. `exact` functions are correctly rounded.
    """

    value: Callable[[float], float]
    domain: Interval = FINITE
    image: Interval = FINITE
    falling: bool = False
    overflows: bool = False
    exact: bool = False


def apply(form: Format, curve: Curve, a: Interval) -> Interval:
    """curve(a); NaN where `a` leaves the domain."""
    inside = a.finite().meet(curve.domain.finite())
    ends = [_end(form, curve, inside, outward) for outward in (-1.0, 1.0)] if inside.has_finite else []
    result = _between(form, ends)
    if result.has_finite:
        image = curve.image
        result = replace(result, low=max(result.low, image.low), high=min(result.high, image.high))
    result = replace(result, nan=a.nan or not a.finite().is_subset(curve.domain.finite()))
    if a.minus_inf:
        result = result.join(point(curve.value(-INF) if curve.domain.low == -INF else math.nan))
    if a.plus_inf:
        result = result.join(point(curve.value(INF) if curve.domain.high == INF else math.nan))
    return result


def _end(form: Format, curve: Curve, inside: Interval, outward: float) -> End:
    """The curve at the end of `inside` that gives its least (outward -1) or greatest (1) value."""
    x = inside.low if (outward < 0) != curve.falling else inside.high
    if x == 0 and inside.nonzero:
        x = form.smallest if inside.high > 0 else -form.smallest
    value = curve.value(x)
    return (value if curve.exact else loosen(form, value, outward)), math.isinf(x) and not curve.overflows


def loosen(form: Format, value: float, outward: float) -> float:
    """`value` moved outward by what torch's function may be off; 0, 1, -1 and infinities are exact."""
    if value in (0.0, 1.0, -1.0) or math.isinf(value):
        return value
    return value + outward * SLACK * (abs(value) * form.eps + form.smallest)


def power(form: Format, a: Interval, exponent: float) -> Interval:
    """a ** exponent for a number `exponent`."""
    if exponent == math.floor(exponent):
        return _whole_power(form, a, int(exponent))
    return apply(form, Curve(lambda x: _pow(x, exponent), NONNEGATIVE, NONNEGATIVE, falling=exponent < 0), a)


def _whole_power(form: Format, a: Interval, exponent: int) -> Interval:
    if exponent == 0:
        return point(1.0)
    if exponent == 1:
        return a
    if exponent < 0:
        return div(form, point(1.0), _whole_power(form, a, -exponent))
    if exponent == 2:
        return square(form, a)
    size = absolute(a) if exponent % 2 == 0 else a
    return apply(form, Curve(lambda x: _pow(x, exponent), image=NONNEGATIVE if size.low >= 0 else FINITE), size)


def _pow(x: float, exponent: float) -> float:
    try:
        return x**exponent
    except OverflowError:
        return INF if x > 0 or exponent % 2 == 0 else -INF
    except ZeroDivisionError:
        return INF


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
