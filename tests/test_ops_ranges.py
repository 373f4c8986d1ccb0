"""Every range transfer, sampled against torch: what torch computes from values in the ranges, the result must admit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from nanlint.ops.formats import FORMATS, Format
from nanlint.ops.interval import (
    ANYTHING, COUNT, FINITE, INF, NONNEGATIVE, POSITIVE, SIGNED_UNIT, TRUTH, UNIT, Interval, point,
)  # fmt: skip
from nanlint.ops.names import SIGNATURES
from nanlint.ops.ranges import TRANSFER, results, transfer
from nanlint.ops.signatures import PARAMETERS
from nanlint.ops.transfers_activations import ACTIVATIONS
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


def landmarks(form: Format) -> list[float]:
    sizes = [form.smallest, form.tiny, form.eps, 0.5, 1.0, 2.0, 10.0, 88.8, 1e4, form.max]
    return [0.0, *sizes, *(-size for size in sizes)]


def values_in(interval: Interval, form: Format, seed: int) -> Any:
    """ROWS x COLUMNS values of the interval: its ends, landmarks, infinities, NaN, and random ones."""
    generator = torch.Generator().manual_seed(seed)
    low, high = max(interval.low, -form.max), min(interval.high, form.max)
    found = [value for value in (low, high, *landmarks(form)) if interval.contains(value)]
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
            "atan2", "hypot", "copysign", "nextafter", "logaddexp", "logaddexp2", "xlogy", "special.xlog1py", "igamma",
            "igammac", "ldexp",
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
    "torch.nn.functional.hardswish",
    "torch.lerp",
    "torch.nextafter",
    "torch.addcdiv",
    "torch.igamma",
    "torch.igammac",
}


def ranges_for(operation: str) -> list[Interval]:
    return ORDINARY if operation in ORDINARY_ONLY else ORDINARY + EXTREME


def supports(call: Callable[[], Any]) -> Any:
    """The result of a call; None for what torch does not have in this dtype on the CPU."""
    try:
        return call()
    except (NotImplementedError, RuntimeError) as error:
        if "not implemented for" in str(error):
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
        for seed, reach in enumerate(ranges_for(operation)):
            x = values_in(reach, form, seed)
            result = supports(lambda x=x, constants=constants: call(x, **constants))
            if result is None:
                return
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
    odd = {}
    for constants in VARIANTS.get(operation, [{}]):
        for seed, reach in enumerate(ranges_for(operation)):
            for number, other in enumerate(partners(reach, seed, operation)):
                ranges = dict(zip(names, (reach, other, reach), strict=False))
                tensors = [values_in(each, form, seed + 31 * k + number) for k, each in enumerate(ranges.values())]
                result = supports(lambda tensors=tensors, constants=constants: call(*tensors, **constants))
                if result is None:
                    return
                expected = transfer(operation, ranges, constants, form)
                if found := outside(expected, result):
                    odd[f"{constants} {' and '.join(map(str, ranges.values()))} -> {expected}"] = found
    assert odd == {}
