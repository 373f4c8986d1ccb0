"""Range transfers of activations, normalisation, dropout, attention, and of linear layers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.ops.aggregates import total
from nanlint.ops.arithmetic import add, clamp, div, maximum, mul, rounded
from nanlint.ops.curves import Curve, apply
from nanlint.ops.inexact import hull, nan_if_infinite, signed_like, spoiled, toward_zero, widened
from nanlint.ops.interval import FINITE, INF, NONNEGATIVE, UNIT, Interval, point

if TYPE_CHECKING:
    from nanlint.ops.operands import Operands, Transfer

NONPOSITIVE = Interval(-INF, 0.0)
# Cosines and normalised vectors pass 1 by a few roundings.
COSINE_ROUNDINGS = 4


def _relu(given: Operands) -> Interval:
    return maximum(given["input"], point(0.0))


def _hard_sigmoid(given: Operands) -> Interval:
    curve = Curve(lambda x: min(max(x / 6 + 0.5, 0.0), 1.0), image=UNIT)
    return apply(given.form, curve, given["input"])


def _softplus(given: Operands) -> Interval:
    beta, threshold = given.number("beta"), given.number("threshold")
    if beta is None or threshold is None or beta <= 0:
        return spoiled(FINITE if beta is None or beta < 0 else NONNEGATIVE, given["input"])

    def value(x: float) -> float:
        return x if x * beta > threshold else math.log1p(math.exp(x * beta)) / beta

    return apply(given.form, Curve(value, image=NONNEGATIVE), given["input"])


def _elu(given: Operands) -> Interval:
    """Elu and celu: a line above 0, and below it an exponential that stops at -alpha."""
    alpha = given.number("alpha")
    if alpha is None or alpha <= 0:
        return spoiled(FINITE, given["input"])
    scale = alpha if given.operation == "torch.celu" else 1.0
    return apply(given.form, Curve(lambda x: x if x > 0 else alpha * math.expm1(x / scale)), given["input"])


def _leaky(given: Operands) -> Interval:
    a, slope = given["input"], given.number("negative_slope")
    if slope is None or slope < 0:
        return spoiled(FINITE, a)
    return apply(given.form, Curve(lambda x: x if x > 0 else x * slope), a)


def _sloped(given: Operands) -> Interval:
    """Prelu and rrelu: above 0 the value, below it the value times a slope."""
    slope = given["weight"] if given.operation == "torch.prelu" else given["lower"].join(given["upper"])
    above, below = Interval(0.0, INF, plus_inf=True, nan=True), Interval(-INF, 0.0, minus_inf=True)
    return given["input"].meet(above).join(widened(given.form, mul(given.form, given["input"].meet(below), slope)))


def _threshold(given: Operands) -> Interval:
    edge, value = given.number("threshold"), rounded(given.form, given["value"])
    kept = given["input"] if edge is None else given["input"].meet(Interval(edge, INF, plus_inf=True, nan=True))
    return kept.join(value)


def _glu(given: Operands) -> Interval:
    return widened(given.form, mul(given.form, given["input"], UNIT))


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


def _normalised(given: Operands) -> Interval:
    """Layer, group, batch, instance and RMS norm: any finite value, whatever the scale of the input."""
    return spoiled(FINITE, given["input"])


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


def _embedding(given: Operands) -> Interval:
    return given["weight"] if given.operation.endswith("embedding") else spoiled(FINITE, given["weight"])


ACTIVATIONS: dict[str, Transfer] = {
    "torch.addbmm": _product_of("batch1", "batch2", "input"),
    "torch.addmm": _product_of("mat1", "mat2", "input"),
    "torch.addmv": _product_of("mat", "vec", "input"),
    "torch.addr": _product_of("vec1", "vec2", "input"),
    "torch.baddbmm": _product_of("batch1", "batch2", "input"),
    "torch.bmm": _product_of("input", "mat2"),
    "torch.celu": _elu,
    "torch.conv1d": _affine,
    "torch.conv2d": _affine,
    "torch.conv3d": _affine,
    "torch.conv_transpose1d": _affine,
    "torch.conv_transpose2d": _affine,
    "torch.conv_transpose3d": _affine,
    "torch.cosine_similarity": _cosine,
    "torch.dot": _product_of("input", "tensor"),
    "torch.hardshrink": toward_zero,
    "torch.inner": _product_of("input", "other"),
    "torch.kron": lambda given: mul(given.form, given["input"], given["other"]),
    "torch.linalg.vecdot": _product_of("input", "other"),
    "torch.log_softmax": _log_shares,
    "torch.matmul": _product_of("input", "other"),
    "torch.mm": _product_of("input", "mat2"),
    "torch.mv": _product_of("input", "vec"),
    "torch.nn.functional.alpha_dropout": lambda given: spoiled(FINITE, given["input"]),
    "torch.nn.functional.batch_norm": _normalised,
    "torch.nn.functional.dropout": _dropout,
    "torch.nn.functional.dropout1d": _dropout,
    "torch.nn.functional.dropout2d": _dropout,
    "torch.nn.functional.dropout3d": _dropout,
    "torch.nn.functional.elu": _elu,
    "torch.nn.functional.embedding": _embedding,
    "torch.nn.functional.embedding_bag": _embedding,
    "torch.nn.functional.feature_alpha_dropout": lambda given: spoiled(FINITE, given["input"]),
    "torch.nn.functional.glu": _glu,
    "torch.nn.functional.group_norm": _normalised,
    "torch.nn.functional.gumbel_softmax": _shares,
    "torch.nn.functional.hardsigmoid": _hard_sigmoid,
    "torch.nn.functional.hardtanh": lambda given: clamp(given.form, given["input"], given["min_val"], given["max_val"]),
    "torch.nn.functional.instance_norm": _normalised,
    "torch.nn.functional.layer_norm": _normalised,
    "torch.nn.functional.leaky_relu": _leaky,
    "torch.nn.functional.linear": _affine,
    "torch.nn.functional.local_response_norm": _local_response,
    "torch.nn.functional.normalize": _cosine,
    "torch.nn.functional.relu6": lambda given: clamp(given.form, given["input"], point(0.0), point(6.0)),
    "torch.nn.functional.rms_norm": _normalised,
    "torch.nn.functional.scaled_dot_product_attention": _attention,
    "torch.nn.functional.softmin": _shares,
    "torch.nn.functional.softplus": _softplus,
    "torch.nn.functional.softshrink": toward_zero,
    "torch.outer": lambda given: mul(given.form, given["input"], given["vec2"]),
    "torch.prelu": _sloped,
    "torch.relu": _relu,
    "torch.rrelu": _sloped,
    "torch.softmax": _shares,
    "torch.tensordot": _product_of("input", "other"),
    "torch.threshold": _threshold,
    "torch.vdot": _product_of("input", "other"),
}
"""Activations, normalisation, attention and linear layers."""
