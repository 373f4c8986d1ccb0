"""Every range transfer, sampled against torch: what torch computes from values in the ranges, the result must admit."""

from __future__ import annotations

import ast
import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from nanlint.ops.formats import FLOAT16, FLOAT32, FORMATS, Format
from nanlint.ops.interval import (
    ANYTHING,
    EVERYTHING,
    FINITE,
    INF,
    NONNEGATIVE,
    POSITIVE,
    SIGNED_UNIT,
    TRUTH,
    UNIT,
    Interval,
    point,
)
from nanlint.ops.names import SIGNATURES
from nanlint.ops.ranges import TRANSFER, results, transfer
from nanlint.ops.signatures import PARAMETERS, bind
from nanlint.ops.transfers_elementwise import ELEMENTWISE
from nanlint.ops.transfers_reductions import RESULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

torch: Any = pytest.importorskip("torch", reason="range transfers are sampled in torch")
F: Any = torch.nn.functional

ROWS, COLUMNS = 6, 16
# Ranges of ordinary values.
ORDINARY = [
    Interval(-5.0, 5.0), UNIT, SIGNED_UNIT, Interval(0.0, 10.0), Interval(1e-3, 3.0), point(0.0), point(1.0),
    Interval(-3.0, -0.5), Interval(-60.0, 60.0), Interval(0.25, 0.75), Interval(-1.0, 0.0), TRUTH,
    Interval(1.0, 20.0, integer=True), Interval(-4.0, 4.0, nonzero=True),
]  # fmt: skip
# Ranges that reach the ends of the format, infinities and NaN.
EXTREME = [
    FINITE, NONNEGATIVE, POSITIVE, ANYTHING, Interval(-INF, 0.0), Interval(100.0, INF), Interval(-1000.0, 1000.0),
    Interval(0.0, INF, plus_inf=True), Interval(-5.0, 5.0, minus_inf=True), Interval(-2.0, 2.0, nan=True), point(INF),
    Interval(-INF, INF, minus_inf=True, plus_inf=True, nan=True),
]  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def function(operation: str) -> Callable[..., Any]:
    found: Any = torch
    for part in operation.split(".")[1:]:
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


# Past this a sum or a product of gentle values could overflow on the way.
GENTLE = 100.0


def landmarks(form: Format, *, gentle: bool) -> list[float]:
    extreme = [] if gentle else [form.smallest, form.tiny, form.max]
    sizes = [form.eps, 0.5, 1.0, 2.0, 10.0, 88.8, 1e4, *extreme]
    return [0.0, *sizes, *(-size for size in sizes)]


@cache
def values_in(interval: Interval, form: Format, seed: int, *, gentle: bool = False) -> Any:
    """ROWS x COLUMNS values of the interval: its ends, landmarks, infinities, NaN, and random ones."""
    generator = torch.Generator().manual_seed(seed)
    limit = GENTLE if gentle else form.max
    low, high = max(interval.low, -limit), min(interval.high, limit)
    found = [value for value in (low, high, *landmarks(form, gentle=gentle)) if interval.contains(value)]
    found += [value for value in (-INF, INF, math.nan) if interval.contains(value)]
    shares = torch.rand(ROWS * COLUMNS, generator=generator, dtype=torch.float64)
    reach = torch.rand(ROWS * COLUMNS, generator=generator, dtype=torch.float64) * 8
    near = (shares - 0.5) * reach.exp()
    spread = low / 2 + shares * (high / 2 - low / 2) + low / 2 if interval.has_finite else near
    pool = torch.cat([torch.tensor(found, dtype=torch.float64), near.clamp(low, high), spread])
    pool = pool.round() if interval.integer else pool
    stored = pool.to(getattr(torch, form.name)) + 0.0
    stored = stored[holds(interval, stored)]
    picked = torch.randint(len(stored), (ROWS * COLUMNS,), generator=generator)
    picked[: min(len(found), ROWS * COLUMNS)] = torch.arange(min(len(found), len(stored)))[: ROWS * COLUMNS]
    return stored[picked[torch.randperm(ROWS * COLUMNS, generator=generator)]].view(ROWS, COLUMNS)


def holds(interval: Interval, values: Any, *, admit: bool = False) -> Any:
    """Which elements are in the interval; with `admit`, an overflow from an open end is."""
    values = values.detach().double()
    inside = (values >= interval.low) & (values <= interval.high) & values.isfinite()
    inside &= (values != 0) | (not interval.nonzero)
    inside &= (values == values.floor()) | (not interval.integer)
    inside |= values.isnan() & interval.nan
    inside |= (values == INF) & (interval.plus_inf or (admit and interval.high == INF))
    return inside | ((values == -INF) & (interval.minus_inf or (admit and interval.low == -INF)))


def outside(interval: Interval, values: Any) -> list[float]:
    """The elements that torch computed and the interval does not admit."""
    odd = (
        values[~holds(interval, values, admit=True)]
        if values.dim()
        else values[None][~holds(interval, values[None], admit=True)]
    )
    return odd.tolist()[:5]  # type: ignore[no-any-return]


# Elementwise operations: every value of one operand against every value of the others.

