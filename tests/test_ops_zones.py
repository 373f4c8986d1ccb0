"""Every edge of every danger zone, re-derived from torch: forward, and through autograd with a gradient of 1."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from nanlint.ops.signatures import PARAMETERS
from nanlint.ops.tables import arithmetic as table_arithmetic
from nanlint.ops.zones import OPERATIONS, measured, zones

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanlint.model import Direction
    from nanlint.ops.interval import Interval

torch: Any = pytest.importorskip("torch", reason="danger zones are measured in torch")
F: Any = torch.nn.functional

from tests.ops_measuring import (  # noqa: E402 - it imports torch
    BACKWARD,
    DTYPES,
    FORWARD,
    HALVES,
    SINGLES,
    all_values,
    bisect,
    edges,
    evaluate,
    function,
    inside,
    is_bad,
    operand_of,
    samples,
    supports,
)

# How an operation of several operands is called on the values of the one that breaks it.
CALLS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("torch.addcdiv", "tensor2"): lambda x: torch.addcdiv(0 * x.detach(), torch.ones_like(x), x),
    ("torch.atan2", "input&other"): lambda x: torch.atan2(x, x),
    ("torch.div", "other"): lambda x: torch.ones_like(x) / x,
    ("torch.floor_divide", "other"): lambda x: torch.floor_divide(torch.ones_like(x), x.detach()),  # has no gradient
    ("torch.fmod", "other"): lambda x: torch.fmod(torch.ones_like(x), x),
    ("torch.hypot", "input&other"): lambda x: torch.hypot(x, x),
    ("torch.igamma", "other"): lambda x: torch.igamma(torch.ones_like(x), x),
    ("torch.ldexp", "other"): lambda x: torch.ldexp(torch.ones_like(x), x),
    ("torch.mvlgamma", "input"): lambda x: torch.mvlgamma(x, 2),
    ("torch.nn.functional.kl_div", "target"): lambda x: F.kl_div(torch.zeros_like(x), x, reduction="none"),
    ("torch.nn.functional.mse_loss", "input"): lambda x: F.mse_loss(x, torch.zeros_like(x), reduction="none"),
    ("torch.nn.functional.poisson_nll_loss", "input"): lambda x: F.poisson_nll_loss(
        x, torch.ones_like(x), reduction="none"
    ),
    ("torch.nn.functional.soft_margin_loss", "input"): lambda x: F.soft_margin_loss(
        x, torch.ones_like(x), reduction="none"
    ),
    ("torch.polygamma", "input"): lambda x: torch.polygamma(1, x),
    ("torch.remainder", "other"): lambda x: torch.remainder(torch.ones_like(x), x),
    ("torch.special.xlog1py", "other"): lambda x: torch.special.xlog1py(torch.ones_like(x), x),
    ("torch.xlogy", "other"): lambda x: torch.xlogy(torch.ones_like(x), x),
    ("torch.xlogy", "input&other"): lambda x: torch.xlogy(x, x),
}
# Zones that are true but not the whole truth.
INCOMPLETE = {
    ("torch.digamma", BACKWARD): "poles beside every negative integer",
    ("torch.polygamma", FORWARD): "poles beside every negative integer",
    ("torch.polygamma", BACKWARD): "poles beside every negative integer",
    ("torch.mvlgamma", FORWARD): "poles at the negative halves",
    ("torch.mvlgamma", BACKWARD): "poles at the negative halves",
    ("torch.special.log_ndtr", BACKWARD): "NaN in scattered stretches below -47000",
    ("torch.xlogy&", BACKWARD): "what x < 0 does is the zone of `other` alone",
    ("torch.xlogy&", FORWARD): "what x < 0 does is the zone of `other` alone",
}
# Zones up to the largest value that torch has on some processors and not on others: all of the zone, or none of it.
BY_PROCESSOR = {("torch.nn.functional.gelu", FORWARD): "some kernels overflow in a product that others never form"}
EXPONENTS = [2, 3, 4, -1, -2, -3, 0.5, 1.5, 2.5, -0.5, -1.5, 1 / 3]


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """The tensors are small: threads would only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


ROWS = sorted(
    {
        (operation, operand_of(zone), direction)
        for operation in OPERATIONS
        for dtype in DTYPES
        for zone in measured(operation, dtype)
        if not zone.row and all(math.isfinite(part.low) or math.isfinite(part.high) for part in zone.values)
        for direction in (FORWARD, BACKWARD)
    },
    key=str,
)


def is_absent_here(operation: str, operand: str, direction: Direction, dtype: str) -> bool:
    """Whether this processor's code does not even break at the largest value, where others' code does."""
    largest = torch.finfo(getattr(torch, dtype)).max
    return (operation, direction) in BY_PROCESSOR and not is_bad(call_of(operation, operand), largest, dtype, direction)


def table_parts(operation: str, operand: str, direction: Direction, dtype: str) -> list[Interval]:
    if is_absent_here(operation, operand, direction, dtype):
        return []
    return [
        part
        for zone in measured(operation, dtype)
        if operand_of(zone) == operand and zone.direction is direction
        for part in zone.values
    ]


def call_of(operation: str, operand: str) -> Callable[[Any], Any]:
    return CALLS.get((operation, operand)) or function(operation)


