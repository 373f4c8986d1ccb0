"""What an operation returns, from what its operands can be: one entry per operation, in float arithmetic.

An operation that is not here returns FINITE: some number, nothing more is said. Every entry is sound for tensors: whatever element torch
computes from operands in their ranges, the result admits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from nanlint.ops import aggregates, arithmetic
from nanlint.ops.curves import Curve, apply, power
from nanlint.ops.formats import Format
from nanlint.ops.interval import (
    COUNT,
    FINITE,
    INF,
    NONNEGATIVE,
    SIGNED_UNIT,
    TRUTH,
    UNIT,
    Interval,
    point,
)


@dataclass(frozen=True, slots=True)
class Operands:
    """The ranges of a call's operands, the constants among its arguments, and the format it computes in."""

    ranges: Mapping[str, Interval]
    constants: Mapping[str, object]
    form: Format

    def __getitem__(self, name: str) -> Interval:
        return self.ranges.get(name, FINITE)

    def number(self, name: str) -> float | None:
        """The argument `name`, if it is a number that is written down."""
        value = self.constants.get(name)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


Transfer = Callable[[Operands], Interval]


def transfer(operation: str, ranges: Mapping[str, Interval], constants: Mapping[str, object], form: Format) -> Interval:
    """Every number that the result of `operation` can hold."""
    entry = TRANSFER.get(operation)
    return entry(Operands(ranges, constants, form)) if entry is not None else FINITE


def _curve(
    value: Callable[[float], float], domain: Interval = FINITE, image: Interval = FINITE, **how: bool
) -> Transfer:
    curve = Curve(value, domain, image, **how)
    return lambda given: apply(given.form, curve, given["input"])


def _exp(x: float) -> float:
    return INF if x > 1000 else math.exp(x)


def _log(x: float) -> float:
    return -INF if x == 0 else INF if x == INF else math.log(x)


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def _softplus(x: float) -> float:
    return x if x > 30 else math.log1p(math.exp(x))


def _log_sigmoid(x: float) -> float:
    return -_softplus(-x)


_ABOVE_MINUS_ONE = Interval(-1.0, INF)
_AT_LEAST_ONE = Interval(1.0, INF)
_NOT_POSITIVE = Interval(-INF, 0.0)
_SLIGHTLY_PAST_ONE = Interval(-1.001, 1.001)


def _same(given: Operands) -> Interval:
    return given["input"]


def _cast(given: Operands) -> Interval:
    return arithmetic.rounded(given.form, given["input"])


def _always(known: Interval) -> Transfer:
    return lambda given: replace(known, nan=known.nan or given["input"].nan)


def _sum(given: Operands) -> Interval:
    return aggregates.total(given["input"])


def _mean(given: Operands) -> Interval:
    # An empty selection is told by the rule that is about it, not by every mean.
    return aggregates.average(given.form, given["input"], empty=False)


def _largest(given: Operands) -> Interval:
    other = given.ranges.get("other")
    return arithmetic.maximum(given["input"], other) if other is not None else given["input"]


def _smallest(given: Operands) -> Interval:
    other = given.ranges.get("other")
    return arithmetic.minimum(given["input"], other) if other is not None else given["input"]


def _clamp(given: Operands) -> Interval:
    low = given.ranges.get("min") if given.constants.get("min", 0) is not None else None
    high = given.ranges.get("max") if given.constants.get("max", 0) is not None else None
    return arithmetic.clamp(given.form, given["input"], low, high)


def _power(given: Operands) -> Interval:
    exponent = given.number("exponent")
    if exponent is not None:
        return power(given.form, given["input"], exponent)
    base, by = given["input"], given["exponent"]
    if base.low > 0 or (base.low >= 0 and base.nonzero):
        return NONNEGATIVE
    return NONNEGATIVE if base.low >= 0 and by.low >= 0 else FINITE


def _dropout(given: Operands) -> Interval:
    # Kept elements are scaled up, the others are 0.
    known = given["input"].join(point(0.0))
    low, high = (-INF if known.low < 0 else known.low), (INF if known.high > 0 else known.high)
    return replace(known, low=low, high=high, integer=False)


def _relu(given: Operands) -> Interval:
    return arithmetic.maximum(given["input"], point(0.0))


def _norm(given: Operands) -> Interval:
    return replace(NONNEGATIVE, nan=given["input"].nan)


def _filled(given: Operands) -> Interval:
    return given["input"].join(given["value"])


def _full(given: Operands) -> Interval:
    return given["fill_value"]


def _picked(given: Operands) -> Interval:
    return given["input"].join(given["other"])


def _nan_to_num(given: Operands) -> Interval:
    known = given["input"]
    fill = given.number("nan") or 0.0
    clean = Interval(known.low, known.high, integer=known.integer)
    if known.nan:
        clean = clean.join(point(fill))
    if known.minus_inf or known.plus_inf:
        clean = clean.join(
            Interval(given.form.min if known.minus_inf else 0.0, given.form.max if known.plus_inf else 0.0)
        )
    return clean