PAIR = ("input", "other")
OPERANDS: dict[str, tuple[str, ...]] = {
    **{
        f"torch.{name}": PAIR
        for name in (
            "add", "sub", "rsub", "mul", "div", "floor_divide", "fmod", "remainder", "maximum", "minimum", "fmax", "fmin",
            "atan2", "hypot", "copysign", "logaddexp", "logaddexp2", "xlogy", "special.xlog1py", "ldexp",
        )
    },
    "torch.addcdiv": ("input", "tensor1", "tensor2"),
    "torch.addcmul": ("input", "tensor1", "tensor2"),
    "torch.heaviside": ("input", "values"),
    "torch.lerp": ("input", "end", "weight"),
    "torch.pow": ("input", "exponent"),
    "torch.float_power": ("input", "exponent"),
}  # fmt: skip
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "torch.add": [{}, {"alpha": 2.5}],
    "torch.sub": [{}, {"alpha": -0.5}],
    "torch.addcmul": [{}, {"value": 0.1}],
    "torch.addcdiv": [{}, {"value": 3}],
    "torch.celu": [{}, {"alpha": 0.3}],
    "torch.clamp": [
        {"min": 0.1, "max": 0.7},
        {"min": 1e-8},
        {"max": 3},
        {"min": 2, "max": 1},
        {"min": -1e-5, "max": 1e5},
    ],
    "torch.clamp_max": [{"max": 0.0}, {"max": 12.3}],
    "torch.clamp_min": [{"min": 1e-12}, {"min": 0.0}, {"min": 1}],
    "torch.div": [{}, {"rounding_mode": "floor"}, {"rounding_mode": "trunc"}],
    "torch.fill": [{"value": 0.3}, {"value": -2}],
    "torch.logit": [{}, {"eps": 1e-6}, {"eps": 0.01}],
    "torch.nan_to_num": [{}, {"nan": 1.5, "posinf": 10.0, "neginf": -7.0}],
    "torch.nn.functional.elu": [{}, {"alpha": 2.0}],
    "torch.nn.functional.hardtanh": [{}, {"min_val": -0.3, "max_val": 2.0}],
    "torch.nn.functional.leaky_relu": [{}, {"negative_slope": 0.2}],
    "torch.nn.functional.softplus": [{}, {"beta": 3.0}, {"beta": 0.5, "threshold": 5}],
    "torch.rrelu": [{}, {"training": True}],
    "torch.threshold": [{"threshold": 0.5, "value": -3.0}, {"threshold": -1.0, "value": 0.0}],
}
POINTWISE = [
    "celu", "hardshrink", "relu", "rrelu", "threshold",
    *(f"nn.functional.{n}" for n in ("elu", "hardsigmoid", "hardtanh", "leaky_relu", "relu6", "softplus", "softshrink")),
]  # fmt: skip
UNARY = sorted({*ELEMENTWISE} - {*OPERANDS}) + [f"torch.{name}" for name in POINTWISE]
# Kernels with a flaw of their own at the ends of the format: they overflow on the way to a finite result.
ORDINARY_ONLY = {
    f"torch.{n}" for n in ("nn.functional.hardswish", "lerp", "addcdiv", "addcmul", "fmod", "remainder", "sinc")
}


def ranges_for(operation: str) -> list[Interval]:
    return ORDINARY if operation in ORDINARY_ONLY else ORDINARY + EXTREME


def supports(call: Callable[[], Any]) -> Any:
    """The result of a call; None where torch refuses: no such kernel on the CPU, or a bound outside the format."""
    try:
        return call()
    except (NotImplementedError, RuntimeError) as error:
        if "not implemented for" in str(error) or "without overflow" in str(error):
            return None
        raise


def form_of(result: Any) -> Format:
    return FORMATS[str(result.dtype).removeprefix("torch.")]


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("operation", UNARY)
def test_functions_of_one_argument_stay_in_their_range(operation: str, dtype: str) -> None:
    form, call = FORMATS[dtype], function(operation)
    odd = {}
    for constants in VARIANTS.get(operation, [{}]):
        for reach in ranges_for(operation):
            x = values_in(reach, form, 0, gentle=operation in ORDINARY_ONLY)
            result = supports(lambda x=x, constants=constants: call(x, **constants))
            if result is None:
                continue
            expected = transfer(operation, {"input": reach}, constants, form)
            if found := outside(expected, result):
                odd[f"{constants} {reach} -> {expected}"] = found
    assert odd == {}


def partners(reach: Interval, seed: int, operation: str) -> list[Interval]:
    """Some other ranges to meet this one, different ones for each."""
    pool = ranges_for(operation)
    return [reach, *(pool[(seed * 7 + step) % len(pool)] for step in (1, 4, 9, 13))]


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("operation", sorted(OPERANDS))
def test_functions_of_several_arguments_stay_in_their_range(operation: str, dtype: str) -> None:
    form, call, names = FORMATS[dtype], function(operation), OPERANDS[operation]
    exponentiates, gentle = operation.endswith(("pow", "power")), operation in ORDINARY_ONLY
    odd = {}
    for constants in VARIANTS.get(operation, [{}]):
        for seed, reach in enumerate(ranges_for(operation)):
            for other in partners(reach, seed, operation):
                ranges = dict(zip(names, (reach, other, reach), strict=False))
                tensors = [values_in(each, form, k, gentle=gentle) for k, each in enumerate(ranges.values())]
                result = supports(lambda tensors=tensors, constants=constants: call(*tensors, **constants))
                if result is None or (exponentiates and reach == FINITE):
                    continue  # of an unknown base nothing is said
                expected = transfer(operation, ranges, constants, form)
                if found := outside(expected, result):
                    odd[f"{constants} {' and '.join(map(str, ranges.values()))} -> {expected}"] = found
    assert odd == {}


