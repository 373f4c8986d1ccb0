"""Why an operation broke, from the values that went into it: `other` is 0 in 3 of 12 places."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanlint.trace.measure import Stats

FORMATS = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}


def largest_of(dtype: str) -> float:
    """The largest finite value of a format; infinity for one we do not know."""
    return torch.finfo(FORMATS[dtype]).max if dtype in FORMATS else math.inf


def count(part: int, whole: int) -> str:
    """`3 of 12 values`, or `the value` where there is one."""
    return "the value" if whole == 1 else f"{part:,} of {whole:,} values"


def number(value: float | None) -> str:
    """Four digits are enough to recognise a value by."""
    return "-" if value is None else f"{value:.4g}"


def _zeros(stats: Stats, result: str) -> str:
    verb = "is" if stats.count == 1 else "are"
    return f"{count(stats.zeros, stats.count)} of `{stats.name}` {verb} 0, {result}" if stats.zeros else ""


def _named(inputs: Sequence[Stats], *names: str) -> Stats | None:
    return next((stats for stats in inputs if stats.name in names), inputs[-1] if inputs else None)


def _division(inputs: Sequence[Stats]) -> str:
    divisor = _named(inputs, "other")
    if divisor is None:
        return ""
    if divisor.zeros:
        return _zeros(divisor, "and it divides")
    return f"the smallest divisor is {number(divisor.smallest)}, and the quotient leaves {inputs[0].dtype}"


def _logarithm(inputs: Sequence[Stats]) -> str:
    stats = inputs[0]
    if stats.negative:
        return f"{count(stats.negative, stats.count)} of the argument < 0, whose logarithm is NaN"
    return _zeros(stats, "whose logarithm is -inf")


def _root(inputs: Sequence[Stats]) -> str:
    stats = inputs[0]
    if stats.negative:
        return f"{count(stats.negative, stats.count)} of the argument < 0 (down to {number(stats.low)})"
    return _zeros(stats, "and the root divides")


def _exponential(inputs: Sequence[Stats]) -> str:
    limit = math.log(largest_of(inputs[0].dtype))
    return f"the exponent reaches {number(inputs[0].high)}; {inputs[0].dtype} overflows above {limit:.4g}"


def _softmax(inputs: Sequence[Stats]) -> str:
    stats = inputs[0]
    if stats.below:
        return f"a whole row is -inf ({count(stats.below, stats.count)} are)"
    return "a row holds +inf, and inf - inf is NaN" if stats.above else ""


def _domain(inputs: Sequence[Stats]) -> str:
    return f"the argument reaches [{number(inputs[0].low)}, {number(inputs[0].high)}], past the end of the domain"


def _power(inputs: Sequence[Stats]) -> str:
    stats = inputs[0]
    if stats.zeros:
        return _zeros(stats, "to a power that divides")
    if stats.negative:
        return f"{count(stats.negative, stats.count)} of the base < 0"
    return _overflow(inputs)


def _average(inputs: Sequence[Stats]) -> str:
    if inputs[0].count == 0:
        return "there is nothing to take the mean of: the tensor is empty"
    return _overflow(inputs)


def _spread(inputs: Sequence[Stats]) -> str:
    return "a standard deviation of a single value divides by 0" if inputs[0].count <= 1 or 1 in inputs[0].shape else ""


def _overflow(inputs: Sequence[Stats]) -> str:
    stats = max((stats for stats in inputs if stats.high is not None), key=lambda stats: stats.largest, default=None)
    return f"`{stats.name}` reaches {number(stats.largest)}, and the result leaves {inputs[0].dtype}" if stats else ""


def _cast(inputs: Sequence[Stats]) -> str:
    return f"values up to {number(inputs[0].largest)} do not fit the smaller format"


REASONS: dict[str, Callable[[Sequence[Stats]], str]] = {
    **dict.fromkeys(("div", "div_", "true_divide", "reciprocal", "floor_divide", "remainder", "fmod"), _division),
    **dict.fromkeys(("log", "log_", "log2", "log10", "log1p", "xlogy"), _logarithm),
    **dict.fromkeys(("sqrt", "sqrt_", "rsqrt", "rsqrt_"), _root),
    **dict.fromkeys(("exp", "exp_", "exp2", "expm1", "sinh", "cosh"), _exponential),
    **dict.fromkeys(("_softmax", "_log_softmax", "_safe_softmax"), _softmax),
    **dict.fromkeys(("acos", "asin", "atanh", "acosh", "logit", "erfinv"), _domain),
    **dict.fromkeys(("pow", "pow_"), _power),
    **dict.fromkeys(("mean", "nanmean"), _average),
    **dict.fromkeys(("std", "var", "std_mean", "var_mean"), _spread),
    "_to_copy": _cast,
}
SLOPES = {
    "sqrt": "the slope of the root at 0 is infinite",
    "linalg_vector_norm": "the norm has no slope at 0",
    "norm": "the norm has no slope at 0",
    "std": "a standard deviation has no slope where it is 0",
    "pow": "the slope of this power at 0 is infinite",
    "log": "the slope of the logarithm at 0 is infinite",
    "acos": "the slope of acos at 1 and -1 is infinite",
    "asin": "the slope of asin at 1 and -1 is infinite",
    "_cdist_forward": "a distance has no slope where it is 0",
    "exp": "exp overflowed in the forward pass, and its slope is its value",
    "div": "the divisor is 0 in the forward pass, and the slope divides by it",
}


def reason_for(operation: str, inputs: Sequence[Stats]) -> str:
    """One sentence about the values; empty if they tell nothing."""
    if not inputs:
        return ""
    mixed = [stats for stats in inputs if stats.above or stats.below]
    if mixed and operation not in REASONS:
        return f"`{mixed[0].name}` holds infinities, and this operation makes NaN of them"
    return REASONS.get(operation, _overflow)(inputs)


def slope_reason(forward: str, operation: str, inputs: Sequence[Stats]) -> str:
    """The same for an operation of the backward pass, which belongs to `forward`."""
    return SLOPES.get(forward.rstrip("_")) or reason_for(operation, inputs)
