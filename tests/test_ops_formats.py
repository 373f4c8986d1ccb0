"""The float formats and the autocast classes, held against torch's finfo, its rounding, its header and fake CUDA tensors."""

from __future__ import annotations

import math
import pathlib
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanlint.ops.formats import (
    AUTOCAST,
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    FORMATS,
    HALF,
    PROMOTE,
    SINGLE,
    Format,
    runs_in,
)
from nanlint.ops.names import CANONICAL, SIGNATURES

if TYPE_CHECKING:
    from collections.abc import Callable

torch: Any = pytest.importorskip("torch", reason="formats and autocast lists are compared with torch itself")
F: Any = torch.nn.functional

EACH_FORMAT = pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: form.name)
NUMBERS = st.floats(allow_nan=False) | st.floats(-1e5, 1e5) | st.floats(-1e-4, 1e-4)


@EACH_FORMAT
def test_limits_are_those_of_finfo(form: Format) -> None:
    info = torch.finfo(getattr(torch, form.name))
    assert (form.max, form.min, form.tiny, form.eps) == (info.max, info.min, info.tiny, info.eps)
    assert form.smallest == info.tiny * info.eps


@EACH_FORMAT
@given(value=NUMBERS)
def test_rounding_is_that_of_torch(form: Format, value: float) -> None:
    assert form.round(value) == torch.tensor(value, dtype=torch.float64).to(getattr(torch, form.name)).item()


@pytest.mark.parametrize("form", [FLOAT16, BFLOAT16], ids=lambda form: form.name)
def test_the_neighbour_of_every_half_is_the_next_one(form: Format) -> None:
    bits = torch.arange(2**16, dtype=torch.int32).to(torch.int16).view(getattr(torch, form.name)).double()
    values = sorted({value for value in bits.tolist() if math.isfinite(value)})
    assert [form.above(value) for value in values] == [*values[1:], math.inf]
    assert [form.below(value) for value in values] == [-math.inf, *values[:-1]]