# Operations on whole tensors: one expression each, in which a parameter's name is a ROWS x COLUMNS tensor of its range.

ENDLESS = [
    FINITE, NONNEGATIVE, ANYTHING, Interval(0.0, INF, plus_inf=True), Interval(-5.0, 5.0, minus_inf=True),
    Interval(-2.0, 2.0, nan=True), Interval(-3.0, 3.0, minus_inf=True, plus_inf=True),
]  # fmt: skip
EXPRESSIONS = """
torch.amax f(input, dim=-1)
torch.amin f(input, dim=-1)
torch.argmax f(input)
torch.argmin f(input, dim=-1)
torch.argsort f(input)
torch.count_nonzero f(input, dim=-1)
torch.cummax f(input, dim=-1)[0]
torch.cummin f(input, dim=-1)[0]
torch.cumprod f(input[:, :3], dim=-1)
torch.cumsum f(input, dim=-1)
torch.diff f(input)
torch.kthvalue f(input, 3)[0]
torch.linalg.norm f(input)
torch.linalg.norm f(input, dim=-1)
torch.linalg.vector_norm f(input, dim=-1)
torch.linalg.vector_norm f(input, ord=1)
torch.linalg.vector_norm f(input, ord=float('inf'))
torch.linalg.vector_norm f(input, ord=3)
torch.linalg.matrix_norm f(input)
torch.norm f(input)
torch.norm f(input, p=1)
torch.norm f(input, dim=-1)
torch.logcumsumexp f(input, dim=-1)
torch.logsumexp f(input, dim=-1)
torch.max f(input)
torch.max f(input, other=other)
torch.min f(input)
torch.min f(input, other=other)
torch.mean f(input)
torch.mean f(input, dim=0)
torch.median f(input)
torch.mode f(input)[0]
torch.msort f(input)
torch.nanmean f(input, dim=-1)
torch.nanmedian f(input)
torch.nansum f(input, dim=-1)
torch.prod f(input[:, :3], dim=-1)
torch.quantile f(input, 0.3)
torch.nanquantile f(input, 0.3)
torch.renorm f(input, 2, 0, 1.0)
torch.sort f(input)[0]
torch.std f(input, dim=-1)
torch.std f(input, correction=0)
torch.sum f(input)
torch.sum f(input, dim=-1)
torch.topk f(input, 2)[0]
torch.trace f(input)
torch.unique f(input)
torch.unique_consecutive f(input)
torch.var f(input, dim=-1)
torch.var f(input, correction=0)
torch.cdist f(input, other)
torch.dist f(input, other)
torch.pdist f(input)
torch.pairwise_distance f(input, other)
torch.cosine_similarity f(input, other)
torch.nn.functional.normalize f(input)
torch.nn.functional.normalize f(input, p=1.0, dim=0)
torch.trapezoid f(input)
torch.cov f(input)
torch.corrcoef f(input)
torch.softmax f(input, dim=-1)
torch.softmax f(input, dim=0)
torch.log_softmax f(input, dim=-1)
torch.nn.functional.softmin f(input, dim=-1)
torch.nn.functional.gumbel_softmax f(input, dim=-1)
torch.nn.functional.gumbel_softmax f(input, hard=True)
torch.nn.functional.glu f(input)
torch.prelu f(input, weight[0, :1])
torch.nn.functional.layer_norm f(input, (16,))
torch.nn.functional.group_norm f(input, 4)
torch.nn.functional.rms_norm f(input, (16,))
torch.nn.functional.batch_norm f(input, None, None, training=True)
torch.nn.functional.instance_norm f(input[None])
torch.nn.functional.local_response_norm f(input[None], 3)
torch.nn.functional.dropout f(input)
torch.nn.functional.dropout f(input, p=0.25)
torch.nn.functional.dropout f(input, training=False)
torch.nn.functional.dropout1d f(input)
torch.nn.functional.dropout2d f(input[None, None])
torch.nn.functional.dropout3d f(input[None, None])
torch.nn.functional.alpha_dropout f(input, training=True)
torch.nn.functional.feature_alpha_dropout f(input[None], training=True)
torch.nn.functional.scaled_dot_product_attention f(input[None], key[None], value[None])
torch.nn.functional.linear f(input, weight)
torch.conv1d f(input[None], weight[:, :6, None])
torch.conv2d f(input[None, None], weight[None, None, :2, :2])
torch.conv3d f(input[None, None, None], weight[None, None, None, :2, :2])
torch.conv_transpose1d f(input[None], weight[:, :3, None])
torch.conv_transpose2d f(input[None, None], weight[None, None, :2, :2])
torch.conv_transpose3d f(input[None, None, None], weight[None, None, None, :2, :2])
torch.addbmm f(input[:, :6], batch1[None], batch2[None].mT)
torch.addmm f(input[:, :6], mat1, mat2.mT)
torch.addmm f(input[:, :6], mat1, mat2.mT, alpha=0.5)
torch.addmv f(input[:, 0], mat, vec[0])
torch.addr f(input, vec1[:, 0], vec2[0])
torch.baddbmm f(input[None, :, :6], batch1[None], batch2[None].mT)
torch.bmm f(input[None], mat2[None].mT)
torch.dot f(input[0], tensor[1])
torch.inner f(input, other)
torch.kron f(input[:3, :3], other[:3, :3])
torch.linalg.vecdot f(input, other)
torch.matmul f(input, other.mT)
torch.mm f(input, mat2.mT)
torch.mv f(input, vec[0])
torch.outer f(input[0], vec2[1])
torch.tensordot f(input, other)
torch.vdot f(input[0], other[1])
torch.cross f(input[:, :3], other[:, :3], dim=1)
torch.linalg.cross f(input[:, :3], other[:, :3])
torch.matrix_power f(input[:, :6], 2)
torch.nn.functional.embedding f(input.clamp(0, 5).nan_to_num().long(), weight)
torch.nn.functional.embedding_bag f(input.clamp(0, 5).nan_to_num().long(), weight)
torch.nn.functional.mse_loss f(input, target)
torch.nn.functional.mse_loss f(input, target, reduction='none')
torch.nn.functional.l1_loss f(input, target)
torch.nn.functional.smooth_l1_loss f(input, target)
torch.nn.functional.huber_loss f(input, target)
torch.nn.functional.kl_div f(input, target, reduction='batchmean')
torch.nn.functional.cross_entropy f(input, labels)
torch.nn.functional.cross_entropy f(input, labels, label_smoothing=0.1)
torch.nn.functional.nll_loss f(input, labels)
torch.nn.functional.nll_loss f(input, labels, reduction='sum')
torch.nn.functional.margin_ranking_loss f(input, other, torch.ones_like(input))
torch.nn.functional.multi_margin_loss f(input, labels)
torch.nn.functional.multilabel_margin_loss f(input, (labels[:, None] + torch.zeros_like(input)).long())
torch.nn.functional.soft_margin_loss f(input, torch.ones_like(input))
torch.nn.functional.poisson_nll_loss f(input, torch.ones_like(input))
torch.nn.functional.poisson_nll_loss f(input, torch.ones_like(input), log_input=False)
torch.nn.functional.hinge_embedding_loss f(input, torch.ones_like(input))
torch.nn.functional.cosine_embedding_loss f(input, other, torch.ones_like(input[:, 0]))
torch.nn.functional.triplet_margin_loss f(input, other, input)
torch.nn.functional.triplet_margin_with_distance_loss f(input, other, input)
torch.nn.functional.binary_cross_entropy f(input, target)
torch.nn.functional.binary_cross_entropy_with_logits f(input, target)
torch.nn.functional.multilabel_soft_margin_loss f(input, target)
torch.nn.functional.gaussian_nll_loss f(input, target, torch.ones_like(input))
torch.nn.functional.ctc_loss f(input[:, None], torch.tensor([[1, 2]]), torch.tensor([6]), torch.tensor([2]))
torch.nn.functional.ctc_loss f(input[:, None], torch.tensor([[1, 1, 1, 1]]), torch.tensor([6]), torch.tensor([4]), zero_infinity=True)
torch.det f(input[:, :6])
torch.logdet f(input[:, :6])
torch.slogdet f(input[:, :6])[0]
torch.linalg.svdvals f(input)
torch.linalg.svd f(input)[0]
torch.svd f(input)[0]
torch.linalg.eigvalsh f(input[:, :6] + input[:, :6].mT)
torch.linalg.cond f(input)
torch.linalg.matrix_rank f(input)
torch.matrix_exp f(input[:, :6].double() / 10)
torch.gather f(input, 1, torch.zeros(6, 2, dtype=torch.long))
torch.index_select f(input, 0, labels)
torch.masked_select f(input, torch.ones_like(input, dtype=torch.bool))
torch.take f(input, labels)
torch.take_along_dim f(input, labels[:, None], 1)
torch.select f(input, 0, 1)
torch.narrow f(input, 1, 2, 3)
torch.tril f(input)
torch.triu f(input)
torch.diag f(input[0])
torch.diag_embed f(input)
torch.diagflat f(input)
torch.where f(input == input, input, other)
torch.where f(input != input, input, other)
torch.masked_fill f(input, input == input, -2.5)
torch.masked_scatter f(input, input == input, source)
torch.scatter f(input, 0, labels[None], src)
torch.scatter f(input, 0, labels[None], 1.5)
torch.scatter_add f(input, 0, torch.zeros_like(input, dtype=torch.long), src)
torch.scatter_reduce f(input, 0, torch.zeros_like(input, dtype=torch.long), src, 'amax')
torch.scatter_reduce f(input, 0, torch.zeros_like(input, dtype=torch.long), src, 'mean')
torch.scatter_reduce f(input, 0, torch.zeros_like(input, dtype=torch.long), src, 'prod')
torch.index_add f(input, 0, labels, source)
torch.index_copy f(input, 0, torch.arange(6), source)
torch.index_fill f(input, 0, labels, 7.0)
torch.index_put f(input, (labels,), values)
torch.index_put f(input, (labels,), values, accumulate=True)
torch.index_reduce f(input, 0, labels, source, 'amin')
torch.select_scatter f(input, src[0], 0, 1)
torch.slice_scatter f(input, src[:2], 0, 0, 2)
torch.roll f(input, 2)
torch.flip f(input, (0,))
torch.cat f([input, input])
torch.stack f([input, input])
torch.block_diag f(tensors, tensors)
torch.meshgrid f(tensors[0], tensors[1], indexing='ij')[0]
torch.repeat_interleave f(input, 2)
torch.nn.functional.one_hot f(input.clamp(0, 5).nan_to_num().long())
torch.isnan f(input)
torch.isfinite f(input)
torch.eq f(input, other)
torch.lt f(input, other)
torch.logical_and f(input, other)
torch.isclose f(input, other)
torch.signbit f(input)
torch.all f(input)
torch.any f(input)
torch.histc f(input.nan_to_num(posinf=3, neginf=-3))
torch.nonzero f(input)
torch.searchsorted f(torch.arange(3.0).to(input.dtype), input)
torch.bucketize f(input, torch.arange(3.0).to(input.dtype))
torch.bincount f(input.clamp(0, 5).nan_to_num().long().flatten())
torch.Tensor.half f(input)
torch.Tensor.bfloat16 f(input)
torch.Tensor.float f(input)
torch.Tensor.double f(input)
torch.Tensor.bool f(input)
torch.Tensor.long f(input)
torch.Tensor.int f(input)
torch.Tensor.to f(input, dtype=torch.float16)
torch.Tensor.view f(input, -1)
torch.Tensor.expand f(input, 2, 6, 16)
torch.Tensor.copy_ f(torch.zeros_like(src), src)
torch.Tensor.unfold f(input, 1, 2, 1)
torch.Tensor.fill_diagonal_ f(input.clone(), 4.0)
torch.nn.functional.pad f(input, (1, 1))
torch.nn.functional.pad f(input, (1, 1), value=-3.0)
torch.nn.functional.pad f(input, (1, 1), mode='reflect')
torch.nn.functional.max_pool1d f(input, 2)
torch.nn.functional.max_pool2d f(input[None], 2)
torch.nn.functional.max_pool3d f(input[None, None].repeat(1, 2, 1, 1), 2)
torch.nn.functional.adaptive_max_pool1d f(input, 2)
torch.nn.functional.adaptive_max_pool2d f(input[None], 2)
torch.avg_pool1d f(input, 2)
torch.avg_pool1d f(input, 3, padding=1)
torch.nn.functional.avg_pool2d f(input[None], 2)
torch.nn.functional.avg_pool2d f(input[None], 2, padding=1)
torch.adaptive_avg_pool1d f(input, 5)
torch.nn.functional.adaptive_avg_pool2d f(input[None], 3)
torch.nn.functional.interpolate f(input[None], scale_factor=2)
torch.nn.functional.interpolate f(input[None], scale_factor=2, mode='linear')
torch.nn.functional.interpolate f(input[None, None], scale_factor=2, mode='bilinear')
torch.nn.functional.interpolate f(input[None, None], scale_factor=2, mode='bicubic')
torch.nn.functional.grid_sample f(input[None, None], torch.rand(1, 3, 3, 2, dtype=input.dtype) * 3 - 1.5, align_corners=False)
torch.nn.functional.unfold f(input[None, None], 2, padding=1)
torch.pixel_shuffle f(input.view(1, 4, 4, 6), 2)
torch.bitwise_not f(input != 0)
torch.ones_like f(input)
torch.zeros_like f(input)
torch.full_like f(input, 0.3)
torch.rand_like f(input)
torch.randn_like f(input)
torch.randint_like f(input, 2, 9)
torch.bernoulli f(input.nan_to_num().clamp(0, 1))
torch.Tensor.uniform_ torch.empty(96, dtype=dtype).uniform_(-2, 3)
torch.Tensor.normal_ torch.empty(96, dtype=dtype).normal_()
torch.Tensor.exponential_ torch.empty(96, dtype=dtype).exponential_()
torch.Tensor.geometric_ torch.empty(96, dtype=dtype).geometric_(0.3)
torch.Tensor.log_normal_ torch.empty(96, dtype=dtype).log_normal_()
torch.Tensor.bernoulli_ torch.empty(96, dtype=dtype).bernoulli_(0.3)
torch.Tensor.zero_ torch.empty(96, dtype=dtype).zero_()
torch.Tensor.new_full f(input, (2,), 0.7)
torch.Tensor.new_zeros f(input, (2,))
torch.Tensor.new_ones f(input, (2,))
torch.randint torch.randint(3, 9, (20,))
torch.randperm torch.randperm(5)
torch.arange torch.arange(2, 7)
torch.arange torch.arange(5)
torch.arange torch.arange(0.0, 1.0, 0.3, dtype=dtype)
torch.linspace torch.linspace(-1, 2, 7, dtype=dtype)
torch.eye torch.eye(3)
torch.hann_window torch.hann_window(8, dtype=dtype)
torch.tril_indices torch.tril_indices(3, 3)
torch.multinomial torch.multinomial(torch.ones(4), 3)
torch.poisson torch.poisson(torch.ones(4) * 3)
torch.rand torch.rand(50, dtype=dtype)
torch.randn torch.randn(50, dtype=dtype)
torch.full torch.full((3,), 0.3, dtype=dtype)
torch.ones torch.ones(3)
torch.zeros torch.zeros(3)
torch.clone f(input)
torch.Tensor.cauchy_ torch.empty(96, dtype=dtype).cauchy_()
torch.Tensor.char f(input)
torch.Tensor.short f(input)
torch.Tensor.contiguous f(input)
torch.Tensor.cpu f(input)
torch.Tensor.expand_as f(input, input)
torch.Tensor.new_tensor f(src, [0.5])
torch.Tensor.repeat f(input, 2, 1)
torch.Tensor.reshape_as f(input, input)
torch.Tensor.to_dense f(input)
torch.Tensor.type f(input, dtype=torch.float16)
torch.Tensor.type_as f(input, input)
torch.Tensor.view_as f(input, input)
torch.adjoint f(input)
torch.argwhere f(input)
torch.as_strided f(input, (2, 2), (1, 1))
torch.as_tensor f(input)
torch.atleast_1d f(tensors)
torch.atleast_2d f(tensors)
torch.atleast_3d f(tensors)
torch.bitwise_and f(input != 0, other != 0)
torch.bitwise_or f(input != 0, other != 0)
torch.bitwise_xor f(input != 0, other != 0)
torch.bitwise_left_shift f(input.nan_to_num().long(), torch.ones(16, dtype=torch.long))
torch.bitwise_right_shift f(input.nan_to_num().long(), torch.ones(16, dtype=torch.long))
torch.broadcast_tensors f(tensors, tensors)[0]
torch.broadcast_to f(input, (2, 6, 16))
torch.cartesian_prod f(tensors[0], tensors[1])
torch.channel_shuffle f(input[None], 2)
torch.cholesky_inverse f(input[:, :6].double().tril() + 9 * torch.eye(6))
torch.chunk f(input, 2)[0]
torch.column_stack f([input, input])
torch.combinations f(input[0])
torch.conj f(input)
torch.cumulative_trapezoid f(input, input)
torch.detach f(input)
torch.diagonal f(input)
torch.dsplit f(input[None].repeat(2, 1, 1), 2)[0]
torch.dstack f([input, input])
torch.flatten f(input)
torch.fliplr f(input)
torch.flipud f(input)
torch.ge f(input, other)
torch.gt f(input, other)
torch.le f(input, other)
torch.ne f(input, other)
torch.hamming_window torch.hamming_window(8)
torch.hsplit f(input, 2)[0]
torch.hstack f([input, input])
torch.inverse f(input[:, :6].double() + 400 * torch.eye(6))
torch.isin f(input, input)
torch.isinf f(input)
torch.isneginf f(input)
torch.isposinf f(input)
torch.isreal f(input)
torch.linalg.cholesky f(input[:, :6].double() @ input[:, :6].double().mT + torch.eye(6))
torch.linalg.diagonal f(input)
torch.linalg.eigh f(input[:, :6] + input[:, :6].mT)[0]
torch.linalg.inv_ex f(input[:, :6].double() + 400 * torch.eye(6))[0]
torch.linalg.pinv f(input)
torch.linalg.solve f(input[:, :6].double() + 400 * torch.eye(6), other.double())
torch.logical_not f(input)
torch.logical_or f(input, other)
torch.logical_xor f(input, other)
torch.movedim f(input, 0, 1)
torch.nn.functional.adaptive_avg_pool3d f(input[None, None], 2)
torch.nn.functional.adaptive_max_pool3d f(input[None, None], 2)
torch.nn.functional.avg_pool3d f(input[None, None].repeat(1, 2, 1, 1), 2)
torch.normal torch.normal(0.0, 1.0, (50,))
torch.permute f(input, (1, 0))
torch.pinverse f(input)
torch.pixel_unshuffle f(input[None, None], 2)
torch.positive f(input)
torch.ravel f(input)
torch.real f(input)
torch.reshape f(input, (-1,))
torch.rot90 f(input)
torch.split f(input, 2)[0]
torch.squeeze f(input[None])
torch.t f(input)
torch.tensor f(input.tolist())
torch.tensor_split f(input, 2)[0]
torch.tile f(input, (2,))
torch.transpose f(input, 0, 1)
torch.triu_indices torch.triu_indices(3, 3)
torch.unbind f(input)[0]
torch.unflatten f(input, 1, (4, 4))
torch.unsqueeze f(input, 0)
torch.vsplit f(input, 2)[0]
torch.vstack f([input, input])
"""


