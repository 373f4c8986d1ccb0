"""Why an operation broke, from the values that went in and what came out: `other` is 0 in 3 of 12 places.

A reason is a sentence and a cause: the word for that kind of breaking, by which `nanlint.trace.advice` finds the rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from nanlint.trace.words import number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nanlint.trace.events import Event
    from nanlint.trace.measure import Stats

FORMATS = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}

ZERO_DIVISOR = "zero divisor"
LOG_OF_ZERO = "log of zero"
LOG_OF_NEGATIVE = "log of negative"
ROOT_OF_NEGATIVE = "root of negative"
ROOT_OF_ZERO = "root of zero"
OUTSIDE_DOMAIN = "outside the domain"
NEGATIVE_BASE = "negative base"
ONE_VALUE = "one value"
NOTHING = "nothing"
MASKED_ROW = "masked row"
EXP_OVERFLOW = "exp overflow"
OVERFLOW = "overflow"
INF_TIMES_ZERO = "inf times zero"
INF_MINUS_INF = "inf minus inf"
DECOMPOSITION = "decomposition"
OPTIMIZER_EPS = "optimizer eps"

Reason = tuple[str, str]
UNKNOWN: Reason = ("", "")


@dataclass(frozen=True, slots=True)
class Broken:
    """An operation with what went in and what came out."""

    operation: str
    inputs: tuple[Stats, ...]
    output: Stats | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    """The plain numbers of the call, by parameter."""

    @classmethod
    def of(cls, event: Event) -> Broken:
        """The operation of an event."""
        numbers: dict[str, float] = {}
        if event.call is not None:
            schema = event.call.function._schema.arguments  # noqa: SLF001 - it has no public name
            pairs = [(part.name, value) for part, value in zip(schema, event.call.arguments, strict=False)]
            named = [*pairs, *event.call.options.items()]
            numbers = {
                name: value for name, value in named if isinstance(value, (int, float)) and not isinstance(value, bool)
            }
        return cls(event.operation, event.inputs, event.output, numbers)

    @property
    def first(self) -> Stats:
        """What the operation was given first."""
        return self.inputs[0]

    @property
    def dtype(self) -> str:
        """The format of the result."""
        return self.output.dtype if self.output is not None else self.first.dtype

    @property
    def is_nan(self) -> bool:
        """Whether NaN came out, and not an infinity alone; also where it is not known."""
        return self.output is None or self.output.nan > 0

    def named(self, *names: str) -> Stats | None:
        """The input of that name."""
        return next((stats for stats in self.inputs if stats.name in names), None)


def largest_of(dtype: str) -> float:
    """The largest finite value of a format; infinity for one we do not know."""
    return torch.finfo(FORMATS[dtype]).max if dtype in FORMATS else math.inf


def count(part: int, whole: int) -> str:
    """`3 of 12 values`, or `the value` where there is one."""
    return "the value" if whole == 1 else f"{part:,} of {whole:,} values"


def _zeros(stats: Stats, result: str) -> str:
    verb = "is" if stats.count == 1 else "are"
    return f"{count(stats.zeros, stats.count)} of `{stats.name}` {verb} 0, {result}" if stats.zeros else ""


def _division(broken: Broken) -> Reason:
    divisor = broken.named("other") or (broken.first if broken.operation.startswith("reciprocal") else None)
    if divisor is None:
        return ("the divisor is 0", ZERO_DIVISOR) if broken.numbers.get("other") == 0 else _overflow(broken)
    if divisor.zeros:
        return _zeros(divisor, "and it divides"), ZERO_DIVISOR
    if divisor.above or divisor.below:
        return "inf / inf is NaN", INF_TIMES_ZERO
    return (
        f"the smallest divisor is {number(divisor.smallest)}, and the quotient leaves {broken.dtype}",
        ZERO_DIVISOR,
    )


def _logarithm(broken: Broken) -> Reason:
    stats = broken.named("other") or broken.first
    least = -1.0 if broken.operation.startswith("log1p") else 0.0
    if stats.low is not None and stats.low < least:
        amount = "" if least else f"{count(stats.negative, stats.count)} of "
        reason = f"{amount}the argument < 0, whose logarithm is NaN"
        return (reason if amount else f"the argument reaches {number(stats.low)}, below -1"), LOG_OF_NEGATIVE
    if least:
        return "the argument reaches -1, and log1p(-1) is -inf", LOG_OF_ZERO
    return _zeros(stats, "whose logarithm is -inf"), LOG_OF_ZERO


def _root(broken: Broken) -> Reason:
    stats = broken.first
    if stats.negative:
        return (
            f"{count(stats.negative, stats.count)} of the argument < 0 (down to {number(stats.low)})",
            ROOT_OF_NEGATIVE,
        )
    return _zeros(stats, "and the root divides"), ZERO_DIVISOR


def _exponential(broken: Broken) -> Reason:
    limit = math.log(largest_of(broken.first.dtype))
    reach = f"the exponent reaches {number(broken.first.high)}"
    return f"{reach}; {broken.first.dtype} overflows above {limit:.4g}", EXP_OVERFLOW


def _softmax(broken: Broken) -> Reason:
    stats = broken.first
    if stats.below:
        return f"a whole row is -inf ({count(stats.below, stats.count)} are)", MASKED_ROW
    return ("a row holds +inf, and inf - inf is NaN", INF_MINUS_INF) if stats.above else UNKNOWN


def _domain(broken: Broken) -> Reason:
    low, high = number(broken.first.low), number(broken.first.high)
    return f"the argument reaches [{low}, {high}], past the end of the domain", OUTSIDE_DOMAIN


def _power(broken: Broken) -> Reason:
    base = broken.named("self") or broken.first
    exponent = broken.numbers.get("exponent")
    if base.zeros and (exponent is None or exponent < 0) and not (base.negative and broken.is_nan):
        return _zeros(base, "to a power that divides"), ZERO_DIVISOR
    if exponent == 0.5 and base.negative:
        return _root(broken)
    if base.negative and broken.is_nan and (exponent is None or exponent != int(exponent)):
        return f"{count(base.negative, base.count)} of the base < 0, and the power is a fraction", NEGATIVE_BASE
    if exponent == 2:
        return f"`{base.name}` reaches {number(base.largest)}, and its square leaves {_limit(broken)}", OVERFLOW
    return _overflow(broken)


def _average(broken: Broken) -> Reason:
    if broken.first.count == 0:
        return "there is nothing to take the mean of: the tensor is empty", NOTHING
    return _overflow(broken)


def _spread(broken: Broken) -> Reason:
    if broken.first.count <= 1 or 1 in broken.first.shape:
        return "a standard deviation of a single value divides by 0", ONE_VALUE
    return _overflow(broken)


def _negative_log_likelihood(broken: Broken) -> Reason:
    if not broken.is_nan:
        return _overflow(broken)
    return "every target is ignored, so the mean is taken of nothing: 0 / 0", NOTHING


def _product(broken: Broken) -> Reason:
    if any(stats.above or stats.below for stats in broken.inputs) or any(map(math.isinf, broken.numbers.values())):
        return "inf * 0 is NaN", INF_TIMES_ZERO
    return _overflow(broken)


def _difference(broken: Broken) -> Reason:
    if sum(1 for stats in broken.inputs if stats.above or stats.below) > 1:
        return "inf - inf is NaN", INF_MINUS_INF
    return _overflow(broken)


def _limit(broken: Broken) -> str:
    return f"{broken.dtype} (largest {number(largest_of(broken.dtype))})"


def _overflow(broken: Broken) -> Reason:
    reached = [stats for stats in broken.inputs if stats.high is not None and stats.dtype in FORMATS]
    if not reached:
        return UNKNOWN
    parts = sorted(reached, key=lambda stats: -stats.largest)[:2]
    text = " and ".join(f"`{stats.name}` reaches {number(stats.largest)}" for stats in parts)
    return f"{text}, and the result leaves {_limit(broken)}", OVERFLOW


def _cast(broken: Broken) -> Reason:
    return f"values up to {number(broken.first.largest)} do not fit {_limit(broken)}", OVERFLOW


def _decomposition(broken: Broken) -> Reason:
    del broken
    return "two of the values are equal or 0, and the slope divides by their difference", DECOMPOSITION


REASONS: dict[str, Callable[[Broken], Reason]] = {
    **dict.fromkeys(("div", "true_divide", "reciprocal", "floor_divide", "remainder", "fmod"), _division),
    **dict.fromkeys(("log", "log2", "log10", "log1p", "xlogy"), _logarithm),
    **dict.fromkeys(("sqrt", "rsqrt"), _root),
    **dict.fromkeys(("exp", "exp2", "expm1", "sinh", "cosh"), _exponential),
    **dict.fromkeys(("_softmax", "_log_softmax", "_safe_softmax"), _softmax),
    **dict.fromkeys(("acos", "asin", "atanh", "acosh", "logit", "erfinv"), _domain),
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), _negative_log_likelihood),
    **dict.fromkeys(("mean", "nanmean"), _average),
    **dict.fromkeys(("std", "var", "std_mean", "var_mean"), _spread),
    **dict.fromkeys(("add", "sub", "rsub"), _difference),
    "mul": _product,
    "pow": _power,
    "_to_copy": _cast,
}
SLOPES: dict[str, Reason] = {
    "sqrt": ("the slope of the root at 0 is infinite", ROOT_OF_ZERO),
    "rsqrt": ("the slope of the inverse root at 0 is infinite", ROOT_OF_ZERO),
    "linalg_vector_norm": ("the norm has no slope at 0", ROOT_OF_ZERO),
    "norm": ("the norm has no slope at 0", ROOT_OF_ZERO),
    "pow": ("the slope of this power at 0 is infinite", ROOT_OF_ZERO),
    "log": ("the slope of the logarithm at 0 is infinite", LOG_OF_ZERO),
    "div": ("the divisor is 0 in the forward pass, and the slope divides by it", ZERO_DIVISOR),
}
"""Where the forward operation was given a 0."""
STEEP: dict[str, Reason] = {
    "std": ("a standard deviation has no slope where it is 0", ROOT_OF_ZERO),
    "acos": ("the slope of acos at 1 and -1 is infinite", OUTSIDE_DOMAIN),
    "asin": ("the slope of asin at 1 and -1 is infinite", OUTSIDE_DOMAIN),
    "_cdist_forward": ("a distance has no slope where it is 0", ROOT_OF_ZERO),
    "exp": ("exp overflowed in the forward pass, and its slope is its value", EXP_OVERFLOW),
    **dict.fromkeys(("_linalg_svd", "_linalg_eigh", "linalg_eig"), _decomposition(Broken("", ()))),
}
"""Whatever it was given."""


def reason_for(broken: Broken) -> Reason:
    """One sentence about the values, and the cause; both empty if they tell nothing."""
    if not broken.inputs:
        return UNKNOWN
    operation = broken.operation.rstrip("_") if not broken.operation.startswith("__") else broken.operation
    mixed = [stats for stats in broken.inputs if stats.above or stats.below]
    if mixed and operation not in REASONS:
        return f"`{mixed[0].name}` holds infinities, and this operation makes NaN of them", INF_TIMES_ZERO
    return REASONS.get(operation, _overflow)(broken)


def slope_reason(backward: Broken, forward: str, forward_inputs: Sequence[Stats]) -> Reason:
    """The same for an operation of the backward pass, which belongs to `forward`."""
    name = forward.rstrip("_")
    # `div` breaks where its divisor is 0, the others where their argument is.
    asked = [stats for stats in forward_inputs if name != "div" or stats.name == "other"]
    if name in SLOPES and (not asked or any(stats.zeros for stats in asked)):
        return SLOPES[name]
    return STEEP.get(name) or reason_for(backward)
