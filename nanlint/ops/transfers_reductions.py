"""Range transfers of reductions, norms, distances, losses and decompositions."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.ops.aggregates import average, product, total
from nanlint.ops.arithmetic import absolute, maximum, minimum, neg, square, sub
from nanlint.ops.curves import loosen
from nanlint.ops.inexact import always, hull, nan_if_infinite, same, spoiled, widened
from nanlint.ops.interval import COUNT, FINITE, INF, NONNEGATIVE, TRUTH, Interval, point

if TYPE_CHECKING:
    from nanlint.ops.operands import Operands, Transfer


def _sum(given: Operands) -> Interval:
    return total(given["input"], empty=given.empty)


def _running_sum(given: Operands) -> Interval:
    return total(given["input"], empty=False)


def _mean(given: Operands) -> Interval:
    return average(given.form, given["input"], empty=given.empty)


def _without_nan(given: Operands) -> Interval:
    """Nansum and nanmean: of NaN alone, 0 and NaN."""
    a = given["input"]
    kept = replace(given, ranges={**given.ranges, "input": a.without_nan()})
    if given.operation == "torch.nansum":
        return _sum(kept).join(point(0.0)) if a.nan else _sum(kept)
    mean = _mean(kept)
    return replace(mean, nan=mean.nan or a.nan)


def _product(given: Operands) -> Interval:
    return product(given["input"], empty=given.empty)


def _variance(given: Operands) -> Interval:
    """Never more than half the squared spread, reached by two values with the usual correction."""
    a = given["input"]
    spread = a.high - a.low if a.has_finite else 0.0
    size = spread * spread / 2 if spread < INF else INF
    high = math.sqrt(size) if given.operation.startswith("torch.std") else size
    result = Interval(0.0, loosen(given.form, loosen(given.form, high, 1.0), 1.0))
    stored = Interval(0.0, given.form.round(result.high), plus_inf=math.isinf(given.form.round(high)) and spread < INF)
    # Equal values differ from their mean by a rounding, so even of constants a little is left.
    return replace(spoiled(stored, a), nan=given.empty or not a.is_finite)


def _extreme(given: Operands) -> Interval:
    """Max and min: of one tensor a value of it, of two the greater or the smaller."""
    if not given.given("other"):
        return given["input"]
    of_two = maximum if given.operation == "torch.max" else minimum
    return of_two(given["input"], given["other"])


def _quantile(given: Operands) -> Interval:
    return widened(given.form, given["input"])


def _norm(given: Operands) -> Interval:
    """At least the smallest size of an element, for every order above 0."""
    a = given["input"]
    size = absolute(a)
    name = "p" if given.operation in {"torch.norm", "torch.dist"} else "ord"
    order = given.constant(name)
    low = size.low if size.has_finite and not given.empty and order in (None, "fro", 1, 2, INF) else 0.0
    result = Interval(max(loosen(given.form, low, -1.0), 0.0), INF)
    if order == INF:
        result = replace(result, high=size.high)
    return replace(result, plus_inf=size.plus_inf, nan=size.nan)


def _distance(given: Operands) -> Interval:
    operands = [given[name] for name in ("input", "other") if given.given(name)]
    return spoiled(NONNEGATIVE, *operands)


def _log_sum_exp(given: Operands) -> Interval:
    """At least the greatest value, and above it by the logarithm of their number."""
    a = given["input"]
    low = loosen(given.form, a.low, -1.0) if a.has_finite else INF
    high = INF if a.has_finite else -INF
    return Interval(low, high, minus_inf=a.minus_inf or given.empty, plus_inf=a.plus_inf, nan=a.nan)


def _loss(known: Interval) -> Transfer:
    """A loss of `known` range: of finite operands finite, of nothing NaN unless it is a sum."""

    def transfer(given: Operands) -> Interval:
        operands = list(given.ranges.values())
        if any(given.given(name) for name in ("weight", "pos_weight")):
            return spoiled(FINITE, *operands)
        result = spoiled(known, *operands)
        return replace(result, nan=result.nan or (given.empty and given.constant("reduction") == "mean"))

    return transfer


def _distance_loss(given: Operands) -> Interval:
    """Of each pair the distance or its square, of all of them the mean: of bounded values bounded."""
    result, apart = _loss(NONNEGATIVE)(given), sub(given.form, given["input"], given["target"])
    if given.given("weight") or given.constant("reduction") not in {"none", "mean"}:
        return result
    each = square(given.form, apart) if given.operation == "torch.nn.functional.mse_loss" else absolute(apart)
    if given.constant("reduction") == "mean":
        each = replace(average(given.form, each, empty=given.empty), low=0.0)
    return replace(result, high=min(result.high, each.high), plus_inf=result.plus_inf or each.plus_inf)


def _of_probabilities(given: Operands) -> Interval:
    """A cross entropy with targets in [0, 1] is never negative; torch's own clamps its logarithms at -100."""
    target = given["target"]
    if not target.is_subset(Interval(0.0, 1.0)):
        return _loss(FINITE)(given)
    plain = given.operation == "torch.nn.functional.binary_cross_entropy" and given.constant("reduction") != "sum"
    return _loss(Interval(0.0, 100.0) if plain else NONNEGATIVE)(given)