NAMES = "input other target weight key value src source values tensor vec vec1 vec2 mat mat1 mat2 batch1 batch2 tensors"
PARTS = frozenset(NAMES.split())
CASES = [tuple(line.split(" ", 1)) for line in EXPRESSIONS.strip().splitlines()]
# What an operation is defined for.
RESTRICTED: dict[str, dict[str, Interval]] = {
    "torch.nn.functional.binary_cross_entropy": {"input": UNIT, "target": UNIT},
    "torch.nn.functional.kl_div": {"target": Interval(0.0, 20.0, plus_inf=True, nan=True)},
    "torch.nn.functional.binary_cross_entropy_with_logits": {"target": Interval(-5.0, 20.0, nan=True)},
    "torch.nn.functional.multilabel_soft_margin_loss": {"target": Interval(-5.0, 20.0, nan=True)},
    "torch.prod": {"input": Interval(-4.0, 20.0)},  # products overflow on the way, and inf * 0 is NaN
    "torch.cumprod": {"input": Interval(-4.0, 20.0)},
    "torch.cumulative_trapezoid": {"input": Interval(-5.0, 20.0)},
    "torch.matrix_exp": {"input": Interval(-1.0, 5.0)},
    "torch.nn.functional.ctc_loss": {"input": Interval(-INF, 0.0)},
    "torch.nn.functional.multilabel_margin_loss": {"input": FINITE},
}