@cache
def broken(operation: str, operand: str, dtype: str) -> tuple[Any, Any]:
    """Every finite value of a half format, and which of them torch's vector code breaks at."""
    return evaluate(call_of(operation, operand), all_values(dtype))


def mismatches(operation: str, operand: str, direction: Direction, dtype: str) -> list[float]:
    """The values of a half format of which the table and torch do not say the same."""
    values, parts = all_values(dtype), table_parts(operation, operand, direction, dtype)
    expected = inside(values.double(), parts)
    odd = expected != broken(operation, operand, dtype)[int(direction is BACKWARD)]
    if (operation + "&" * ("&" in operand), direction) in INCOMPLETE:
        odd &= expected
    call = call_of(operation, operand)
    return [
        value
        for value, is_expected in zip(values[odd].double().tolist(), expected[odd].tolist(), strict=True)
        if is_bad(call, value, dtype, direction) != is_expected
    ]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(("operation", "operand", "direction"), ROWS)
def test_every_half_value_is_bad_exactly_inside_the_zones(
    operation: str, operand: str, direction: Direction, dtype: str
) -> None:
    if not supports(call_of(operation, operand), dtype):
        assert table_parts(operation, operand, direction, dtype) == []
        return
    assert mismatches(operation, operand, direction, dtype) == []


@pytest.mark.slow
@pytest.mark.parametrize("dtype", SINGLES)
@pytest.mark.parametrize(("operation", "operand", "direction"), ROWS)
def test_bisection_finds_the_edges_of_the_zones(operation: str, operand: str, direction: Direction, dtype: str) -> None:
    call, parts = call_of(operation, operand), table_parts(operation, operand, direction, dtype)
    found = edges(parts, dtype)
    assert [bisect(call, bad, good, dtype, direction) for _, bad, good in found] == [edge for edge, _, _ in found]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", SINGLES)
@pytest.mark.parametrize(("operation", "operand", "direction"), ROWS)
def test_values_of_every_size_are_bad_exactly_inside_the_zones(
    operation: str, operand: str, direction: Direction, dtype: str
) -> None:
    values, parts = samples(dtype), table_parts(operation, operand, direction, dtype)
    if operation in {"torch.digamma", "torch.polygamma"}:
        values = values[values > -100]  # torch counts up to 0 from a negative argument, one by one
    expected = inside(values.double(), parts)
    odd = expected != evaluate(call_of(operation, operand), values)[int(direction is BACKWARD)]
    if (operation + "&" * ("&" in operand), direction) in INCOMPLETE:
        odd &= expected
    assert values[odd].tolist() == []


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("exponent", EXPONENTS, ids=lambda exponent: f"exponent {exponent:.3g}")
def test_powers_break_where_their_zones_say(exponent: float, dtype: str) -> None:
    found = zones("torch.pow", dtype, {"exponent": exponent})

    def call(x: Any) -> Any:
        return x**exponent

    for direction in (FORWARD, BACKWARD):
        parts = [part for zone in found if zone.direction is direction for part in zone.values]
        values = all_values(dtype) if dtype in HALVES else samples(dtype)
        odd = inside(values.double(), parts) != evaluate(call, values)[int(direction is BACKWARD)]
        assert [
            v for v in values[odd].tolist() if is_bad(call, v, dtype, direction) != any(p.contains(v) for p in parts)
        ] == []
        for edge, bad, good in edges(parts, dtype):
            found_edge = bisect(call, bad, good, dtype, direction)
            # pow of float64 is the one function here that is off by more than Python's in its last digits.
            assert found_edge == edge or (dtype == "float64" and math.isclose(found_edge, edge, rel_tol=1e-13))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_gradient_of_a_tensor_exponent_is_nan_for_a_negative_base(dtype: str) -> None:
    (zone,) = zones("torch.pow", dtype)
    exponent = torch.tensor([2.0, 2.0], dtype=getattr(torch, dtype), requires_grad=True)
    base = torch.tensor([-1.0, 0.0], dtype=exponent.dtype)
    (gradient,) = torch.autograd.grad(torch.pow(base, exponent).sum(), exponent)
    assert [zone.contains(value) for value in base.tolist()] == gradient.isnan().tolist()
    assert (zone.operand, zone.gradient, zone.direction) == ("input", "exponent", BACKWARD)


# Operations with a plain `input` and nothing else they need.
PLAIN = [
    name
    for line in (table_arithmetic.ELEMENTWISE + table_arithmetic.ACTIVATIONS).strip().splitlines()
    if (name := line.split("(")[0]) and [p.name for p in PARAMETERS[name] if p.required] == ["input"]
]
NOT_ELEMENTWISE = {"torch.nn.functional.glu", "torch.softmax", "torch.log_softmax", "torch.nn.functional.softmin"}
NOT_ELEMENTWISE |= {"torch.nn.functional.gumbel_softmax", "torch.frexp", "torch.imag", "torch.real", "torch.nan_to_num"}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operation", sorted({*PLAIN} - OPERATIONS - NOT_ELEMENTWISE - {"torch.tan"}))
def test_an_operation_without_a_zone_is_finite_everywhere(operation: str, dtype: str) -> None:
    call = function(operation)
    if not supports(call, dtype):
        pytest.skip("torch does not have it in this dtype on the CPU")
    values = all_values(dtype) if dtype in HALVES else samples(dtype)
    assert [values[broken_at].tolist() for broken_at in evaluate(call, values)] == [[], []]