def _divergence(given: Operands) -> Interval:
    """Of kl_div: target * (log(target) - input), NaN for a target that is known to reach below 0."""
    target = given["target"]
    result = _loss(FINITE)(given)
    broken = target != FINITE and target.has_negative and given.constant("log_target") is not True
    return replace(result, nan=result.nan or broken)


def _cosine_loss(given: Operands) -> Interval:
    """Of cosine_embedding_loss: its eps of 1e-12 is 0 in half, so the cosine of a zero row is NaN there."""
    result = _loss(NONNEGATIVE)(given)
    zero_row = given["input"].has_zero or given["other"].has_zero
    return replace(result, nan=result.nan or (zero_row and given.form.round(1e-12) == 0))


def _likelihood(given: Operands) -> Interval:
    """The negative log-probability of the target class."""
    if given.given("weight"):
        return spoiled(FINITE, given["input"])
    chosen = neg(given["input"])
    return total(chosen) if given.constant("reduction") == "sum" else average(given.form, chosen, empty=given.empty)


def _overflowing_loss(given: Operands) -> Interval:
    """Losses that take an exponential of their input: poisson_nll_loss, soft_margin_loss."""
    a = given["input"]
    if given.operation.endswith("soft_margin_loss"):
        return Interval(0.0, INF, plus_inf=not a.is_subset(Interval(-10.0, 10.0)), nan=a.nan)
    takes_log = given.constant("log_input") is False
    return Interval(-INF, INF, plus_inf=True, nan=not a.is_finite or (takes_log and a.has_negative))


def _ctc(given: Operands) -> Interval:
    reachable = given.constant("zero_infinity") is not True
    return replace(spoiled(FINITE, given["input"]), plus_inf=reachable)


def _gradient_norm(_: Operands) -> Interval:
    """The norm that clipping returns tells of every infinite and NaN gradient."""
    return Interval(0.0, INF, plus_inf=True, nan=True)


def _finite(given: Operands) -> Interval:
    return spoiled(FINITE, *given.ranges.values())


def _within(known: Interval) -> Transfer:
    return lambda given: spoiled(widened(given.form, known, 4), given["input"])


def _sign_of_determinant(given: Operands) -> Interval:
    return nan_if_infinite(Interval(-1.0, 1.0, integer=True), given["input"])


def _log_of_determinant(given: Operands) -> Interval:
    return spoiled(Interval(-INF, INF, minus_inf=True), given["input"])


def _centre(given: Operands) -> Interval:
    """The mean that std and var compute on the way, by differences."""
    return nan_if_infinite(_mean(given), given["input"])


def _difference(given: Operands) -> Interval:
    return sub(given.form, given["input"], given["input"])


LOG_DETERMINANT = Interval(-INF, INF, minus_inf=True, nan=True)
_SAME = "kthvalue median mode topk sort msort cummax cummin amax amin nanmedian unique unique_consecutive"
_COUNTS = "argmax argmin argsort count_nonzero histc numel nonzero argwhere searchsorted bucketize linalg.matrix_rank"
_DISTANCES = "cdist pdist dist pairwise_distance"
_LOSSES = "mse_loss l1_loss smooth_l1_loss huber_loss cross_entropy margin_ranking_loss multi_margin_loss"
_MORE_LOSSES = "multilabel_margin_loss triplet_margin_loss triplet_margin_with_distance_loss"
_FINITE = "trapezoid cumulative_trapezoid cov det inverse cholesky linalg.cholesky cholesky_inverse qr linalg.eigvalsh"
_MORE_FINITE = "linalg.inv_ex linalg.pinv pinverse linalg.solve matrix_exp matrix_power trace cross linalg.cross"

