"""Range transfers of operations that select, move, cast, test and create values."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING

from nanlint.ops.arithmetic import add, rounded
from nanlint.ops.formats import DTYPES, FORMATS
from nanlint.ops.interval import COUNT, EVERYTHING, FINITE, INF, POSITIVE, TRUTH, UNIT, Interval, point
from nanlint.ops.transfers.aggregates import average, total
from nanlint.ops.transfers.inexact import always, by_name, hull, lifted, nan_if_infinite, same, spoiled, widened

if TYPE_CHECKING:
    from nanlint.ops.transfers.operands import Operands, Transfer

INTEGERS = Interval(-INF, INF, integer=True)


def _or_zero(given: Operands) -> Interval:
    """What is moved to a larger place: the rest of it is 0."""
    return given["input"].join(point(0.0))


def _either(*names: str) -> Transfer:
    """A value of one operand or of another; a number is rounded to the format first."""

    def transfer(given: Operands) -> Interval:
        given_ones = [
            given[name] if name != "value" else rounded(given.form, given[name]) for name in names if given.given(name)
        ]
        return reduce(Interval.join, given_ones, given["input"])

    return transfer


def _where(given: Operands) -> Interval:
    if not given.given("input"):
        return COUNT  # where(condition) is nonzero(condition)
    parts = [given[name] for name in ("input", "other")]
    constant = [rounded(given.form, part) if part.constant is not None else part for part in parts]
    return constant[0].join(constant[1])


def _added_in(source: str) -> Transfer:
    """Values are added into places of the input, any number of them."""
    return lambda given: add(given.form, given["input"], total(given[source], empty=True))


def _reduced_in(source: str) -> Transfer:
    def transfer(given: Operands) -> Interval:
        both = given["input"].join(given[source])
        how = given.constant("reduce")
        if how in {"amax", "amin"}:
            return both
        return widened(given.form, both) if how == "mean" else spoiled(FINITE, both)

    return transfer


def _cast(given: Operands) -> Interval:
    """Rounded to the format that the name of the operation, or its dtype, says."""
    word = given.constant("dtype") if given.given("dtype") else given.operation.rpartition(".")[2]
    word = word.removeprefix("torch.") if isinstance(word, str) else ""
    if word == "bool":
        return TRUTH
    if word in {"long", "int", "short", "byte", "char"} or word.startswith(("int", "uint")):
        return _truncated(given)
    if given.operation in {"torch.Tensor.to", "torch.Tensor.type"} and word not in DTYPES:
        return given["input"]
    return rounded(FORMATS[DTYPES[word]], given["input"])


def _truncated(given: Operands) -> Interval:
    a = given["input"]
    low, high = (math.trunc(end) if math.isfinite(end) else end for end in (a.low, a.high))
    # What an infinity or a NaN becomes as an integer is up to the machine.
    return Interval(low, high, integer=True) if a.is_finite and a.has_finite else INTEGERS


def _arange(given: Operands) -> Interval:
    start, end, step = (given[name] if given.given(name) else None for name in ("start", "end", "step"))
    start, step = start or point(0.0), step or point(1.0)
    end = end or FINITE
    whole = start.integer and step.integer
    if not (step.has_negative or step.has_zero):
        # The end itself is not reached; in whole steps the last value is at least 1 below it.
        last = end.high - 1 if whole and end.constant is not None and end.constant.is_integer() else end.high
        return Interval(start.low, max(last, start.high), integer=whole)
    return Interval(-INF, INF, integer=whole)


def _uniform(given: Operands) -> Interval:
    """The upper end is not drawn. From a lower end that is not small beside it, the last step is rounded up to it all the same."""
    drawn = hull(given["from"], given["to"])
    start, end = given["from"].constant, given["to"].constant
    if start is None or end is None or not 0 <= start < end / 2:
        return drawn
    return Interval(drawn.low, given.form.below(given.form.round(end)))


def _random_integer(given: Operands) -> Interval:
    low = given["low"].low if given.given("low") else 0.0
    high = given["high"].high - 1 if given.given("high") else INF
    return Interval(low, max(low, high), integer=True)


def _bits(given: Operands) -> Interval:
    """Bitwise operations: of truth values a truth value."""
    operands = [given["input"]] + ([given["other"]] if given.given("other") else [])
    return TRUTH if all(operand.is_subset(TRUTH) for operand in operands) else INTEGERS


def _averaged(given: Operands) -> Interval:
    """Average pooling: padding counts as zeros."""
    mean = average(given.form, given["input"], empty=False)
    return mean if given.number("padding") == 0 or "adaptive" in given.operation else hull(mean, point(0.0))


def _interpolated(given: Operands) -> Interval:
    mode = given.constant("mode")
    a = given["input"]
    if mode in {"nearest", "nearest-exact", "area"}:
        return widened(given.form, a) if mode == "area" else a
    return spoiled(FINITE, a) if mode in {None, "bicubic"} else nan_if_infinite(widened(given.form, a, 2), a)


def _sampled(given: Operands) -> Interval:
    a = given["input"]
    if given.constant("mode") == "bicubic":
        return spoiled(FINITE, a)
    return nan_if_infinite(hull(widened(given.form, a, 2), point(0.0)), a)


def _padded(given: Operands) -> Interval:
    if given.constant("mode") != "constant":
        return given["input"]
    return given["input"].join(rounded(given.form, given["value"]) if given.given("value") else point(0.0))


def _einops_reduce(given: Operands) -> Interval:
    how = given.constant("reduction")
    if how == "mean":
        return average(given.form, given["input"], empty=given.empty)
    return given["input"] if how in {"max", "min"} else spoiled(FINITE, given["input"])


STRUCTURE: dict[str, Transfer] = by_name(
    {
        """
        adjoint as_strided as_tensor broadcast_to cat channel_shuffle chunk clone column_stack combinations conj detach
        diagonal dsplit dstack einops.rearrange einops.repeat flatten flip fliplr flipud from_numpy gather hsplit hstack
        index_select linalg.diagonal masked_select movedim narrow permute pixel_shuffle pixel_unshuffle positive ravel
        real repeat_interleave reshape roll rot90 select split squeeze stack t take take_along_dim tensor tensor_split
        tile transpose unbind unflatten unsqueeze view_as_real vsplit vstack
        F.adaptive_max_pool1d F.adaptive_max_pool2d F.adaptive_max_pool3d F.max_pool1d F.max_pool2d F.max_pool3d
        Tensor.contiguous Tensor.cpu Tensor.cuda Tensor.expand Tensor.expand_as Tensor.item Tensor.numpy
        Tensor.pin_memory Tensor.repeat Tensor.requires_grad_ Tensor.reshape_as Tensor.to_dense Tensor.tolist
        Tensor.type_as Tensor.unfold Tensor.view Tensor.view_as
        """: same,
        "F.unfold diag diag_embed diagflat tril triu": _or_zero,
        """
        F.one_hot Tensor.bernoulli_ Tensor.bool allclose bernoulli eq equal eye ge gt is_nonzero isclose isfinite isin
        isinf isnan isneginf isposinf isreal le logical_and logical_not logical_or logical_xor lt ne signbit
        """: always(TRUTH),
        "bitwise_and bitwise_not bitwise_or bitwise_xor": _bits,
        "Tensor.bfloat16 Tensor.double Tensor.float Tensor.half Tensor.to Tensor.type": _cast,
        "Tensor.char Tensor.int Tensor.long Tensor.short": _truncated,
        # What is behind a star is joined under the name of the parameter.
        "atleast_1d atleast_2d atleast_3d broadcast_tensors cartesian_prod meshgrid": lambda given: given["tensors"],
        """
        F.adaptive_avg_pool2d F.adaptive_avg_pool3d F.avg_pool2d F.avg_pool3d adaptive_avg_pool1d avg_pool1d
        """: _averaged,
        "einops.reduce": _einops_reduce,
        "Tensor Tensor.new_empty empty empty_like empty_strided": always(EVERYTHING),
        "Tensor.cauchy_ Tensor.normal_ normal randn randn_like": always(FINITE),
        "Tensor.dim Tensor.size multinomial poisson randperm tril_indices triu_indices": always(COUNT),
        "Tensor.exponential_": always(POSITIVE),
        "Tensor.geometric_": always(COUNT.without_zero()),
        "Tensor.log_normal_": always(Interval(0.0, INF, plus_inf=True)),
        "Tensor.new_ones ones ones_like": always(point(1.0)),
        "Tensor.new_zeros Tensor.zero_ zeros zeros_like": always(point(0.0)),
        "bitwise_left_shift bitwise_right_shift": always(INTEGERS),
        "hamming_window hann_window": always(UNIT),
        "Tensor.copy_": lifted(rounded, "src"),
        "Tensor.new_full full full_like": lifted(rounded, "fill_value"),
        "Tensor.new_tensor": lambda given: given["data"],
        "Tensor.fill_diagonal_": lambda given: given["input"].join(rounded(given.form, given["fill_value"])),
        "Tensor.uniform_": _uniform,
        "arange": _arange,
        "block_diag": lambda given: given["tensors"].join(point(0.0)),
        "index_add": _added_in("source"),
        "index_copy masked_scatter": _either("source"),
        "index_fill masked_fill": _either("value"),
        "index_put": lambda given: (
            given["input"].join(given["values"])
            if given.constant("accumulate") is False
            else _added_in("values")(given)
        ),
        "index_reduce": _reduced_in("source"),
        "linspace": lambda given: widened(given.form, given["start"].join(given["end"])),
        "F.grid_sample": _sampled,
        "F.interpolate": _interpolated,
        "F.pad": _padded,
        # From 0, which is drawn, up to below 1.
        "rand rand_like": lambda given: Interval(0.0, given.form.below(1.0)),
        "randint randint_like": _random_integer,
        "scatter": _either("src", "value"),
        "scatter_add": _added_in("src"),
        "scatter_reduce": _reduced_in("src"),
        "select_scatter slice_scatter": _either("src"),
        "where": _where,
    }
)
"""Selection, movement, casts, tests and creation."""
