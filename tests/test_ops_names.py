"""The spellings, parameters and module forms of the op table, held against the installed torch."""

from __future__ import annotations

import decimal
import inspect
import logging
import pathlib
import re
import subprocess
import sys
import warnings
from typing import Any, NamedTuple

import pytest

from nanlint.ops import names
from nanlint.ops.signatures import MODULES, OVERLOADS, PARAMETERS, Binding, ModuleForm, Signature, bind

torch: Any = pytest.importorskip("torch", reason="the op table is compared with torch itself")

OPERATIONS = sorted(name for name in names.SIGNATURES if not name.startswith("einops."))
# Keywords that many torch functions take beyond their schema.
EVERYWHERE = {"out", "generator", "memory_format", "requires_grad", "device", "dtype", "as_tuple"}
# Builtins without a readable signature: what they take is checked by calling them.
UNREADABLE = {
    "torch.Tensor(2)": "torch.Tensor",
    "torch.Tensor.type(torch.ones(2), dtype=torch.float64, non_blocking=False)": "torch.Tensor.type",
    "torch.ones(2).new_tensor(data=[1.0], dtype=torch.float64)": "torch.Tensor.new_tensor",
    "torch.from_numpy(torch.ones(2).numpy())": "torch.from_numpy",
    "torch.nn.functional.logsigmoid(input=torch.ones(2))": "torch.nn.functional.logsigmoid",
    "torch.Tensor.tolist(torch.ones(2))": "torch.Tensor.tolist",
    **{f"torch.ones(2).{cast}()": f"torch.Tensor.{cast}" for cast in ("bfloat16", "bool", "byte", "char", "double")},
    **{
        f"torch.ones(2).{cast}()": f"torch.Tensor.{cast}" for cast in ("float", "half", "int", "long", "short", "numpy")
    },
}


class Real(NamedTuple):
    """A parameter as torch itself declares it."""

    name: str
    default: object
    has_default: bool


def resolve(dotted: str) -> Any:
    found: Any = torch
    for part in dotted.split(".")[1:]:
        found = getattr(found, part)
    return found


def spelled(canonical: str) -> list[str]:
    return [spelling for spelling, operation in names.CANONICAL.items() if operation == canonical]


def schemas(dotted: str) -> list[list[Real]]:
    """The parameters of every aten overload behind a builtin."""
    prefix = {"linalg": "linalg_", "special": "special_"}.get(dotted.split(".")[1], "")
    last = dotted.rpartition(".")[2]
    found = []
    for operator in (prefix + last,) if prefix else (last,):
        for schema in torch._C._jit_get_schemas_for_operator(f"aten::{operator}"):  # noqa: SLF001 - no public reader
            rows = [
                Real("input" if arg.name == "self" else arg.name, arg.default_value, arg.has_default_value())
                for arg in schema.arguments
            ]
            found.append(rows)
    return found


def declared(dotted: str) -> list[Real]:
    """What the Python function declares; nothing for a builtin or a dispatcher."""
    function = resolve(dotted)
    if dotted.endswith("unique"):
        function = torch.functional._unique_impl  # noqa: SLF001 - `unique` itself is *args
    elif "max_pool" in dotted and dotted.startswith(names.FUNCTIONAL):
        function = resolve(f"{dotted}_with_indices")
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return []
    return [
        Real("input" if p.name == "self" else p.name, p.default, p.default is not p.empty)
        for p in parameters
        if not p.name.startswith("_")
    ]


def real_signatures(canonical: str) -> list[list[Real]]:
    """Every way torch itself says that some spelling of the operation can be called."""
    found = []
    for dotted in spelled(canonical):
        found += [*schemas(dotted), declared(dotted)]
    return [real for real in found if real]


def agrees(signature: Signature, real: list[Real]) -> bool:
    """Positional parameters stand in torch's order under torch's names; keyword-only ones are among its names."""
    positional = [parameter for parameter in signature if not parameter.keyword_only]
    in_order = len(positional) <= len(real) and all(
        ours.variadic or theirs.name in {ours.name, *ours.keywords}
        for ours, theirs in zip(positional, real, strict=False)
    )
    known = {theirs.name for theirs in real} | EVERYWHERE
    return in_order and all(ours.name in known for ours in signature if ours.keyword_only)


