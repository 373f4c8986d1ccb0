"""Range transfers of elementwise arithmetic and of functions of one or two arguments."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import reduce
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
from nanlint.ops.curves import Curve, power
from nanlint.ops.formats import FLOAT64
from nanlint.ops.functions import CURVES, VALLEYS
from nanlint.ops.interval import EMPTY, EVERYTHING, FINITE, INF, NONNEGATIVE, SIGNED_UNIT, TRUTH, UNIT, Interval, point
from nanlint.ops.transfers.inexact import (
    bounded,
    by_name,
    if_finite,
    lifted,
    of_values,
    signed_like,
    spoiled,
    toward_zero,
    widened,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.ops.transfers.operands import Operands, Transfer


def _added(given: Operands) -> Interval:
    """Add, sub and rsub, with the factor that they take for the second of their terms."""
    first, second = (
        (given["other"], given["input"]) if given.operation == "torch.rsub" else (given["input"], given["other"])
    )
    factor = second if given.number("alpha") == 1 else mul(given.form, second, given["alpha"])
    return (add if given.operation == "torch.add" else sub)(given.form, first, factor)


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
        return curve.apply(form, exponent)
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
    product = mul(given.form, factor.without_zero(), curve.apply(given.form, other))
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
    signs = ((-1.0, a.has_negative), (0.0, a.has_zero or a.nan), (1.0, a.has_positive))
    met = [point(sign) for sign, has in signs if has]
    return replace(reduce(Interval.join, met, EMPTY), nan=a.nan)


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
    return CURVES["torch.logit"].apply(form, a)


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
    return mul(given.form, given["input"], CURVES["torch.exp2"].apply(given.form, given["other"]))


def _growing(given: Operands) -> Interval:
    """Of i0 (from 1) and erfcx (from 0): positive, and infinite for large arguments."""
    least = 1 - 2 * given.form.eps if given.operation == "torch.i0" else 0.0
    return Interval(least, INF, plus_inf=True, nan=not given["input"].is_finite)


def _normal_share(given: Operands) -> Interval:
    """Ndtr takes 1 + erf: off by a rounding of 1, however small it is."""
    slack = 4 * given.form.eps
    exact = Curve(lambda x: math.erfc(-x / math.sqrt(2)) / 2, image=UNIT).apply(given.form, given["input"])
    low, high = max(exact.low - slack, 0.0), min(exact.high + slack, 1.0)
    return replace(exact, low=low, high=high) if exact.has_finite else exact


def _wave(given: Operands, wave: Callable[[float], float], crest: float) -> Interval:
    """A sine or cosine: of a short stretch its ends, and the crests and troughs between; `crest` is where it is 1."""
    a = given["input"]
    if not a.has_finite or not a.is_finite or not a.high - a.low < math.pi:
        return bounded(-1.0, 1.0)(given)
    turns = range(math.ceil((a.low - crest) / math.pi), math.floor((a.high - crest) / math.pi) + 1)
    ends = [wave(a.low), wave(a.high), *((-1.0) ** turn for turn in turns)]
    return widened(given.form, Interval(min(ends), max(ends)), 2).meet(SIGNED_UNIT)


ELEMENTWISE: dict[str, Transfer] = {
    **{name: lifted(curve.apply, "input") for name, curve in CURVES.items()},
    **{name: lifted(valley.apply, "input") for name, valley in VALLEYS.items()},
    **by_name(
        {
            "F.softsign": lambda given: spoiled(SIGNED_UNIT.meet(signed_like(given["input"])), given["input"]),
            "F.tanhshrink": toward_zero,
            "abs": of_values(absolute, "input"),
            "add rsub sub": _added,
            "addcdiv addcmul": _add_scaled,
            "angle": bounded(-math.pi, math.pi),
            "atan2": lambda given: spoiled(bounded(-math.pi, math.pi)(given), given["other"]),
            "clamp clamp_max clamp_min": _clamp,
            "copysign": _copysign,
            "cos": lambda given: _wave(given, math.cos, 0.0),
            "deg2rad": lambda given: widened(given.form, mul(given.form, given["input"], point(math.pi / 180))),
            "digamma": if_finite(EVERYTHING),
            "div floor_divide": _div,
            "erfinv special.ndtri": _inverse_error,
            "fill": lifted(rounded, "value"),
            "float_power pow": _power,
            "fmax": of_values(fmax, "input", "other"),
            "fmin": of_values(fmin, "input", "other"),
            "fmod remainder": _remainder,
            "frac": _fraction,
            "heaviside": lambda given: replace(
                TRUTH.join(given["values"]), nan=given["input"].nan or given["values"].nan
            ),
            "hypot": _hypot,
            "i0 special.erfcx": _growing,
            "ldexp": _ldexp,
            "lerp": _lerp,
            "lgamma": _lgamma,
            "logaddexp logaddexp2": _logaddexp,
            "logit": _logit,
            "maximum": of_values(maximum, "input", "other"),
            "minimum": of_values(minimum, "input", "other"),
            "mul": lifted(mul, "input", "other"),
            "nan_to_num": _nan_to_num,
            "neg": of_values(neg, "input"),
            "rad2deg": lambda given: widened(given.form, mul(given.form, given["input"], point(180 / math.pi))),
            "reciprocal": lambda given: div(given.form, point(1.0), given["input"]),
            "sgn sign": _sign,
            "sin": lambda given: _wave(given, math.sin, math.pi / 2),
            "sinc": bounded(-0.21723363, 1.0),
            "special.bessel_j0": bounded(-0.4028, 1.0),
            "special.bessel_j1": bounded(-0.5819, 0.5819),
            "special.entr": _entropy,
            "special.i0e": lambda given: replace(UNIT, nan=not given["input"].is_finite),
            "special.i1e": bounded(-0.2191, 0.2191),
            "special.log_ndtr": if_finite(Interval(-INF, 0.0)),
            "special.ndtr": _normal_share,
            "special.xlog1py xlogy": _xlogy,
            "square": lifted(square, "input"),
            "tan": if_finite(FINITE),
        }
    ),
}
"""Arithmetic and functions of one or two arguments."""