@given(value=st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_neighbours_in_float32_are_those_of_torch(value: float) -> None:
    single = torch.tensor(value)
    up, down = (torch.nextafter(single, torch.tensor(end)).item() for end in (math.inf, -math.inf))
    assert (FLOAT32.below(value), FLOAT32.above(value)) == (down, up)


@EACH_FORMAT
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_a_value_lies_strictly_between_its_neighbours(form: Format, value: float) -> None:
    assert form.below(value) < value < form.above(value)


@pytest.mark.parametrize(
    ("form", "value", "survives"),
    [
        pytest.param(FLOAT16, 1e-8, False, id="1e-8 is 0 in half"),
        pytest.param(FLOAT16, 2.981e-8, True, id="just above half of the smallest half"),
        pytest.param(FLOAT16, 2.98e-8, False, id="just below it"),
        pytest.param(FLOAT16, -1e9, False, id="-1e9 is -inf in half"),
        pytest.param(BFLOAT16, 1e-45, False, id="1e-45 is 0 in bfloat16"),
        pytest.param(BFLOAT16, torch.finfo(torch.float32).min, False, id="the least float32 is -inf in bfloat16"),
        pytest.param(FLOAT32, 1e-12, True, id="1e-12 in float32"),
        pytest.param(FLOAT16, 0.0, True, id="0 stays 0"),
    ],
)
def test_a_constant_survives_a_format_or_not(form: Format, value: float, survives: bool) -> None:  # noqa: FBT001 - a table
    assert form.holds(value) is survives


@pytest.mark.parametrize(("form", "eps"), [(FLOAT32, 1e-8), (FLOAT16, 2.44e-4), (BFLOAT16, 1.95e-3)])
def test_one_minus_a_small_eps_is_one(form: Format, eps: float) -> None:
    assert form.round(1 - eps) == 1.0


def header_list(macro: str) -> set[str]:
    header = pathlib.Path(torch.__file__).parent / "include" / "ATen" / "autocast_mode.h"
    text = header.read_text(encoding="utf-8")
    body = re.split(r"\n\n", text[text.index(f"#define {macro}(_)") :], maxsplit=1)[0]
    return {name for name in re.findall(r"_\((\w+)", body) if not name.startswith("_")}


def canonical_of(aten: str) -> str | None:
    """The operation of the table behind an aten name; None for what the table does not hold."""
    spellings = (f"torch.nn.functional.{aten}", f"torch.{aten}", f"torch.{aten.replace('linalg_', 'linalg.')}")
    return next((CANONICAL[name] for name in spellings if name in CANONICAL), None)


@pytest.mark.parametrize(
    ("macro", "kind"),
    [
        ("AT_FORALL_LOWER_PRECISION_FP", HALF),
        ("AT_FORALL_FP32", SINGLE),
        ("AT_FORALL_FP32_SET_OPT_DTYPE", SINGLE),
        ("AT_FORALL_PROMOTE", PROMOTE),
    ],
)
def test_every_operation_of_the_header_list_is_in_its_class(macro: str, kind: str) -> None:
    known = {canonical for name in header_list(macro) if (canonical := canonical_of(name)) is not None}
    assert len(known) >= 7
    assert {name: AUTOCAST.get(name) for name in known if AUTOCAST.get(name) != kind} == {}


def test_every_autocast_entry_is_an_operation_of_the_table() -> None:
    assert AUTOCAST.keys() - SIGNATURES.keys() == set()


# How to call what the fake device can run; the rest of the table is elementwise and called as f(x).
CALLS: dict[str, Callable[[Any], Any]] = {
    "torch.matmul": lambda x: x @ x.mT,
    "torch.mm": lambda x: torch.mm(x, x.mT),
    "torch.einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "torch.linalg.multi_dot": lambda x: torch.linalg.multi_dot([x, x.mT]),
    "torch.matrix_power": lambda x: torch.matrix_power(x @ x.mT, 2),
    "torch.nn.functional.linear": lambda x: F.linear(x, x),
    "torch.cdist": lambda x: torch.cdist(x, x),
    "torch.cosine_similarity": lambda x: F.cosine_similarity(x, x),
    "torch.cumprod": lambda x: x.cumprod(0),
    "torch.cumsum": lambda x: x.cumsum(0),
    "torch.dist": lambda x: torch.dist(x, x),
    "torch.log_softmax": lambda x: x.log_softmax(-1),
    "torch.logsumexp": lambda x: x.logsumexp(-1),
    "torch.pairwise_distance": lambda x: F.pairwise_distance(x, x),
    "torch.pow": lambda x: x**3,
    "torch.softmax": lambda x: x.softmax(-1),
    "torch.nn.functional.binary_cross_entropy_with_logits": lambda x: F.binary_cross_entropy_with_logits(x, x),
    "torch.nn.functional.cross_entropy": lambda x: F.cross_entropy(x, labels(x)),
    "torch.nn.functional.nll_loss": lambda x: F.nll_loss(x, labels(x)),
    "torch.nn.functional.group_norm": lambda x: F.group_norm(x, 2),
    "torch.nn.functional.layer_norm": lambda x: F.layer_norm(x, (8,)),
    "torch.nn.functional.rms_norm": lambda x: F.rms_norm(x, (8,)),
    "torch.nn.functional.mse_loss": lambda x: F.mse_loss(x, x),
    "torch.nn.functional.l1_loss": lambda x: F.l1_loss(x, x),
    "torch.nn.functional.smooth_l1_loss": lambda x: F.smooth_l1_loss(x, x),
    "torch.nn.functional.huber_loss": lambda x: F.huber_loss(x, x),
    "torch.nn.functional.kl_div": lambda x: F.kl_div(x, x, reduction="sum"),
    "torch.nn.functional.poisson_nll_loss": lambda x: F.poisson_nll_loss(x, x),
    "torch.nn.functional.multilabel_soft_margin_loss": lambda x: F.multilabel_soft_margin_loss(x, x),
    "torch.nn.functional.triplet_margin_loss": lambda x: F.triplet_margin_loss(x, x, x),
    "torch.nn.functional.triplet_margin_with_distance_loss": lambda x: F.triplet_margin_with_distance_loss(x, x, x),
}
UNARY = """
torch.acos torch.asin torch.cosh torch.erfinv torch.exp torch.expm1 torch.linalg.norm torch.linalg.vector_norm
torch.linalg.matrix_norm torch.log torch.log10 torch.log1p torch.log2 torch.nn.functional.gumbel_softmax
torch.nn.functional.normalize torch.nn.functional.softplus torch.norm torch.prod torch.reciprocal torch.rsqrt torch.sinh
torch.square torch.sum torch.tan
torch.sqrt torch.sigmoid torch.tanh torch.abs torch.mean torch.var torch.std torch.atanh torch.relu torch.nanmean
torch.nn.functional.gelu torch.nn.functional.silu torch.nn.functional.logsigmoid torch.exp2 torch.neg torch.lgamma
"""
STAYS: dict[str, Callable[[Any], Any]] = {
    "torch.div": lambda x: x / x,
    "torch.mul": lambda x: x * x,
    "torch.add": lambda x: x + x,
    "torch.logaddexp": lambda x: torch.logaddexp(x, x),
    "torch.xlogy": lambda x: torch.xlogy(x, x),
    "torch.kron": lambda x: torch.kron(x, x),
    "torch.inner": lambda x: torch.inner(x, x),
    "torch.nn.functional.batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
}


def labels(x: Any) -> Any:
    return torch.zeros(len(x), dtype=torch.long, device=x.device)


def function_of(operation: str) -> Callable[[Any], Any]:
    found: Any = torch
    for part in operation.split(".")[1:]:
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def fake_autocast_dtype(call: Callable[[Any], Any], dtype: Any) -> str:
    """The dtype real CUDA autocast gives the result, asked of a fake CUDA tensor: no GPU is needed."""
    from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: PLC0415 - needs torch

    with FakeTensorMode(), torch.no_grad():
        x = torch.randn(4, 8, device="cuda").to(dtype)
        torch.set_autocast_enabled("cuda", True)  # noqa: FBT003 - torch takes it by position
        try:
            return str(call(x).dtype).removeprefix("torch.")
        finally:
            torch.set_autocast_enabled("cuda", False)  # noqa: FBT003 - same


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("operation", [*CALLS, *UNARY.split(), *STAYS])
def test_autocast_runs_where_a_fake_cuda_tensor_says(operation: str, dtype: str) -> None:
    call = CALLS.get(operation) or STAYS.get(operation) or function_of(operation)
    assert runs_in(operation, dtype, "float16") == fake_autocast_dtype(call, getattr(torch, dtype))


def test_a_number_divided_by_a_tensor_is_a_reciprocal() -> None:
    assert fake_autocast_dtype(lambda x: 1 / x, torch.float16) == "float32"


def test_outside_autocast_and_in_float64_nothing_changes() -> None:
    assert runs_in("torch.exp", "float16", None) == "float16"
    assert runs_in("torch.exp", "float64", "float16") == "float64"
