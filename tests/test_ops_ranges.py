"""Range transfers of elementwise operations, sampled against torch, and what rules rely on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from nanlint.ops.formats import FLOAT16, FLOAT32, FORMATS
from nanlint.ops.interval import FINITE, INF, NONNEGATIVE, TRUTH, UNIT, Interval, point
from nanlint.ops.ranges import transfer
from nanlint.ops.transfers.elementwise import ELEMENTWISE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

torch: Any = pytest.importorskip("torch", reason="range transfers are sampled in torch")

from tests.ops_sampling import EXTREME, ORDINARY, function, outside, values_in  # noqa: E402 - it imports torch


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("operation", UNARY)
def test_functions_of_one_argument_stay_in_their_range(operation: str, dtype: str) -> None:
    form, call = FORMATS[dtype], function(operation)
    odd = {}
    for constants in VARIANTS.get(operation, [{}]):
        for reach in ranges_for(operation):
            x = values_in(reach, form, 0, gentle=operation in ORDINARY_ONLY)
            result = supports(partial(call, x, **constants))
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


@pytest.mark.slow
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
                result = supports(partial(call, *tensors, **constants))
                if result is None or (exponentiates and reach == FINITE):
                    continue  # of an unknown base nothing is said
                expected = transfer(operation, ranges, constants, form)
                if found := outside(expected, result):
                    odd[f"{constants} {' and '.join(map(str, ranges.values()))} -> {expected}"] = found
    assert odd == {}


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
