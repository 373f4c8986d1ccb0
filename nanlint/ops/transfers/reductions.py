"""Range transfers of reductions, norms, distances, losses and decompositions."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from nanlint.ops.arithmetic import absolute, maximum, minimum, neg, square, sub
from nanlint.ops.curves import loosen
from nanlint.ops.interval import COUNT, FINITE, INF, NONNEGATIVE, TRUTH, Interval, point
from nanlint.ops.transfers.aggregates import average, product, total
from nanlint.ops.transfers.inexact import (
    always,
    bounded,
    by_name,
    hull,
    if_finite,
    lifted,
    nan_if_infinite,
    of_values,
    same,
    spoiled,
    widened,
)

if TYPE_CHECKING:
    from nanlint.ops.transfers.operands import Operands, Transfer


def _sum(given: Operands) -> Interval:
    return total(given["input"], empty=given.empty)


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


def _finite(given: Operands) -> Interval:
    return spoiled(FINITE, *given.ranges.values())


LOG_DETERMINANT = Interval(-INF, INF, minus_inf=True, nan=True)
_VECTORS, _SIZES = bounded(-1.0, 1.0, 4), if_finite(NONNEGATIVE)

REDUCTIONS: dict[str, Transfer] = by_name(
    {
        "F.binary_cross_entropy F.binary_cross_entropy_with_logits F.multilabel_soft_margin_loss": _of_probabilities,
        "F.cosine_embedding_loss": _cosine_loss,
        """F.cross_entropy F.huber_loss F.margin_ranking_loss F.multi_margin_loss F.multilabel_margin_loss
        F.smooth_l1_loss F.triplet_margin_loss F.triplet_margin_with_distance_loss""": _loss(NONNEGATIVE),
        "F.ctc_loss": lambda given: replace(
            spoiled(FINITE, given["input"]), plus_inf=given.constant("zero_infinity") is not True
        ),
        "F.gaussian_nll_loss F.hinge_embedding_loss": _loss(FINITE),
        "F.kl_div": _divergence,
        "F.l1_loss F.mse_loss": _distance_loss,
        "F.nll_loss": _likelihood,
        "F.poisson_nll_loss F.soft_margin_loss": _overflowing_loss,
        "all any": always(TRUTH),
        """amax amin cummax cummin kthvalue median mode msort nanmedian sort topk unique unique_consecutive""": same,
        """argmax argmin argsort argwhere bucketize count_nonzero histc linalg.matrix_rank nonzero numel
        searchsorted""": always(COUNT),
        "bincount": lambda given: total(given["weights"], empty=True) if given.given("weights") else COUNT,
        "cdist dist pairwise_distance pdist": _distance,
        """cholesky cholesky_inverse cov cross cumulative_trapezoid det inverse linalg.cholesky linalg.cross linalg.eigh
        linalg.eigvalsh linalg.inv_ex linalg.pinv linalg.solve matrix_exp matrix_power pinverse qr trace
        trapezoid""": _finite,
        "corrcoef": lambda given: replace(_VECTORS(given), nan=True),
        "cumprod": lambda given: product(given["input"], empty=False),
        "cumsum": lambda given: total(given["input"], empty=False),
        "diff": lifted(sub, "input", "input"),
        "linalg.cond": always(Interval(0.0, INF, plus_inf=True, nan=True)),
        "linalg.matrix_norm linalg.svdvals": _SIZES,
        "linalg.norm linalg.vector_norm norm": _norm,
        "linalg.svd svd": _VECTORS,
        "logcumsumexp logsumexp": _log_sum_exp,
        "logdet": always(LOG_DETERMINANT),
        "max min": _extreme,
        "mean": _mean,
        "nanmean nansum": _without_nan,
        "nanquantile quantile": lifted(widened, "input"),
        # The norm that clipping returns tells of every infinite and NaN gradient.
        "nn.utils.clip_grad_norm_ nn.utils.get_total_norm": always(Interval(0.0, INF, plus_inf=True, nan=True)),
        "prod": lambda given: product(given["input"], empty=given.empty),
        "renorm": lambda given: nan_if_infinite(widened(given.form, hull(given["input"], point(0.0))), given["input"]),
        "slogdet": of_values(partial(nan_if_infinite, Interval(-1.0, 1.0, integer=True)), "input"),
        "std var": _variance,
        "sum": _sum,
    }
)
"""Reductions, norms, distances, losses and decompositions."""
