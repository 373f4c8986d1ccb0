"""Range transfers of operations on whole tensors, sampled against torch one expression at a time."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from nanlint.ops.formats import FLOAT32, FORMATS
from nanlint.ops.interval import EMPTY, EVERYTHING, FINITE, INF, NAN, UNIT, Interval, point
from nanlint.ops.names import SIGNATURES
from nanlint.ops.ranges import TRANSFER, transfer
from nanlint.ops.signatures import PARAMETERS, bind
from tests.ops_expressions import EXPRESSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

torch: Any = pytest.importorskip("torch", reason="range transfers are sampled in torch")
F: Any = torch.nn.functional

from tests.ops_sampling import ENDLESS, ORDINARY, ROWS, function, outside, values_in  # noqa: E402 - it imports torch
from tests.seeding import seed_cpu  # noqa: E402 - it imports torch
from tests.test_ops_ranges import OPERANDS, UNARY  # noqa: E402 - it imports torch


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:index_reduce.. is in beta")
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize(("operation", "expression"), CASES, ids=[" ".join(case) for case in CASES])
def test_operations_on_tensors_stay_in_their_range(operation: str, expression: str, dtype: str) -> None:
    seed_cpu(0)
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
    assert TRANSFER.keys() - SIGNATURES.keys() == set()


ODD_RANGES = [
    EMPTY,
    NAN,
    point(INF),
    point(-INF),
    point(0.0),
    EVERYTHING,
    Interval(-1e300, 1e300),
    Interval(1e-320, 1e-310),
]
ODD_CONSTANTS: list[object] = [None, True, "mean", "bicubic", 10**400, -3, 0, math.nan, -INF, (1, 2), 1e-320, object()]


@pytest.mark.parametrize("operation", sorted(SIGNATURES))
def test_no_range_and_no_constant_makes_a_transfer_fail(operation: str) -> None:
    names = [parameter.name for parameter in PARAMETERS[operation]]
    found = [
        transfer(operation, dict.fromkeys(names, reach), {}, form) for reach in ODD_RANGES for form in FORMATS.values()
    ]
    found += [
        transfer(operation, dict.fromkeys(names, reach), dict.fromkeys(names[first:], constant), FLOAT32)
        for first in (0, 1)
        for reach in (FINITE, EMPTY)
        for constant in ODD_CONSTANTS
    ]
    assert {type(interval) for interval in found} == {Interval}
