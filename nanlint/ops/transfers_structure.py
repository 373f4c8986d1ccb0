"""Range transfers of operations that select, move, cast, test and create values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nanlint.ops.aggregates import average, total
from nanlint.ops.arithmetic import add, rounded
from nanlint.ops.formats import DTYPES, FORMATS
from nanlint.ops.inexact import always, hull, nan_if_infinite, same, spoiled, widened
from nanlint.ops.interval import COUNT, EVERYTHING, FINITE, INF, POSITIVE, TRUTH, UNIT, Interval, point

if TYPE_CHECKING:
    from nanlint.ops.operands import Operands, Transfer

INTEGERS = Interval(-INF, INF, integer=True)


def _or_zero(given: Operands) -> Interval:
    """What is moved to a larger place: the rest of it is 0."""
    return given["input"].join(point(0.0))


def _either(*names: str) -> Transfer:
    """A value of one operand or of another; a number is rounded to the format first."""

    def transfer(given: Operands) -> Interval:
        parts = [
            rounded(given.form, given[name]) if name == "value" else given[name] for name in names if given.given(name)
        ]
        result = given["input"]
        for part in parts:
            result = result.join(part)
        return result

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


def _filled(name: str) -> Transfer:
    return lambda given: rounded(given.form, given[name])


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


def _linspace(given: Operands) -> Interval:
    return widened(given.form, given["start"].join(given["end"]))


def _random_share(given: Operands) -> Interval:
    """From 0, which is drawn, up to below 1."""
    return Interval(0.0, given.form.below(1.0))


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


def _variadic(given: Operands) -> Interval:
    """Facts give the join of what is behind the star under the parameter's name."""
    return given["tensors"]


def _einops_reduce(given: Operands) -> Interval:
    how = given.constant("reduction")
    if how == "mean":
        return average(given.form, given["input"], empty=given.empty)
    return given["input"] if how in {"max", "min"} else spoiled(FINITE, given["input"])


def _torch(words: str) -> tuple[str, ...]:
    return tuple(f"torch.{word}" for word in words.split())


_SAME = _torch("""
    reshape permute unsqueeze squeeze transpose flatten unflatten ravel t adjoint movedim broadcast_to clone detach cat
    stack hstack vstack dstack column_stack chunk split tensor_split hsplit vsplit dsplit unbind roll flip fliplr flipud
    rot90 tile repeat_interleave diagonal linalg.diagonal combinations view_as_real as_strided gather index_select take
    take_along_dim select narrow masked_select positive conj real tensor as_tensor from_numpy pixel_shuffle
    pixel_unshuffle channel_shuffle nn.functional.max_pool1d nn.functional.max_pool2d nn.functional.max_pool3d
    nn.functional.adaptive_max_pool1d nn.functional.adaptive_max_pool2d nn.functional.adaptive_max_pool3d
    Tensor.contiguous Tensor.cpu Tensor.cuda Tensor.expand Tensor.expand_as Tensor.item Tensor.numpy Tensor.pin_memory
    Tensor.repeat Tensor.requires_grad_ Tensor.reshape_as Tensor.to_dense Tensor.tolist Tensor.type_as Tensor.unfold
    Tensor.view Tensor.view_as
""")
_OR_ZERO = _torch("tril triu diag diag_embed diagflat nn.functional.unfold")
_TESTS = _torch("""
    allclose eq equal ge gt is_nonzero isclose isfinite isin isinf isnan isneginf isposinf isreal le logical_and
    logical_not logical_or logical_xor lt ne signbit nn.functional.one_hot bernoulli Tensor.bernoulli_ eye
""")
_BITWISE = _torch("bitwise_and bitwise_or bitwise_xor bitwise_not")
_CASTS = _torch("Tensor.float Tensor.double Tensor.half Tensor.bfloat16 Tensor.to Tensor.type")
_INTEGER_CASTS = _torch("Tensor.long Tensor.int Tensor.short Tensor.char")
_VARIADIC = _torch("broadcast_tensors meshgrid atleast_1d atleast_2d atleast_3d cartesian_prod")
_AVERAGES = _torch("""
    avg_pool1d adaptive_avg_pool1d nn.functional.avg_pool2d nn.functional.avg_pool3d nn.functional.adaptive_avg_pool2d
    nn.functional.adaptive_avg_pool3d
""")