class Argument(NamedTuple):
    """An argument of an expression: the operand whose tensor it is made of, or a constant."""

    operand: str = ""
    constant: object = None
    is_constant: bool = False


def read_argument(node: ast.expr) -> Argument:
    inner = [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in PARTS]
    if inner:
        return Argument(inner[0])
    text = ast.unparse(node)
    if text in {"float('inf')", "torch.float16"}:
        return Argument(constant=INF if "inf" in text else "float16", is_constant=True)
    try:
        return Argument(constant=ast.literal_eval(node), is_constant=True)
    except ValueError:
        return Argument()


def read_call(operation: str, expression: str) -> dict[str, Argument]:
    """The arguments of the outermost call of an expression, by parameter name."""
    node: ast.expr = ast.parse(expression, mode="eval").body
    while isinstance(node, ast.Subscript):
        node = node.value
    assert isinstance(node, ast.Call)
    is_method = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call)
    bound = bind(
        operation,
        [read_argument(argument) for argument in node.args],
        {keyword.arg or "": read_argument(keyword.value) for keyword in node.keywords},
        Argument() if is_method else None,
    )
    assert bound is not None
    starred = [parameter.name for parameter in PARAMETERS[operation] if parameter.variadic]
    return {**bound.arguments, **({starred[0]: bound.variadic[0]} if bound.variadic else {})}