REDUCTIONS: dict[str, Transfer] = {
    **dict.fromkeys((f"torch.{name}" for name in _SAME.split()), same),
    **dict.fromkeys((f"torch.{name}" for name in _COUNTS.split()), always(COUNT)),
    **dict.fromkeys((f"torch.{name}" for name in _DISTANCES.split()), _distance),
    **dict.fromkeys(
        (f"torch.nn.functional.{name}" for name in f"{_LOSSES} {_MORE_LOSSES}".split()), _loss(NONNEGATIVE)
    ),
    **dict.fromkeys((f"torch.{name}" for name in f"{_FINITE} {_MORE_FINITE}".split()), _finite),
    **dict.fromkeys((f"torch.nn.functional.{name}" for name in ("mse_loss", "l1_loss")), _distance_loss),
    "torch.all": always(TRUTH),
    "torch.any": always(TRUTH),
    "torch.bincount": lambda given: total(given["weights"], empty=True) if given.given("weights") else COUNT,
    "torch.corrcoef": lambda given: replace(_within(Interval(-1.0, 1.0))(given), nan=True),
    "torch.cumprod": lambda given: product(given["input"], empty=False),
    "torch.cumsum": _running_sum,
    "torch.diff": _difference,
    "torch.linalg.cond": always(Interval(0.0, INF, plus_inf=True, nan=True)),
    "torch.linalg.eigh": _finite,
    "torch.linalg.matrix_norm": lambda given: spoiled(NONNEGATIVE, given["input"]),
    "torch.linalg.norm": _norm,
    "torch.linalg.svd": _within(Interval(-1.0, 1.0)),
    "torch.linalg.svdvals": lambda given: spoiled(NONNEGATIVE, given["input"]),
    "torch.linalg.vector_norm": _norm,
    "torch.logcumsumexp": _log_sum_exp,
    "torch.logdet": always(LOG_DETERMINANT),
    "torch.logsumexp": _log_sum_exp,
    "torch.max": _extreme,
    "torch.mean": _mean,
    "torch.min": _extreme,
    "torch.nanmean": _without_nan,
    "torch.nanquantile": _quantile,
    "torch.nansum": _without_nan,
    "torch.nn.functional.binary_cross_entropy": _of_probabilities,
    "torch.nn.functional.binary_cross_entropy_with_logits": _of_probabilities,
    "torch.nn.functional.cosine_embedding_loss": _cosine_loss,
    "torch.nn.functional.ctc_loss": _ctc,
    "torch.nn.functional.gaussian_nll_loss": _loss(FINITE),
    "torch.nn.functional.hinge_embedding_loss": _loss(FINITE),
    "torch.nn.functional.kl_div": _divergence,
    "torch.nn.functional.multilabel_soft_margin_loss": _of_probabilities,
    "torch.nn.functional.nll_loss": _likelihood,
    "torch.nn.functional.poisson_nll_loss": _overflowing_loss,
    "torch.nn.functional.soft_margin_loss": _overflowing_loss,
    "torch.nn.utils.clip_grad_norm_": _gradient_norm,
    "torch.nn.utils.get_total_norm": _gradient_norm,
    "torch.norm": _norm,
    "torch.prod": _product,
    "torch.quantile": _quantile,
    "torch.renorm": lambda given: nan_if_infinite(
        widened(given.form, hull(given["input"], point(0.0))), given["input"]
    ),
    "torch.slogdet": _sign_of_determinant,
    "torch.std": _variance,
    "torch.sum": _sum,
    "torch.svd": _within(Interval(-1.0, 1.0)),
    "torch.var": _variance,
}
"""Reductions, norms, distances, losses and decompositions."""

RESULTS: dict[str, tuple[Transfer, ...]] = {
    "torch.aminmax": (same, same),
    "torch.linalg.eigh": (_finite, _within(Interval(-1.0, 1.0))),
    "torch.linalg.qr": (_within(Interval(-1.0, 1.0)), _finite),
    "torch.linalg.svd": (
        _within(Interval(-1.0, 1.0)),
        lambda given: spoiled(NONNEGATIVE, given["input"]),
        _within(Interval(-1.0, 1.0)),
    ),
    "torch.qr": (_within(Interval(-1.0, 1.0)), _finite),
    "torch.slogdet": (_sign_of_determinant, _log_of_determinant),
    "torch.std_mean": (_variance, _centre),
    "torch.svd": (
        _within(Interval(-1.0, 1.0)),
        lambda given: spoiled(NONNEGATIVE, given["input"]),
        _within(Interval(-1.0, 1.0)),
    ),
    "torch.var_mean": (_variance, _centre),
    **{f"torch.{name}": (same, always(COUNT)) for name in ["kthvalue", "mode", "topk", "sort", "cummax", "cummin"]},
}
"""The operations that return a tuple whatever their arguments are, one transfer for each part."""