def wrong_defaults(signature: Signature, real: list[Real]) -> list[str]:
    """Numbers and words that torch declares otherwise; torch writes None as [], 1 as [1, 1], padding=0 as "valid"."""
    theirs = {parameter.name: parameter for parameter in real}
    wrong = []
    for ours in signature:
        found = theirs.get(ours.name)
        if found is None or not found.has_default or ours.required:
            continue
        value = found.default
        if (
            isinstance(value, bool | int | float | str)
            and value != "valid"
            and ours.default is not None
            and value != ours.default
        ):
            wrong.append(f"{ours.name}={ours.default}, torch has {value}")
    return wrong


def test_every_function_spelling_is_a_callable_of_torch() -> None:
    functions = [name for name in names.CANONICAL if not name.startswith("einops.")]
    assert [name for name in functions if not callable(resolve(name))] == []


def test_every_method_exists_on_tensors() -> None:
    assert [name for name in names.METHODS if not callable(getattr(torch.Tensor, name, None))] == []


def test_a_method_and_the_function_of_the_same_name_are_one_operation() -> None:
    both = {name for name in names.METHODS if f"torch.{name}" in names.CANONICAL}
    assert {name for name in both if names.METHODS[name] != names.CANONICAL[f"torch.{name}"]} == set()


@pytest.mark.parametrize("canonical", [name for name in OPERATIONS if name not in UNREADABLE.values()])
def test_parameters_are_those_of_torch(canonical: str) -> None:
    real = real_signatures(canonical)
    assert [s for s in OVERLOADS[canonical] if not any(agrees(s, found) for found in real)] == []


@pytest.mark.parametrize("call", UNREADABLE)
def test_a_builtin_without_a_signature_takes_what_the_table_says(call: str) -> None:
    assert eval(call, {"torch": torch}) is not None  # noqa: S307 - the expressions are the literals above


def test_defaults_are_those_of_torch() -> None:
    wrong = {}
    for canonical in OPERATIONS:
        found = [wrong_defaults(PARAMETERS[canonical], declared(dotted)) for dotted in spelled(canonical)[:1]]
        found += [wrong_defaults(PARAMETERS[canonical], real) for real in schemas(canonical) if canonical[6:7] != "n"]
        if any(found):
            wrong[canonical] = found
    assert wrong == {}


def test_no_other_type_has_a_tensor_only_method() -> None:
    numpy = pytest.importorskip("numpy")
    types = [str, bytes, list, tuple, dict, set, int, float, complex, logging.Logger, pathlib.Path, decimal.Decimal]
    types += [numpy.ndarray, numpy.random.Generator, re.Pattern, re.Match, torch.nn.Module, torch.optim.Optimizer]
    types += [
        torch.distributions.Distribution,
        torch.Generator,
        torch.Size,
        torch.device,
        torch.optim.lr_scheduler.LRScheduler,
    ]
    shared = {(name, kind.__name__) for kind in types for name in names.TENSOR_ONLY_METHODS if hasattr(kind, name)}
    assert shared == set()


def test_every_shared_method_is_a_method() -> None:
    assert names.SHARED_METHODS - names.METHODS.keys() == set()


ARGUMENTS: dict[str, Any] = {
    "kernel_size": 1,
    "output_size": 1,
    "padding": 1,
    "value": 0.0,
    "threshold": 0.0,
    "lower": 0.1,
    "upper": 0.2,
    "dim": 1,
    "unflattened_size": (1, 1),
    "normalized_shape": 2,
    "norm_type": 2.0,
    "scale_factor": 2,
}


@pytest.mark.parametrize("name", MODULES)
def test_module_form_constructs_with_the_parameters_torch_declares(name: str) -> None:
    form, module = MODULES[name], resolve(name)
    given = {p.name: ARGUMENTS.get(p.name, 2) for p in form.constructor if p.required}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lazy modules announce themselves
        built = module(**given)
    real = [Real(p.name, p.default, p.default is not p.empty) for p in inspect.signature(module).parameters.values()]
    assert isinstance(built, torch.nn.Module)
    assert agrees(form.constructor, real)
    assert wrong_defaults(form.constructor, real) == []


@pytest.mark.parametrize("name", MODULES)
def test_module_form_sets_parameters_of_its_operation(name: str) -> None:
    form = MODULES[name]
    parameters = {parameter.name for parameter in PARAMETERS[form.operation]}
    assert {*form.binds.values(), *form.fixed} - parameters == set()


