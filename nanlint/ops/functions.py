"""The elementwise functions of one argument: monotone ones as curves, and those with one turning point as valleys."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nanlint.ops.curves import Curve, about
from nanlint.ops.interval import FINITE, INF, NONNEGATIVE, SIGNED_UNIT, UNIT, Interval, point

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.ops.formats import Format

NONPOSITIVE = Interval(-INF, 0.0)


def _limited(function: Callable[[float], float], poles: dict[float, float] | None = None) -> Callable[[float], float]:
    """`function` with its limits where Python raises: `poles` first, then the infinity of the argument's sign."""

    def value(x: float) -> float:
        if poles is not None and x in poles:
            return poles[x]
        try:
            return function(x)
        except OverflowError:
            return math.copysign(INF, x)

    return value


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else math.exp(x) if x > -INF else 0.0


def _softplus(x: float) -> float:
    return x if x > 40 else math.log1p(math.exp(x))


SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772

CURVES: dict[str, Curve] = {
    "torch.acos": Curve(math.acos, SIGNED_UNIT, NONNEGATIVE, falling=True),
    "torch.acosh": Curve(_limited(math.acosh), Interval(1.0, INF), NONNEGATIVE),
    "torch.asin": Curve(math.asin, SIGNED_UNIT),
    "torch.asinh": Curve(math.asinh),
    "torch.atan": Curve(math.atan),
    "torch.atanh": Curve(_limited(math.atanh, {-1.0: -INF, 1.0: INF}), SIGNED_UNIT),
    "torch.ceil": Curve(lambda x: x if math.isinf(x) else float(math.ceil(x)), exact=True),
    "torch.erf": Curve(math.erf, image=SIGNED_UNIT),
    "torch.erfc": Curve(math.erfc, image=Interval(0.0, 2.0), falling=True),
    "torch.exp": Curve(_limited(math.exp), image=NONNEGATIVE, overflows=True),
    "torch.exp2": Curve(_limited(lambda x: math.pow(2.0, x)), image=NONNEGATIVE, overflows=True),
    "torch.expm1": Curve(_limited(math.expm1), image=Interval(-1.0, INF), overflows=True),
    "torch.floor": Curve(lambda x: x if math.isinf(x) else float(math.floor(x)), exact=True),
    "torch.log": Curve(_limited(math.log, {0.0: -INF}), NONNEGATIVE),
    "torch.log10": Curve(_limited(math.log10, {0.0: -INF}), NONNEGATIVE),
    "torch.log1p": Curve(_limited(math.log1p, {-1.0: -INF}), Interval(-1.0, INF)),
    "torch.log2": Curve(_limited(math.log2, {0.0: -INF}), NONNEGATIVE),
    "torch.logit": Curve(_limited(lambda x: math.log(x) - math.log1p(-x), {0.0: -INF, 1.0: INF}), UNIT),
    "torch.nn.functional.logsigmoid": Curve(lambda x: -_softplus(-x), image=NONPOSITIVE),
    "torch.round": Curve(lambda x: x if math.isinf(x) else float(round(x)), exact=True),
    "torch.rsqrt": Curve(_limited(lambda x: 1 / math.sqrt(x), {0.0: INF}), NONNEGATIVE, NONNEGATIVE, falling=True),
    "torch.selu": Curve(lambda x: SELU_SCALE * (x if x > 0 else SELU_ALPHA * math.expm1(x))),
    "torch.sigmoid": Curve(_sigmoid, image=UNIT),
    "torch.sinh": Curve(_limited(math.sinh), overflows=True),
    "torch.sqrt": Curve(math.sqrt, NONNEGATIVE, NONNEGATIVE, exact=True),
    "torch.tanh": Curve(math.tanh, image=SIGNED_UNIT),
    "torch.trunc": Curve(lambda x: x if math.isinf(x) else float(math.trunc(x)), exact=True),
}
"""The monotone functions."""


@dataclass(frozen=True, slots=True)
class Valley:
    """A function that falls down to `turn` and rises from there; `value` returns the limit at infinities."""

    value: Callable[[float], float]
    turn: float
    domain: Interval = FINITE
    overflows: bool = False

    def apply(self, form: Format, a: Interval) -> Interval:
        """What the function makes of `a`: the two monotone sides, joined."""
        below, above = Interval(-INF, self.turn), Interval(self.turn, INF)
        # The turning point itself is a value of both sides; a guard against 0 is not one against it.
        falling = Curve(self.value, self.domain.meet(below), falling=True, overflows=self.overflows)
        rising = Curve(self.value, self.domain.meet(above), overflows=self.overflows)
        finite = replace(a.finite(), nonzero=False)
        sides = [
            side.apply(form, part).without_nan()
            for side, part in ((falling, finite.meet(below)), (rising, finite.meet(above)))
        ]
        result = replace(sides[0].join(sides[1]), nan=a.nan or not a.finite().is_subset(self.domain))
        # On the way to an infinity some of these take inf * 0.
        if a.plus_inf:
            result = replace(result.join(point(INF)), nan=True)
        if a.minus_inf:
            limit = about(form, self.value(-INF)) if self.domain.low == -INF else point(math.nan)
            result = replace(result.join(limit), nan=True)
        return result


def _gelu(x: float) -> float:
    return 0.0 if x == -INF else x * math.erfc(-x / math.sqrt(2)) / 2


def _silu(x: float) -> float:
    return 0.0 if x == -INF else x * _sigmoid(x)


def _mish(x: float) -> float:
    return 0.0 if x == -INF else x * math.tanh(_softplus(x))


def _hardswish(x: float) -> float:
    return x * min(max(x + 3, 0.0), 6.0) / 6 if x > -3 else 0.0


VALLEYS: dict[str, Valley] = {
    "torch.cosh": Valley(_limited(lambda x: math.cosh(x) if abs(x) < 800 else INF), 0.0, overflows=True),
    "torch.lgamma": Valley(lambda x: math.lgamma(x) if x > 0 else INF, 1.4616321449683623, NONNEGATIVE),
    "torch.nn.functional.gelu": Valley(_gelu, -0.7517915),
    "torch.nn.functional.hardswish": Valley(_hardswish, -1.5),
    "torch.nn.functional.mish": Valley(_mish, -1.1924),
    "torch.nn.functional.silu": Valley(_silu, -1.2784645),
}
"""The functions with one turning point."""
