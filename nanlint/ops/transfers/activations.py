"""Range transfers of activations, normalisation, dropout, attention, and of linear layers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.ops.arithmetic import add, clamp, div, maximum, mul, rounded
from nanlint.ops.curves import Curve
from nanlint.ops.interval import FINITE, INF, NONNEGATIVE, UNIT, Interval, point
from nanlint.ops.transfers.aggregates import total
from nanlint.ops.transfers.inexact import (
    by_name,
    hull,
    if_finite,
    lifted,
    nan_if_infinite,
    of_values,
    signed_like,
    spoiled,
    toward_zero,
    widened,
)

if TYPE_CHECKING:
    from nanlint.ops.transfers.operands import Operands, Transfer

NONPOSITIVE = Interval(-INF, 0.0)
# Cosines and normalised vectors pass 1 by a few roundings.
COSINE_ROUNDINGS = 4


def _softplus(given: Operands) -> Interval:
    beta, threshold = given.number("beta"), given.number("threshold")
    if beta is None or threshold is None or beta <= 0:
        return spoiled(FINITE if beta is None or beta < 0 else NONNEGATIVE, given["input"])

    def value(x: float) -> float:
        return x if x * beta > threshold else math.log1p(math.exp(x * beta)) / beta

    return Curve(value, image=NONNEGATIVE).apply(given.form, given["input"])


def _elu(given: Operands) -> Interval:
    """Elu and celu: a line above 0, and below it an exponential that stops at -alpha."""
    alpha = given.number("alpha")
    if alpha is None or alpha <= 0:
        return spoiled(FINITE, given["input"])
    scale = alpha if given.operation == "torch.celu" else 1.0
    return Curve(lambda x: x if x > 0 else alpha * math.expm1(x / scale)).apply(given.form, given["input"])


def _leaky(given: Operands) -> Interval:
    a, slope = given["input"], given.number("negative_slope")
    if slope is None or slope < 0:
        return spoiled(FINITE, a)
    return Curve(lambda x: x if x > 0 else x * slope).apply(given.form, a)


def _sloped(given: Operands) -> Interval:
    """Prelu and rrelu: above 0 the value, below it the value times a slope."""
    slope = given["weight"] if given.operation == "torch.prelu" else given["lower"].join(given["upper"])
    above, below = Interval(0.0, INF, plus_inf=True, nan=True), Interval(-INF, 0.0, minus_inf=True)
    return given["input"].meet(above).join(widened(given.form, mul(given.form, given["input"].meet(below), slope)))


def _threshold(given: Operands) -> Interval:
    edge, value = given.number("threshold"), rounded(given.form, given["value"])
    kept = given["input"] if edge is None else given["input"].meet(Interval(edge, INF, plus_inf=True, nan=True))
    return kept.join(value)


def _shares(given: Operands) -> Interval:
    """Softmax and its kin: closed at 0 and 1, for it rounds to both; a row that is masked whole is NaN."""
    return replace(UNIT, nan=not given["input"].is_finite)


def _log_shares(given: Operands) -> Interval:
    a = given["input"]
    return replace(NONPOSITIVE, minus_inf=a.minus_inf, nan=not a.is_finite)


def _cosine(given: Operands) -> Interval:
    result = widened(given.form, Interval(-1.0000001, 1.0000001), COSINE_ROUNDINGS)
    operands = [given["input"]] + ([given["other"]] if given.operation == "torch.cosine_similarity" else [])
    eps = given.number("eps")
    vanishing = eps is not None and given.form.round(eps) == 0 and any(operand.has_zero for operand in operands)
    spoilt = spoiled(result, *operands)
    return replace(spoilt, nan=spoilt.nan or vanishing)


def _local_response(given: Operands) -> Interval:
    a = given["input"]
    shrunk = widened(given.form, hull(a, point(0.0)))
    return nan_if_infinite(shrunk, a) if (given.number("k") or 0) >= 1 else spoiled(FINITE, a)


def _dropout(given: Operands) -> Interval:
    """What is kept grows by 1 / (1 - p), the rest is 0."""
    a, dropped = given["input"], given.number("p")
    if given.constant("training") is False:
        return a
    if dropped is None or not 0 <= dropped < 1:
        return spoiled(signed_like(a), a)
    grown = widened(given.form, div(given.form, a, point(1 - dropped)))
    return nan_if_infinite(hull(grown, point(0.0)).join(a), a)


def _attention(given: Operands) -> Interval:
    """Averages of the values, and 0 for a row that is masked whole."""
    value, parts = given["value"], [given[name] for name in ("input", "key", "value")]
    if given.number("dropout_p") != 0:
        return spoiled(signed_like(value), *parts)
    # The weights of an average add up to 1 but for a few roundings.
    averages = hull(mul(given.form, value, Interval(1 - 8 * given.form.eps, 1 + 8 * given.form.eps)), point(0.0))
    return replace(averages, nan=not all(part.is_finite for part in parts))


def products(given: Operands, left: str, right: str) -> Interval:
    """Sums of products of two operands: only signs and infinities are told."""
    a, b = given[left], given[right]
    product = mul(given.form, a, b)
    return spoiled(replace(total(product.finite(), empty=True), integer=product.integer), a, b)


def _product_of(left: str, right: str, start: str = "") -> Transfer:
    """A matrix product of these parameters, added to `start` if there is one; alpha and beta may scale them."""

    def transfer(given: Operands) -> Interval:
        summed = products(given, left, right)
        scaled = given.number("alpha") not in (None, 1.0) or given.number("beta") not in (None, 1.0)
        if not start:
            return summed
        return spoiled(FINITE, summed, given[start]) if scaled else add(given.form, summed, given[start])

    return transfer


def _affine(given: Operands) -> Interval:
    """A layer whose weights are learnt, or given: linear, convolutions."""
    summed = products(given, "input", "weight")
    return add(given.form, summed, given["bias"]) if given.given("bias") else spoiled(FINITE, summed)


ACTIVATIONS: dict[str, Transfer] = by_name(
    {
        "F.alpha_dropout F.feature_alpha_dropout": if_finite(FINITE),
        # Any finite value, whatever the scale of the input.
        "F.batch_norm F.group_norm F.instance_norm F.layer_norm F.rms_norm": if_finite(FINITE),
        "F.dropout F.dropout1d F.dropout2d F.dropout3d": _dropout,
        "F.embedding": of_values(lambda weight: weight, "weight"),
        "F.embedding_bag": of_values(lambda weight: spoiled(FINITE, weight), "weight"),
        "F.elu celu": _elu,
        "F.glu": lambda given: widened(given.form, mul(given.form, given["input"], UNIT)),
        "F.gumbel_softmax F.softmin softmax": _shares,
        "F.hardsigmoid": lifted(Curve(lambda x: min(max(x / 6 + 0.5, 0.0), 1.0), image=UNIT).apply, "input"),
        "F.hardtanh": lifted(clamp, "input", "min_val", "max_val"),
        "F.leaky_relu": _leaky,
        "F.linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d": _affine,
        "F.local_response_norm": _local_response,
        "F.normalize cosine_similarity": _cosine,
        "F.relu6": lambda given: clamp(given.form, given["input"], point(0.0), point(6.0)),
        "F.scaled_dot_product_attention": _attention,
        "F.softplus": _softplus,
        "F.softshrink hardshrink": toward_zero,
        "addbmm baddbmm": _product_of("batch1", "batch2", "input"),
        "addmm": _product_of("mat1", "mat2", "input"),
        "addmv": _product_of("mat", "vec", "input"),
        "addr": _product_of("vec1", "vec2", "input"),
        "bmm mm": _product_of("input", "mat2"),
        "dot": _product_of("input", "tensor"),
        "inner linalg.vecdot matmul tensordot vdot": _product_of("input", "other"),
        "kron": lifted(mul, "input", "other"),
        "log_softmax": _log_shares,
        "mv": _product_of("input", "vec"),
        "outer": lifted(mul, "input", "vec2"),
        "prelu rrelu": _sloped,
        "relu": lambda given: maximum(given["input"], point(0.0)),
        "threshold": _threshold,
    }
)
"""Activations, normalisation, attention and linear layers."""