def cases_of(operation: str, expression: str) -> Iterator[dict[str, Interval]]:
    """Ranges for the operands that an expression has."""
    names = sorted({argument.operand for argument in read_call(operation, expression).values() if argument.operand})
    allowed = RESTRICTED.get(operation, {})
    pools = [[r for r in ORDINARY + ENDLESS if r.is_subset(allowed.get(name, EVERYTHING))] for name in names]
    for number, first in enumerate(pools[0] if pools else [FINITE]):
        yield {
            name: pool[(number + 5 * k) % len(pool)] if k else first
            for k, (name, pool) in enumerate(zip(names, pools, strict=True))
        }
        yield {name: first if first in pool else pool[0] for name, pool in zip(names, pools, strict=True)}


def compute(code: Any, scope: Mapping[str, Any], ranges: Mapping[str, Interval]) -> Any:
    """The value of an expression; None where torch has no kernel, or refuses what is not finite."""
    try:
        return eval(code, {}, dict(scope))  # noqa: S307 - the expressions are the literals above
    except RuntimeError as error:
        refused = not all(reach.is_finite for reach in ranges.values())
        if (
            refused
            or isinstance(error, NotImplementedError)
            or "not implemented for" in str(error)
            or "Low precision" in str(error)
            or ("float" in str(error) and "double" in str(error))
        ):
            return None
        raise


