"""Range transfers of elementwise arithmetic and of functions of one or two arguments."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.ops.arithmetic import (
    absolute,
    add,
    clamp,
    div,
    fmax,
    fmin,
    maximum,
    minimum,
    mul,
    neg,
    rounded,
    square,
    sub,
)
from nanlint.ops.curves import Curve, apply, power
from nanlint.ops.formats import FLOAT64
from nanlint.ops.functions import CURVES, VALLEYS, Valley
from nanlint.ops.inexact import bounded, signed_like, spoiled, toward_zero, widened
from nanlint.ops.interval import EMPTY, FINITE, INF, NONNEGATIVE, SIGNED_UNIT, TRUTH, UNIT, Interval, point

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.ops.operands import Operands, Transfer


# What a function with poles of either sign returns.
POLES = Interval(-INF, INF, minus_inf=True, plus_inf=True, nan=True)


def _curve(curve: Curve) -> Transfer:
    return lambda given: apply(given.form, curve, given["input"])


def _valley(valley: Valley) -> Transfer:
    return lambda given: valley.apply(given.form, given["input"])


def _factor(given: Operands, name: str, factor: str = "alpha") -> Interval:
    """An operand times the factor that some operations take for it."""
    return given[name] if given.number(factor) == 1 else mul(given.form, given[name], given[factor])


def _add_scaled(given: Operands) -> Interval:
    """Of addcmul and addcdiv: input + value * tensor1 (* or /) tensor2."""
    combine = div if given.operation == "torch.addcdiv" else mul
    left = mul(given.form, given["value"], given["tensor1"])
    return widened(given.form, add(given.form, given["input"], combine(given.form, left, given["tensor2"])), 2)


def _power(given: Operands) -> Interval:
    form = FLOAT64 if given.operation == "torch.float_power" else given.form
    base, exponent = given["input"], given["exponent"]
    number, root = given.number("exponent"), base.constant
    if number is not None:
        return power(form, base, form.round(number))
    if root is not None and root > 0:
        curve = Curve(lambda x: _exponential(root, x), image=NONNEGATIVE, falling=root < 1, overflows=root != 1)
        return apply(form, curve, exponent)
    if base == FINITE:
        return spoiled(FINITE, exponent)  # nothing is known, and nothing is said
    result = NONNEGATIVE if base.least >= 0 else replace(FINITE, nan=True)
    if base.has_zero and exponent.has_negative:
        result = replace(result, plus_inf=True, minus_inf=result.low < 0)
    return spoiled(result, base, exponent)


def _exponential(base: float, x: float) -> float:
    try:
        return math.pow(base, x)
    except OverflowError:
        return INF


def _div(given: Operands) -> Interval:
    quotient = div(given.form, given["input"], given["other"])
    if given.constant("rounding_mode") is None and given.operation != "torch.floor_divide":
        return quotient
    # Rounding moves a quotient by less than 1, down or towards 0; an infinite one turns to NaN.
    moved = widened(given.form, quotient)
    low, high = moved.low - 1, (min(moved.high + 1, 0.0) if moved.high < 0 else moved.high)
    return replace(moved, low=low, high=high, nan=quotient.nan or not quotient.is_finite)


def _remainder(given: Operands) -> Interval:
    number, divisor = given["input"], given["other"]
    signs = number if given.operation == "torch.fmod" else divisor
    size = absolute(divisor).high if divisor.has_finite else INF
    low, high = (-size if signs.has_negative else 0.0), (size if signs.has_positive else 0.0)
    result = spoiled(Interval(low, high) if divisor.is_finite else FINITE, number, divisor)
    return replace(result, nan=result.nan or divisor.has_zero)


def _hypot(given: Operands) -> Interval:
    a, b = absolute(given["input"]), absolute(given["other"])
    longest = max(a.low, b.low) if a.has_finite and b.has_finite else 0.0
    # The longer leg is never longer than the hypotenuse, nor shorter than it by more than a factor of sqrt(2).
    result = widened(given.form, Interval(longest, max(a.high, b.high) * 1.4143))
    return replace(result, plus_inf=result.plus_inf or a.plus_inf or b.plus_inf, nan=a.nan or b.nan)


def _xlogy(given: Operands) -> Interval:
    curve = CURVES["torch.log1p" if given.operation == "torch.special.xlog1py" else "torch.log"]
    factor, other = given["input"], given["other"]
    product = mul(given.form, factor.without_zero(), apply(given.form, curve, other))
    product = product.join(point(0.0)) if factor.has_zero else product
    return replace(widened(given.form, product), nan=product.nan or other.nan)


def _entropy(given: Operands) -> Interval:
    a = given["input"]
    peak = 1 / math.e
    low = 0.0 if a.high <= 1 else -a.high * math.log(a.high) if a.high < INF else -INF
    result = widened(given.form, Interval(low, peak))
    return replace(result, low=min(result.low, 0.0), minus_inf=a.has_negative or not a.is_finite, nan=a.nan)


def _lgamma(given: Operands) -> Interval:
    a = given["input"]
    if a.least >= 0:
        return VALLEYS["torch.lgamma"].apply(given.form, a)
    return spoiled(replace(FINITE, plus_inf=True), a)


def _logaddexp(given: Operands) -> Interval:
    greater = maximum(given["input"], given["other"])
    gain = Interval(0.0, 1.0 if given.operation == "torch.logaddexp2" else math.log(2))
    return widened(given.form, add(given.form, greater, gain))


def _lerp(given: Operands) -> Interval:
    start, end, weight = given["input"], given["end"], given["weight"]
    if weight.is_subset(UNIT):
        return widened(given.form, start.join(end), 2)
    return widened(given.form, add(given.form, start, mul(given.form, weight, sub(given.form, end, start))), 2)


def _nan_to_num(given: Operands) -> Interval:
    a, form = given["input"], given.form
    result = a.finite()
    chosen = ((a.nan, "nan", 0.0), (a.plus_inf, "posinf", form.max), (a.minus_inf, "neginf", form.min))
    for reached, name, default in chosen:
        if reached:
            result = result.join(rounded(form, given[name] if given.given(name) else point(default)))
    return result


def _clamp(given: Operands) -> Interval:
    low, high = (given[name] if given.given(name) else None for name in ("min", "max"))
    return clamp(given.form, given["input"], low, high)


def _sign(given: Operands) -> Interval:
    a = given["input"]
    values = [point(v) for v, has in ((-1.0, a.has_negative), (0.0, a.has_zero or a.nan), (1.0, a.has_positive)) if has]
    result = EMPTY
    for value in values:
        result = result.join(value)
    return replace(result, nan=a.nan)


def _fraction(given: Operands) -> Interval:
    a = given["input"]
    return spoiled(Interval(-1.0 if a.has_negative else 0.0, 1.0 if a.has_positive else 0.0), a)


def _copysign(given: Operands) -> Interval:
    size = absolute(given["input"])
    return size.join(neg(size))


def _logit(given: Operands) -> Interval:
    a, eps, form = given["input"], given.number("eps"), given.form
    if eps is not None:
        a = clamp(form, a, point(eps), point(1 - eps))
    return apply(form, CURVES["torch.logit"], a)


def _sinc(given: Operands) -> Interval:
    return spoiled(widened(given.form, Interval(-0.21723363, 1.0)), given["input"])


def _inverse_error(given: Operands) -> Interval:
    """Of erfinv and ndtri only the sign and the poles are told."""
    a = given["input"]
    start = -1.0 if given.operation == "torch.erfinv" else 0.0
    inside = a.finite().meet(Interval(start, 1.0))
    middle = (start + 1) / 2
    return Interval(
        0.0 if inside.low >= middle else -INF,
        0.0 if inside.high <= middle else INF,
        minus_inf=inside.contains(start),
        plus_inf=inside.contains(1.0),
        nan=a.nan or not a.is_finite or not a.finite().is_subset(Interval(start, 1.0)),
    )


def _ldexp(given: Operands) -> Interval:
    return mul(given.form, given["input"], apply(given.form, CURVES["torch.exp2"], given["other"]))


def _growing(given: Operands) -> Interval:
    """Of i0 (from 1) and erfcx (from 0): positive, and infinite for large arguments."""
    least = 1 - 2 * given.form.eps if given.operation == "torch.i0" else 0.0
    return Interval(least, INF, plus_inf=True, nan=not given["input"].is_finite)


def _normal_share(given: Operands) -> Interval:
    """Ndtr takes 1 + erf: off by a rounding of 1, however small it is."""
    slack = 4 * given.form.eps
    exact = apply(given.form, Curve(lambda x: math.erfc(-x / math.sqrt(2)) / 2, image=UNIT), given["input"])
    return (
        replace(exact, low=max(exact.low - slack, 0.0), high=min(exact.high + slack, 1.0))
        if exact.has_finite
        else exact
    )


def _wave(given: Operands, wave: Callable[[float], float], crest: float) -> Interval:
    """A sine or cosine: of a short stretch its ends, and the crests and troughs between; `crest` is where it is 1."""
    a = given["input"]
    if not a.has_finite or not a.is_finite or not a.high - a.low < math.pi:
        return bounded(-1.0, 1.0)(given)
    turns = range(math.ceil((a.low - crest) / math.pi), math.floor((a.high - crest) / math.pi) + 1)
    ends = [wave(a.low), wave(a.high), *((-1.0) ** turn for turn in turns)]
    return widened(given.form, Interval(min(ends), max(ends)), 2).meet(SIGNED_UNIT)


ELEMENTWISE: dict[str, Transfer] = {
    **{name: _curve(curve) for name, curve in CURVES.items()},
    **{name: _valley(valley) for name, valley in VALLEYS.items()},
    "torch.abs": lambda given: absolute(given["input"]),
    "torch.add": lambda given: add(given.form, given["input"], _factor(given, "other")),
    "torch.addcdiv": _add_scaled,
    "torch.addcmul": _add_scaled,
    "torch.angle": bounded(-math.pi, math.pi),
    "torch.atan2": lambda given: spoiled(
        widened(given.form, Interval(-math.pi, math.pi)), given["input"], given["other"]
    ),
    "torch.clamp": _clamp,
    "torch.clamp_max": _clamp,
    "torch.clamp_min": _clamp,
    "torch.copysign": _copysign,
    "torch.cos": lambda given: _wave(given, math.cos, 0.0),
    "torch.deg2rad": lambda given: widened(given.form, mul(given.form, given["input"], point(math.pi / 180))),
    "torch.digamma": lambda given: spoiled(POLES, given["input"]),
    "torch.div": _div,
    "torch.erfinv": _inverse_error,
    "torch.fill": lambda given: rounded(given.form, given["value"]),
    "torch.float_power": _power,
    "torch.floor_divide": _div,
    "torch.fmax": lambda given: fmax(given["input"], given["other"]),
    "torch.fmin": lambda given: fmin(given["input"], given["other"]),
    "torch.fmod": _remainder,
    "torch.frac": _fraction,
    "torch.heaviside": lambda given: replace(
        TRUTH.join(given["values"]), nan=given["input"].nan or given["values"].nan
    ),
    "torch.hypot": _hypot,
    "torch.i0": _growing,
    "torch.ldexp": _ldexp,
    "torch.lerp": _lerp,
    "torch.lgamma": _lgamma,
    "torch.logaddexp": _logaddexp,
    "torch.logaddexp2": _logaddexp,
    "torch.logit": _logit,
    "torch.maximum": lambda given: maximum(given["input"], given["other"]),
    "torch.minimum": lambda given: minimum(given["input"], given["other"]),
    "torch.mul": lambda given: mul(given.form, given["input"], given["other"]),
    "torch.nan_to_num": _nan_to_num,
    "torch.neg": lambda given: neg(given["input"]),
    "torch.pow": _power,
    "torch.rad2deg": lambda given: widened(given.form, mul(given.form, given["input"], point(180 / math.pi))),
    "torch.reciprocal": lambda given: div(given.form, point(1.0), given["input"]),
    "torch.remainder": _remainder,
    "torch.rsub": lambda given: sub(given.form, given["other"], _factor(given, "input")),
    "torch.sgn": _sign,
    "torch.sign": _sign,
    "torch.sin": lambda given: _wave(given, math.sin, math.pi / 2),
    "torch.nn.functional.softsign": lambda given: spoiled(
        SIGNED_UNIT.meet(signed_like(given["input"])), given["input"]
    ),
    "torch.nn.functional.tanhshrink": toward_zero,
    "torch.sinc": _sinc,
    "torch.special.bessel_j0": bounded(-0.4028, 1.0),
    "torch.special.bessel_j1": bounded(-0.5819, 0.5819),
    "torch.special.entr": _entropy,
    "torch.special.erfcx": _growing,
    "torch.special.i0e": lambda given: replace(UNIT, nan=not given["input"].is_finite),
    "torch.special.i1e": bounded(-0.2191, 0.2191),
    "torch.special.log_ndtr": lambda given: spoiled(Interval(-INF, 0.0), given["input"]),
    "torch.special.ndtr": _normal_share,
    "torch.special.ndtri": _inverse_error,
    "torch.special.xlog1py": _xlogy,
    "torch.square": lambda given: square(given.form, given["input"]),
    "torch.sub": lambda given: sub(given.form, given["input"], _factor(given, "other")),
    "torch.tan": lambda given: spoiled(FINITE, given["input"]),
    "torch.xlogy": _xlogy,
}
"""Arithmetic and functions of one or two arguments."""