def _lerp(given: Operands) -> Interval:
    return given["input"].join(given["end"]) if given["weight"].is_subset(UNIT) else FINITE


def _arange(given: Operands) -> Interval:
    start, step = given.number("start"), given.number("step")
    return Interval(start or 0.0, INF) if step is None or step > 0 else FINITE


def _linspace(given: Operands) -> Interval:
    return given["start"].join(given["end"])


def _uniform(given: Operands) -> Interval:
    low, high = given.number("from"), given.number("to")
    return Interval(0.0 if low is None else low, 1.0 if high is None else high)


def _xlogy(given: Operands) -> Interval:
    return FINITE if not given["other"].has_negative else replace(FINITE, nan=True)


TRANSFER: dict[str, Transfer] = {
    # arithmetic
    "torch.add": lambda given: arithmetic.add(given.form, given["input"], given["other"]),
    "torch.sub": lambda given: arithmetic.sub(given.form, given["input"], given["other"]),
    "torch.mul": lambda given: arithmetic.mul(given.form, given["input"], given["other"]),
    "torch.div": lambda given: arithmetic.div(given.form, given["input"], given["other"]),
    "torch.neg": lambda given: arithmetic.neg(given["input"]),
    "torch.abs": lambda given: arithmetic.absolute(given["input"]),
    "torch.square": lambda given: arithmetic.square(given.form, given["input"]),
    "torch.reciprocal": lambda given: arithmetic.div(given.form, point(1.0), given["input"]),
    "torch.pow": _power,
    "torch.float_power": _power,
    "torch.maximum": _largest,
    "torch.minimum": _smallest,
    "torch.max": _largest,
    "torch.min": _smallest,
    "torch.fmax": lambda given: arithmetic.fmax(given["input"], given["other"]),
    "torch.fmin": lambda given: arithmetic.fmin(given["input"], given["other"]),
    "torch.clamp": _clamp,
    "torch.clamp_min": _clamp,
    "torch.clamp_max": _clamp,
    "torch.lerp": _lerp,
    "torch.hypot": _norm,
    "torch.xlogy": _xlogy,
    "torch.nan_to_num": _nan_to_num,
    # curves
    "torch.exp": _curve(_exp, image=NONNEGATIVE, overflows=True),
    "torch.exp2": _curve(lambda x: INF if x > 1100 else 2.0**x, image=NONNEGATIVE, overflows=True),
    "torch.expm1": _curve(lambda x: INF if x > 1000 else math.expm1(x), image=_ABOVE_MINUS_ONE, overflows=True),
    "torch.cosh": lambda given: replace(_AT_LEAST_ONE, plus_inf=True, nan=given["input"].nan),
    "torch.log": _curve(_log, NONNEGATIVE),
    "torch.log2": _curve(lambda x: _log(x) / math.log(2), NONNEGATIVE),
    "torch.log10": _curve(lambda x: _log(x) / math.log(10), NONNEGATIVE),
    "torch.log1p": _curve(lambda x: _log(1 + x), _ABOVE_MINUS_ONE),
    "torch.sqrt": _curve(math.sqrt, NONNEGATIVE, NONNEGATIVE, exact=True),
    "torch.rsqrt": _curve(lambda x: INF if x == 0 else 1 / math.sqrt(x), NONNEGATIVE, NONNEGATIVE, falling=True),
    "torch.sigmoid": _curve(_sigmoid, image=UNIT),
    "torch.tanh": _curve(math.tanh, image=SIGNED_UNIT),
    "torch.nn.functional.softplus": _curve(_softplus, image=NONNEGATIVE),
    "torch.nn.functional.logsigmoid": _curve(_log_sigmoid, image=_NOT_POSITIVE),
    "torch.atan": _curve(math.atan, image=Interval(-1.5708, 1.5708)),
    "torch.erf": _curve(math.erf, image=SIGNED_UNIT),
    "torch.erfc": _curve(math.erfc, image=Interval(0.0, 2.0), falling=True),
    "torch.sin": _always(SIGNED_UNIT),
    "torch.cos": _always(SIGNED_UNIT),
    "torch.sign": _always(Interval(-1.0, 1.0, integer=True)),
    "torch.relu": _relu,
    "torch.nn.functional.relu6": lambda given: arithmetic.minimum(_relu(given), point(6.0)),
    "torch.nn.functional.hardtanh": _always(FINITE),
    "torch.nn.functional.hardsigmoid": _always(UNIT),
    "torch.nn.functional.softsign": _always(SIGNED_UNIT),
    # shares and log-probabilities
    "torch.softmax": _always(UNIT),
    "torch.nn.functional.softmin": _always(UNIT),
    "torch.nn.functional.gumbel_softmax": _always(UNIT),
    "torch.log_softmax": _always(_NOT_POSITIVE),
    "torch.cosine_similarity": _always(_SLIGHTLY_PAST_ONE),
    "torch.nn.functional.normalize": _always(SIGNED_UNIT),
    "torch.nn.functional.one_hot": _always(TRUTH),
    # reductions
    "torch.sum": _sum,
    "torch.nansum": _sum,
    "torch.cumsum": _sum,
    "torch.mean": _mean,
    "torch.nanmean": _mean,
    "torch.median": _same,
    "torch.amax": _same,
    "torch.amin": _same,
    "torch.cummax": _same,
    "torch.cummin": _same,
    "torch.sort": _same,
    "torch.topk": _same,
    "torch.prod": lambda given: aggregates.product(given["input"]),
    "torch.cumprod": lambda given: aggregates.product(given["input"]),
    "torch.var": _norm,
    "torch.std": _norm,
    "torch.norm": _norm,
    "torch.linalg.norm": _norm,
    "torch.linalg.vector_norm": _norm,
    "torch.linalg.matrix_norm": _norm,
    "torch.dist": _norm,
    "torch.cdist": _norm,
    "torch.pdist": _norm,
    "torch.pairwise_distance": lambda given: replace(NONNEGATIVE, nan=given["x1"].nan),
    "torch.count_nonzero": _always(COUNT),
    "torch.bincount": lambda given: NONNEGATIVE if "weights" in given.ranges else COUNT,
    "torch.argmax": _always(COUNT),
    "torch.argmin": _always(COUNT),
    # losses
    "torch.nn.functional.mse_loss": _norm,
    "torch.nn.functional.l1_loss": _norm,
    "torch.nn.functional.smooth_l1_loss": _norm,
    "torch.nn.functional.huber_loss": _norm,
    "torch.nn.functional.cross_entropy": _norm,
    "torch.nn.functional.binary_cross_entropy": _norm,
    "torch.nn.functional.binary_cross_entropy_with_logits": _norm,
    # tests
    **dict.fromkeys(
        (
            "torch.eq", "torch.ne", "torch.lt", "torch.le", "torch.gt", "torch.ge", "torch.isnan", "torch.isinf",
            "torch.isfinite", "torch.logical_and", "torch.logical_or", "torch.logical_not", "torch.any", "torch.all",
        ),
        _always(TRUTH),
    ),
    # selections and shapes
    "torch.where": _picked,
    "torch.masked_fill": _filled,
    "torch.nn.functional.dropout": _dropout,
    **dict.fromkeys(
        (
            "torch.reshape", "torch.flatten", "torch.squeeze", "torch.unsqueeze", "torch.permute", "torch.transpose",
            "torch.t", "torch.clone", "torch.detach", "torch.gather", "torch.index_select", "torch.narrow", "torch.select",
            "torch.flip", "torch.roll", "torch.repeat_interleave", "torch.tile", "torch.masked_select", "torch.take",
            "torch.Tensor.view", "torch.Tensor.expand", "torch.Tensor.contiguous", "torch.Tensor.cpu", "torch.Tensor.repeat",
            "torch.Tensor.cuda", "torch.diagonal", "torch.adjoint", "torch.unbind", "torch.chunk", "torch.split",
            "torch.Tensor.expand_as", "torch.Tensor.view_as", "torch.Tensor.unfold", "torch.movedim", "torch.unflatten",
        ),
        _same,
    ),
    **dict.fromkeys(("torch.tril", "torch.triu", "torch.nn.functional.pad"), lambda given: given["input"].join(point(0.0))),
    **dict.fromkeys(
        ("torch.Tensor.float", "torch.Tensor.half", "torch.Tensor.double", "torch.Tensor.bfloat16", "torch.Tensor.to"), _cast
    ),
    "torch.Tensor.bool": _always(TRUTH),
    "torch.Tensor.long": lambda given: replace(given["input"], integer=True, nan=False, minus_inf=False, plus_inf=False),
    "torch.Tensor.int": lambda given: replace(given["input"], integer=True, nan=False, minus_inf=False, plus_inf=False),
    # fresh tensors
    **dict.fromkeys(("torch.zeros", "torch.zeros_like", "torch.Tensor.new_zeros"), lambda _: point(0.0)),
    **dict.fromkeys(("torch.ones", "torch.ones_like", "torch.Tensor.new_ones"), lambda _: point(1.0)),
    **dict.fromkeys(("torch.full", "torch.full_like", "torch.Tensor.new_full"), _full),
    **dict.fromkeys(("torch.rand", "torch.rand_like"), lambda _: UNIT),
    "torch.Tensor.uniform_": _uniform,
    "torch.bernoulli": lambda _: TRUTH,
    "torch.eye": lambda _: TRUTH,
    "torch.arange": _arange,
    "torch.linspace": _linspace,
}  # fmt: skip