@pytest.mark.filterwarnings("ignore:index_reduce.. is in beta")
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize(("operation", "expression"), CASES, ids=[" ".join(case) for case in CASES])
def test_operations_on_tensors_stay_in_their_range(operation: str, expression: str, dtype: str) -> None:
    torch.manual_seed(0)
    form, bound = FORMATS[dtype], read_call(operation, expression)
    code = compile(expression, operation, "eval")
    constants = {name: argument.constant for name, argument in bound.items() if argument.is_constant}
    odd = {}
    for given in cases_of(operation, expression):
        tensors = {name: values_in(reach, form, k, gentle=True) for k, (name, reach) in enumerate(given.items())}
        scope = {
            "torch": torch,
            "F": F,
            "labels": torch.arange(ROWS),
            "dtype": getattr(torch, dtype),
            "f": function(operation) if " f(" in f" {expression}" else None,
            **tensors,
        }
        result = compute(code, scope, given)
        if result is None:
            continue
        ranges = {name: given[argument.operand] for name, argument in bound.items() if argument.operand}
        expected = transfer(operation, ranges, constants, form)
        if found := outside(expected, result):
            odd[f"{' and '.join(map(str, given.values()))} -> {expected}"] = found
    assert odd == {}


# Nothing to sample: memory that nothing has filled, numbers and lists that are no tensors, devices, other packages.
NOT_SAMPLED = {
    *(f"torch.{name}" for name in ("Tensor", "empty", "empty_like", "empty_strided", "Tensor.new_empty")),
    *(
        f"torch.Tensor.{name}"
        for name in ("item", "tolist", "numpy", "size", "dim", "cuda", "pin_memory", "requires_grad_")
    ),
    *(
        f"torch.{name}"
        for name in ("numel", "equal", "allclose", "is_nonzero", "from_numpy", "view_as_real", "qr", "cholesky")
    ),
    *("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.get_total_norm"),
    *("einops.rearrange", "einops.reduce", "einops.repeat"),
}


def test_every_transfer_is_sampled() -> None:
    sampled = {*UNARY, *OPERANDS, *(operation for operation, _ in CASES)}
    assert TRANSFER.keys() - sampled == NOT_SAMPLED


def test_every_transfer_is_of_an_operation_of_the_table() -> None:
    assert (TRANSFER.keys() | RESULTS.keys()) - SIGNATURES.keys() == set()


TUPLES = {
    "torch.aminmax": "f(input)",
    "torch.linalg.eigh": "f(input[:, :6] + input[:, :6].mT)",
    "torch.linalg.qr": "f(input)",
    "torch.linalg.svd": "f(input, full_matrices=False)",
    "torch.qr": "torch.linalg.qr(input)",
    "torch.slogdet": "f(input[:, :6])",
    "torch.std_mean": "f(input, dim=-1)",
    "torch.svd": "f(input)",
    "torch.var_mean": "f(input, dim=-1)",
    "torch.kthvalue": "f(input, 2)",
    "torch.mode": "f(input)",
    "torch.topk": "f(input, 3)",
    "torch.sort": "f(input)",
    "torch.cummax": "f(input, dim=0)",
    "torch.cummin": "f(input, dim=0)",
}


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("operation", sorted(RESULTS))
def test_every_part_of_a_tuple_stays_in_its_range(operation: str, dtype: str) -> None:
    form, code = FORMATS[dtype], compile(TUPLES[operation], operation, "eval")
    odd = {}
    for reach in ORDINARY + ENDLESS:
        scope = {"torch": torch, "f": function(operation), "input": values_in(reach, form, 0, gentle=True)}
        result = compute(code, scope, {"input": reach})
        parts = results(operation, {"input": reach}, {}, form)
        assert parts is not None
        for expected, part in zip(parts, result or (), strict=result is not None):
            if found := outside(expected, part):
                odd[f"{reach} -> {expected}"] = found
    assert odd == {}


