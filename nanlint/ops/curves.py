"""Monotone functions lifted to intervals, and powers: exp, log, sqrt and their like in float arithmetic.

Their bounds are rounded outward by what torch's own functions may be off. The values 0, 1 and -1 are exact: exp(x) of
an x <= 0 does not pass 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanlint.ops.arithmetic import NOWHERE, End, absolute, between, div, neg, square
from nanlint.ops.interval import EVERYTHING, FINITE, INF, NONNEGATIVE, Interval, point

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.ops.formats import Format

# torch's transcendental functions are off by no more units in the last place than this.
SLACK = 4


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

    def apply(self, form: Format, a: Interval) -> Interval:
        """What the curve makes of `a`; NaN where `a` leaves the domain."""
        domain, image = self.domain, self.image
        low, high, minus, plus = NOWHERE
        inside = a if domain is FINITE else a.meet(domain)
        if inside.has_finite:
            low, high, minus, plus = between(form, [_end(form, self, inside, outward) for outward in (-1.0, 1.0)])
            low, high = (max(low, image.low), min(high, image.high)) if low <= high else (low, high)
        leaves = a.has_finite and (a.low < domain.low or a.high > domain.high)
        result = Interval(low, high, minus, plus, nan=a.nan or leaves)
        for infinity, is_met, end in ((-INF, a.minus_inf, domain.low), (INF, a.plus_inf, domain.high)):
            if is_met:
                result = result.join(about(form, self.value(infinity) if end == infinity else math.nan))
        return result


def _end(form: Format, curve: Curve, inside: Interval, outward: float) -> End:
    """The curve at the end of `inside` that gives its least (outward -1) or greatest (1) value."""
    x = inside.low if (outward < 0) != curve.falling else inside.high
    if x == 0 and inside.nonzero:
        value = curve.value(form.smallest if inside.high > 0 else -form.smallest)
        # A guard that excludes 0 is not asked about the subnormal values beside it.
        if math.isinf(form.round(value)):
            return math.copysign(INF, value), True
    else:
        value = curve.value(x)
    return (value if curve.exact else loosen(form, value, outward)), math.isinf(x) and not curve.overflows


def loosen(form: Format, value: float, outward: float) -> float:
    """`value` moved outward by what torch's function may be off; 0, 1, -1 and infinities are exact."""
    if value in (0.0, 1.0, -1.0) or math.isinf(value):
        return value
    return value + outward * SLACK * (abs(value) * form.eps + form.smallest)


def about(form: Format, value: float) -> Interval:
    """What torch may return where the exact result is `value`."""
    if not math.isfinite(value):
        return point(value)
    return Interval(form.round(loosen(form, value, -1.0)), form.round(loosen(form, value, 1.0)))


def power(form: Format, a: Interval, exponent: float) -> Interval:
    """The power `a ** exponent` for a number `exponent`."""
    if not math.isfinite(exponent):
        return EVERYTHING
    if exponent == math.floor(exponent):
        return _whole_power(form, a, int(exponent))
    return Curve(lambda x: _pow(x, exponent), NONNEGATIVE, NONNEGATIVE, falling=exponent < 0).apply(form, a)


def _whole_power(form: Format, a: Interval, exponent: int) -> Interval:
    if exponent == 0:
        return point(1.0)
    if exponent == 1:
        return a
    if exponent == -1:
        return div(form, point(1.0), a)
    if exponent < 0:
        return _inverse_power(form, a, exponent)
    if exponent == 2:
        return square(form, a)
    size = absolute(a) if exponent % 2 == 0 else a
    return Curve(lambda x: _pow(x, exponent), image=NONNEGATIVE if size.low >= 0 else FINITE).apply(form, size)


def _inverse_power(form: Format, a: Interval, exponent: int) -> Interval:
    curve = Curve(lambda x: _pow(x, exponent), NONNEGATIVE, NONNEGATIVE, falling=True)
    if exponent % 2 == 0 or not a.has_negative:
        return curve.apply(form, absolute(a))
    half = Interval(0.0, INF, plus_inf=True, nan=True)
    return curve.apply(form, a.meet(half)).join(neg(curve.apply(form, neg(a).meet(half))))


def _pow(x: float, exponent: float) -> float:
    try:
        return math.pow(x, exponent)
    except OverflowError:
        return INF if x > 0 or exponent % 2 == 0 else -INF
    except ValueError:
        return INF