@pytest.mark.parametrize("name", MODULES)
def test_the_name_table_and_the_module_forms_agree(name: str) -> None:
    assert names.MODULE_OPERATIONS[name] == MODULES[name].operation


def test_operators_and_views_stand_for_operations_of_the_table() -> None:
    tables = (names.OPERATORS, names.UNARY_OPERATORS, names.BUILTINS, names.ATTRIBUTES, names.MODULE_OPERATIONS)
    assert {name for table in tables for name in table.values()} - names.SIGNATURES.keys() == set()


def test_spellings_are_bare_words_and_operators() -> None:
    assert names.spellings("torch.log_softmax") == {"log_softmax", "LogSoftmax", "logits"}
    assert names.spellings("torch.div") == {
        "div", "div_", "divide", "divide_", "true_divide", "true_divide_", "/",
    }  # fmt: skip


def test_in_place_and_namespaced_spellings_mean_the_same_operation() -> None:
    spelled_log_softmax = {
        "torch.log_softmax", "torch.nn.functional.log_softmax", "torch.special.log_softmax", "torch.Tensor.log_softmax",
    }  # fmt: skip
    assert set(spelled("torch.log_softmax")) == spelled_log_softmax
    assert names.METHODS["log_"] == names.CANONICAL["torch.log_"] == "torch.log"


@pytest.mark.parametrize(
    ("operation", "positional", "keywords", "receiver", "expected"),
    [
        pytest.param("torch.softmax", ["x", -1], {}, None, {"input": "x", "dim": -1}, id="all by position"),
        pytest.param("torch.softmax", [], {"dim": -1}, "x", {"input": "x", "dim": -1}, id="method, by keyword"),
        pytest.param("torch.sum", ["x"], {"axis": 0}, None, {"input": "x", "dim": 0}, id="numpy's word"),
        pytest.param("torch.where", ["c", "y"], {}, "x", {"condition": "c", "input": "x", "other": "y"}, id="where method"),
        pytest.param("torch.max", ["x"], {"other": "y"}, None, {"input": "x", "other": "y"}, id="second overload"),
        pytest.param("torch.std", [0, False], {}, "x", {"input": "x", "dim": 0, "unbiased": False}, id="old std"),
        pytest.param("torch.cosine_similarity", [], {"x1": "a", "x2": "b"}, None, {"input": "a", "other": "b"}, id="x1"),
        pytest.param("torch.arange", [5], {}, None, {"end": 5}, id="arange of one"),
    ],
)  # fmt: skip
def test_arguments_bind_to_one_name(
    operation: str, positional: list[Any], keywords: dict[str, Any], receiver: Any, expected: dict[str, Any]
) -> None:
    assert bind(operation, positional, keywords, receiver) == Binding(expected)


def test_starred_arguments_are_kept_apart() -> None:
    expected: Binding[Any] = Binding({"dtype": "half"}, (2, 3))
    assert bind("torch.zeros", [2, 3], {"dtype": "half"}) == expected


@pytest.mark.parametrize(
    ("positional", "keywords"),
    [
        pytest.param(["x", 1, 2, 3], {}, id="too many"),
        pytest.param([], {}, id="too few"),
        pytest.param(["x"], {"banana": 1}, id="unknown keyword"),
    ],
)
def test_arguments_no_overload_takes_bind_to_nothing(positional: list[Any], keywords: dict[str, Any]) -> None:
    assert bind("torch.sigmoid", positional, keywords) is None


def test_a_module_form_tells_what_its_constructor_sets() -> None:
    assert MODULES["torch.nn.ConstantPad1d"].binds == {"padding": "pad", "value": "value"}
    assert MODULES["torch.nn.Softmax2d"] == ModuleForm("torch.softmax", (), {}, {"dim": -3})


def test_the_names_need_nothing_but_strings_and_dicts() -> None:
    script = (
        "import sys; before = set(sys.modules); import nanlint.ops.names; print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run(
        [sys.executable, "-c", f"import nanlint; {script}"], capture_output=True, text=True, check=True
    )
    ours = {"names", "tables", "tables.arithmetic", "tables.layers", "tables.structure"}
    assert set(run.stdout.split()) == {"nanlint.ops", *(f"nanlint.ops.{name}" for name in ours)}