def test_an_operation_without_parts_has_no_results() -> None:
    assert results("torch.log", {}, {}, FLOAT32) is None


# What rules rely on, each in a line.


@pytest.mark.parametrize(
    ("operation", "ranges", "constants", "text"),
    [
        pytest.param("torch.softmax", {"input": FINITE}, {}, "[0, 1]", id="softmax is closed"),
        pytest.param("torch.softmax", {"input": Interval(-INF, INF, minus_inf=True)}, {}, "[0, 1] or nan", id="masked softmax"),
        pytest.param("torch.sigmoid", {"input": FINITE}, {}, "[0, 1]", id="sigmoid is closed"),
        pytest.param("torch.log_softmax", {"input": FINITE}, {}, "(-inf, 0]", id="log-probabilities"),
        pytest.param("torch.exp", {"input": FINITE}, {}, "[0, inf]", id="exp reaches 0 and inf"),
        pytest.param("torch.nn.functional.softplus", {"input": FINITE}, {}, "[0, inf)", id="softplus reaches 0"),
        pytest.param("torch.log", {"input": UNIT}, {}, "[-inf, 0]", id="log of a probability"),
        pytest.param("torch.clamp_min", {"input": FINITE}, {"min": 1e-12}, "[1e-12, inf)", id="clamp_min"),
        pytest.param("torch.clamp", {"input": FINITE}, {"min": None, "max": 5.0}, "(-inf, 5]", id="clamp without min"),
        pytest.param("torch.pow", {"input": FINITE}, {"exponent": 2}, "[0, inf)", id="a square"),
        pytest.param("torch.pow", {"input": FINITE, "exponent": FINITE}, {}, "(-inf, inf)", id="unknown to unknown"),
        pytest.param("torch.pow", {"input": NONNEGATIVE, "exponent": FINITE}, {}, "[0, inf]", id="nonnegative base"),
        pytest.param("torch.var", {"input": FINITE}, {}, "[0, inf)", id="a variance"),
        pytest.param("torch.norm", {"input": FINITE}, {}, "[0, inf)", id="a norm"),
        pytest.param("torch.sum", {"input": TRUTH}, {}, "[0, inf)", id="a mask's sum"),
        pytest.param("torch.sum", {"input": Interval(1e-12, 1.0)}, {}, "[1e-12, inf)", id="a sum of positives"),
        pytest.param("torch.mean", {"input": UNIT}, {}, "[0, 1]", id="a mean of probabilities"),
        pytest.param("torch.masked_fill", {"input": Interval(-5.0, 5.0), "value": point(-INF)}, {}, "[-5, 5] or -inf", id="masked"),
        pytest.param("torch.where", {"input": UNIT, "other": point(2.0)}, {}, "[0, 2]", id="where"),
        pytest.param("torch.nan_to_num", {"input": Interval(0.0, 1.0, nan=True)}, {}, "[0, 1]", id="nan_to_num"),
        pytest.param("torch.max", {"input": FINITE, "other": point(0.0)}, {}, "[0, inf)", id="max with another"),
        pytest.param("torch.Tensor.half", {"input": point(1e-8)}, {}, "[0, 0]", id="1e-8 in half"),
        pytest.param("torch.Tensor.to", {"input": point(1e9)}, {"dtype": "float16"}, "inf", id="1e9 in half"),
        pytest.param("torch.Tensor.to", {"input": UNIT}, {"device": "cuda"}, "[0, 1]", id="to a device"),
        pytest.param("torch.nn.functional.no_such", {"input": UNIT}, {}, "(-inf, inf)", id="not in the table"),
    ],
)  # fmt: skip
def test_what_operations_return(
    operation: str, ranges: dict[str, Interval], constants: dict[str, object], text: str
) -> None:
    assert str(transfer(operation, ranges, constants, FLOAT32)) == text


def test_a_cosine_can_pass_1_in_every_format() -> None:
    for form in FORMATS.values():
        cosine = transfer("torch.cosine_similarity", {"input": FINITE, "other": FINITE}, {}, form)
        assert cosine.contains(form.above(1.0))


def test_a_number_beside_a_half_tensor_is_not_rounded_to_half() -> None:
    assert str(transfer("torch.div", {"input": UNIT}, {"other": 1e-16}, FLOAT16)) == "[0, inf]"
    assert str(transfer("torch.add", {"input": NONNEGATIVE}, {"other": 1e-8}, FLOAT16)) == "[0, inf)"


def test_a_reduction_of_what_may_be_nothing_says_so() -> None:
    assert str(transfer("torch.sum", {"input": point(2.0)}, {}, FLOAT32, empty=True)) == "[0, inf)"
    assert str(transfer("torch.mean", {"input": UNIT}, {}, FLOAT32, empty=True)) == "[0, 1] or nan"
    assert str(transfer("torch.std", {"input": UNIT}, {}, FLOAT32, empty=True)).endswith("or nan")