STRUCTURE: dict[str, Transfer] = {
    **dict.fromkeys(_SAME, same),
    **dict.fromkeys(_OR_ZERO, _or_zero),
    **dict.fromkeys(_TESTS, always(TRUTH)),
    **dict.fromkeys(_BITWISE, _bits),
    **dict.fromkeys(_CASTS, _cast),
    **dict.fromkeys(_INTEGER_CASTS, _truncated),
    **dict.fromkeys(_VARIADIC, _variadic),
    **dict.fromkeys(_AVERAGES, _averaged),
    "einops.rearrange": same,
    "einops.reduce": _einops_reduce,
    "einops.repeat": same,
    "torch.Tensor": always(EVERYTHING),
    "torch.Tensor.bool": always(TRUTH),
    "torch.Tensor.cauchy_": always(FINITE),
    "torch.Tensor.copy_": _filled("src"),
    "torch.Tensor.dim": always(COUNT),
    "torch.Tensor.exponential_": always(POSITIVE),
    "torch.Tensor.fill_diagonal_": lambda given: given["input"].join(rounded(given.form, given["fill_value"])),
    "torch.Tensor.geometric_": always(COUNT.without_zero()),
    "torch.Tensor.log_normal_": always(Interval(0.0, INF, plus_inf=True)),
    "torch.Tensor.new_empty": always(EVERYTHING),
    "torch.Tensor.new_full": _filled("fill_value"),
    "torch.Tensor.new_ones": always(point(1.0)),
    "torch.Tensor.new_tensor": lambda given: given["data"],
    "torch.Tensor.new_zeros": always(point(0.0)),
    "torch.Tensor.normal_": always(FINITE),
    "torch.Tensor.size": always(COUNT),
    "torch.Tensor.uniform_": _uniform,
    "torch.Tensor.zero_": always(point(0.0)),
    "torch.arange": _arange,
    "torch.bitwise_left_shift": always(INTEGERS),
    "torch.bitwise_right_shift": always(INTEGERS),
    "torch.block_diag": lambda given: given["tensors"].join(point(0.0)),
    "torch.empty": always(EVERYTHING),
    "torch.empty_like": always(EVERYTHING),
    "torch.empty_strided": always(EVERYTHING),
    "torch.full": _filled("fill_value"),
    "torch.full_like": _filled("fill_value"),
    "torch.hamming_window": always(UNIT),
    "torch.hann_window": always(UNIT),
    "torch.index_add": _added_in("source"),
    "torch.index_copy": _either("source"),
    "torch.index_fill": _either("value"),
    "torch.index_put": lambda given: (
        given["input"].join(given["values"]) if given.constant("accumulate") is False else _added_in("values")(given)
    ),
    "torch.index_reduce": _reduced_in("source"),
    "torch.linspace": _linspace,
    "torch.masked_fill": _either("value"),
    "torch.masked_scatter": _either("source"),
    "torch.multinomial": always(COUNT),
    "torch.nn.functional.grid_sample": _sampled,
    "torch.nn.functional.interpolate": _interpolated,
    "torch.nn.functional.pad": _padded,
    "torch.normal": always(FINITE),
    "torch.ones": always(point(1.0)),
    "torch.ones_like": always(point(1.0)),
    "torch.poisson": always(COUNT),
    "torch.rand": _random_share,
    "torch.rand_like": _random_share,
    "torch.randint": _random_integer,
    "torch.randint_like": _random_integer,
    "torch.randn": always(FINITE),
    "torch.randn_like": always(FINITE),
    "torch.randperm": always(COUNT),
    "torch.scatter": _either("src", "value"),
    "torch.scatter_add": _added_in("src"),
    "torch.scatter_reduce": _reduced_in("src"),
    "torch.select_scatter": _either("src"),
    "torch.slice_scatter": _either("src"),
    "torch.tril_indices": always(COUNT),
    "torch.triu_indices": always(COUNT),
    "torch.where": _where,
    "torch.zeros": always(point(0.0)),
    "torch.zeros_like": always(point(0.0)),
}
"""Selection, movement, casts, tests and creation."""
