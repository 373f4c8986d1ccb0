"""Danger zones of rows, infinities, pairs and vanishing eps; what rules ask of a zone; the defaults that bite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nanlint.ops.interval import ANYTHING, FINITE, INF, NONNEGATIVE, UNIT, Interval
from nanlint.ops.signatures import PARAMETERS
from nanlint.ops.zones import OPERATIONS, measured, zones

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.ops.zone import Zone

torch: Any = pytest.importorskip("torch", reason="danger zones are measured in torch")
F: Any = torch.nn.functional

from tests.ops_measuring import BACKWARD, DTYPES, FORWARD  # noqa: E402 - it imports torch

# Zones of rows, infinities and pairs: one sentence each.


def gradient_of(call: Callable[[Any], Any], *values: float, dtype: str = "float32") -> tuple[Any, Any]:
    x = torch.tensor(values, dtype=getattr(torch, dtype), requires_grad=True)
    y = call(x)
    return y.detach(), torch.autograd.grad(y.sum(), x)[0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("operation", "call", "fill"),
    [
        ("torch.softmax", lambda x: x.softmax(0), -INF),
        ("torch.log_softmax", lambda x: x.log_softmax(0), -INF),
        ("torch.nn.functional.softmin", lambda x: F.softmin(x, 0), INF),
        ("torch.logsumexp", lambda x: x.logsumexp(0), -INF),
    ],
)
def test_a_row_that_is_masked_whole_breaks(operation: str, call: Callable[[Any], Any], fill: float, dtype: str) -> None:
    forward, backward = (next(z for z in zones(operation, dtype) if z.direction is way) for way in (FORWARD, BACKWARD))
    value, gradient = gradient_of(call, fill, fill, dtype=dtype)
    assert (str(value.flatten()[0].item()), forward.row, forward.contains(fill)) == (forward.result, True, True)
    assert (str(gradient[0].item()), backward.row, backward.contains(fill)) == (backward.result, True, True)
    kept, kept_gradient = gradient_of(call, fill, 0.0, dtype=dtype)
    assert not kept.isnan().any()
    assert not kept_gradient.isnan().any()


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("torch.mul", torch.mul),
        ("torch.add", torch.add),
        ("torch.sub", torch.sub),
        ("torch.matmul", lambda a, b: torch.matmul(a[None], b[None])),
    ],
)
def test_infinities_turn_to_nan_with_the_partner_the_zone_names(
    operation: str, call: Callable[[Any, Any], Any]
) -> None:
    for zone in zones(operation, "float32"):
        for value in (part.least if part.minus_inf else part.greatest for part in zone.values):
            partner = zone.partner_values[0].constant
            other = zone.partner_values[0].least if partner is None else partner
            operands = (torch.tensor(value), torch.tensor(other))
            assert call(*(operands if zone.operand == "input" else operands[::-1])).isnan().all()


def test_logaddexp_of_two_minus_infinities_has_no_gradient() -> None:
    (zone,) = zones("torch.logaddexp", "float32")
    _, gradient = gradient_of(lambda x: torch.logaddexp(x, x), -INF)
    assert gradient.isnan().all()
    assert (zone.direction, zone.partner, zone.contains(-INF)) == (BACKWARD, "other", True)


ZERO_ROWS: dict[str, Callable[[Any, float], Any]] = {
    "torch.nn.functional.normalize": lambda x, eps: F.normalize(x, dim=-1, eps=eps),
    "torch.cosine_similarity": lambda x, eps: F.cosine_similarity(x, torch.ones_like(x), dim=-1, eps=eps),
    "torch.nn.functional.layer_norm": lambda x, eps: F.layer_norm(x, (4,), eps=eps),
    "torch.nn.functional.group_norm": lambda x, eps: F.group_norm(x, 2, eps=eps),
    "torch.nn.functional.rms_norm": lambda x, eps: F.rms_norm(x, (4,), eps=eps),
}


@pytest.mark.parametrize("eps", [0.0, 1e-12, 1e-8, 1e-5])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operation", ZERO_ROWS)
def test_a_row_of_zeros_is_nan_when_the_eps_does_not_survive(operation: str, dtype: str, eps: float) -> None:
    x = torch.zeros(2, 4, dtype=getattr(torch, dtype))
    found = zones(operation, dtype, {"eps": eps})
    assert bool(ZERO_ROWS[operation](x, eps).isnan().any()) is bool(found)
    assert all(zone.row and zone.contains(0.0) for zone in found)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operation", ["torch.nn.functional.normalize", "torch.cosine_similarity"])
def test_a_row_of_zeros_is_nan_in_half_through_the_default_eps(operation: str, dtype: str) -> None:
    assert bool(zones(operation, dtype)) is (dtype == "float16")


@pytest.mark.parametrize("eps", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_logit_with_an_eps_breaks_where_the_eps_rounds_away(dtype: str, eps: float) -> None:
    found = zones("torch.logit", dtype, {"eps": eps})
    values = [-1.0, 0.0, 0.5, 1.0, 2.0]
    result = torch.logit(torch.tensor(values, dtype=getattr(torch, dtype)), eps=eps)
    assert [any(zone.contains(value) for zone in found) for value in values] == (~result.isfinite()).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_poisson_loss_without_log_input_takes_a_logarithm(dtype: str) -> None:
    (zone,) = zones("torch.nn.functional.poisson_nll_loss", dtype, {"log_input": False})
    values = [-1.0, 0.0, 1.0]
    x = torch.tensor(values, dtype=getattr(torch, dtype))
    loss = F.poisson_nll_loss(x, torch.ones_like(x), log_input=False, reduction="none")
    assert [zone.contains(value) for value in values] == (~loss.isfinite()).tolist()


# What rules and confirm ask of a zone


def forward_zone(operation: str, result: str, dtype: str = "float32") -> Zone:
    return next(z for z in zones(operation, dtype) if z.direction is FORWARD and z.result == result)


@pytest.mark.parametrize(
    ("zone", "reach", "meets", "ordinarily"),
    [
        pytest.param(forward_zone("torch.log", "-inf"), UNIT, True, True, id="log of a probability"),
        pytest.param(forward_zone("torch.log", "-inf"), Interval(1e-12, 1.0), False, False, id="log of a clamped one"),
        pytest.param(forward_zone("torch.exp", "inf"), FINITE, True, True, id="exp of a logit"),
        pytest.param(forward_zone("torch.exp", "inf"), Interval(-INF, 0.0), False, False, id="exp of x - max"),
        pytest.param(forward_zone("torch.square", "inf"), FINITE, True, False, id="square in float32"),
        pytest.param(forward_zone("torch.square", "inf", "float16"), FINITE, True, True, id="square in half"),
        pytest.param(forward_zone("torch.div", "inf"), NONNEGATIVE, True, True, id="a count that can be 0"),
        pytest.param(forward_zone("torch.div", "inf"), NONNEGATIVE.without_zero(), True, False, id="a guarded one"),
        pytest.param(forward_zone("torch.softmax", "nan"), FINITE, False, False, id="softmax of finite scores"),
        pytest.param(
            forward_zone("torch.softmax", "nan"), Interval(-INF, INF, minus_inf=True), True, True, id="masked"
        ),
    ],
)
def test_a_range_meets_a_zone(zone: Zone, reach: Interval, meets: bool, ordinarily: bool) -> None:  # noqa: FBT001 - a table
    assert (zone.meets(reach), zone.meets_ordinarily(reach)) == (meets, ordinarily)


def test_an_unknown_operand_meets_every_zone_of_finite_values() -> None:
    found = [zone for operation in OPERATIONS for zone in measured(operation, "float32")]
    assert [zone for zone in found if not zone.meets(ANYTHING) and not (zone.row or zone.contains(-INF))] == []


@pytest.mark.parametrize("constant", [None, True, "mean", 10**400, -3, 0, float("nan"), INF, (1, 2), 1e-320, 1e300])
def test_no_constant_makes_a_zone_fail(constant: Any) -> None:
    found = [
        zones(operation, dtype, dict.fromkeys(("exponent", "eps"), constant))
        for operation in OPERATIONS
        for dtype in DTYPES
    ]
    assert {type(parts) for parts in found} == {tuple}


def test_a_zone_prints_as_its_values() -> None:
    assert str(forward_zone("torch.exp", "inf")) == "[88.7228, inf)"
    assert str(forward_zone("torch.sinh", "inf")) == "(-inf, -88.7228] or [88.7228, inf)"
    assert str(forward_zone("torch.log", "nan")) == "(-inf, 0)"


def test_every_zone_is_of_an_operation_and_an_operand_of_the_table() -> None:
    wrong = []
    for operation in OPERATIONS:
        known = {parameter.name for parameter in PARAMETERS[operation]}
        wrong += [z for z in zones(operation, "float32") if not {z.operand, z.partner or z.operand} <= known]
    assert wrong == []
