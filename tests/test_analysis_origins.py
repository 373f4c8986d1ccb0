"""Where a value comes from, seen through names, branches, views, helpers, classes and imports. Unknown stays unknown."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from nanlint.analysis.op_graph import CALL, JOIN, made_from, name_of
from nanlint.analysis.possible_numbers import possible_numbers
from nanlint.analysis.relations import root
from tests.analysed import HEADER, ranges, revealed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Op, Value

SOFTMAX, SIGMOID, UNKNOWN = "torch.softmax", "torch.sigmoid", "unknown"


def origins(source: str, header: str = HEADER) -> list[str]:
    """The operations that each revealed value comes from, joined by `|`; "unknown" where one path is."""
    found = [set(_operations(value)) for value in revealed(source, header=header)]
    return [UNKNOWN if UNKNOWN in names else "|".join(sorted(names)) for names in found]


def _operations(value: Value) -> Iterator[str]:
    """The names of the operations that a value can come from, seen through views and elements."""
    op = made_from(root(value))
    if op is not None and op.function == JOIN:
        for operand in op.operands.values():
            yield from _operations(operand)
    elif op is not None and op.function == "subscript" and op.subject is not None:
        yield from _operations(op.subject)
    else:
        yield name_of(op) if op is not None and _computes(op) else UNKNOWN


def _computes(op: Op) -> bool:
    """Whether it is an operation, or a call of a function that nobody knows, and nothing that came in from outside."""
    return isinstance(op.node, ast.Call) if op.function == CALL else not op.function.startswith("<")


def constants(source: str) -> list[float | None]:
    """The number that each revealed value is."""
    return [value.number for value in revealed(source)]


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("torch.softmax(x, -1)", id="function"),
        pytest.param("x.softmax(-1)", id="method"),
        pytest.param("F.softmax(x, dim=1)", id="functional"),
        pytest.param("torch.special.softmax(x, 1)", id="special"),
        pytest.param("nn.Softmax(dim=1)(x)", id="module"),
        pytest.param("nn.Sequential(nn.Linear(2, 2), nn.Softmax(1))(x)", id="sequential"),
        pytest.param("x.softmax(-1).view(2, -1)[0].float()", id="views"),
        pytest.param("x.softmax(-1).T", id="attribute that is a view"),
        pytest.param("(lambda y: y.softmax(-1))(x)", id="lambda"),
        pytest.param("(x.softmax(-1) if x.ndim else F.softmax(x, 0))", id="conditional that agrees"),
        pytest.param("(y := x.softmax(-1))", id="walrus"),
    ],
)
def test_every_spelling_of_an_operation_is_one_operation(expression: str) -> None:
    assert origins(f"def f(x):\n    reveal({expression})\n") == [SOFTMAX]


@pytest.mark.parametrize(
    ("body", "origin"),
    [
        pytest.param("p = x.sigmoid()", SIGMOID, id="assigned"),
        pytest.param("p = q = x.sigmoid()", SIGMOID, id="two targets"),
        pytest.param("p, q = x.sigmoid(), 1", SIGMOID, id="unpacked"),
        pytest.param("(p, (q, r)) = (x.sigmoid(), (1, 2))", SIGMOID, id="unpacked deeply"),
        pytest.param("p, *q = x.sigmoid(), 1, 2", UNKNOWN, id="starred"),
        pytest.param("p: object = x.sigmoid()", SIGMOID, id="annotated"),
        pytest.param("p = x.sigmoid()\n    p = p + 1", "torch.add", id="assigned again"),
        pytest.param("p = x.sigmoid()\n    p += 1", "torch.add", id="augmented"),
        pytest.param("p = x.sigmoid()\n    p[0] = g(x)", f"g|{SIGMOID}", id="an element assigned"),
        pytest.param("p = x.sigmoid()\n    p.clamp_(1e-3)", "torch.clamp", id="changed in place"),
        pytest.param("p = x.sigmoid()\n    q = p\n    q.clamp_(1e-3)", "torch.clamp", id="changed under another name"),
        pytest.param("p = x.sigmoid()\n    del p", UNKNOWN, id="deleted"),
        pytest.param(
            "if x.ndim:\n        p = x.sigmoid()\n    else:\n        p = x.softmax(0)", f"{SIGMOID}|{SOFTMAX}", id="two"
        ),
        pytest.param("if x.ndim:\n        p = x.sigmoid()\n    else:\n        p = x", UNKNOWN, id="one path unknown"),
        pytest.param("if x.ndim:\n        p = x.sigmoid()\n    else:\n        return", SIGMOID, id="other path leaves"),
        pytest.param("if x.ndim:\n        p = x.sigmoid()", SIGMOID, id="bound on one path only"),
        pytest.param("p = x.sigmoid()\n    for _ in x:\n        p = p.exp()", f"torch.exp|{SIGMOID}", id="loop"),
        pytest.param("while True:\n        p = x.sigmoid()\n        if x: break\n        p = x", SIGMOID, id="break"),
        pytest.param("p = x.sigmoid()\n    try:\n        p = g(x)\n    except E:\n        pass", UNKNOWN, id="try"),
        pytest.param("with torch.no_grad():\n        p = x.sigmoid()", SIGMOID, id="with"),
        pytest.param("match x:\n        case p:\n            pass\n    p = x.sigmoid()", SIGMOID, id="match"),
        pytest.param("for p in x:\n        pass", UNKNOWN, id="loop variable"),
    ],
)
def test_a_name_holds_what_was_assigned_to_it_last(body: str, origin: str) -> None:
    found = origins(f"def f(x):\n    {body}\n    reveal(p)\n")
    assert found == [origin]


def test_a_parameter_is_unknown() -> None:
    assert origins("def f(p):\n    reveal(p)\n") == [UNKNOWN]


HELPERS = """
def direct(x):
    return torch.sigmoid(x)

def through_a_helper(x):
    return direct(x)[0]

def two_ways(x, flag):
    if flag:
        return x.sigmoid()
    return torch.softmax(x, 0)

def recursive(x, n):
    return recursive(x, n - 1) if n else x.sigmoid()

def ping(x):
    return pong(x)

def pong(x):
    return ping(x)

def nothing(x):
    x.sigmoid()

def pair(x):
    return x.sigmoid(), x.softmax(0)

async def awaited(x):
    return x.sigmoid()
"""


@pytest.mark.parametrize(
    ("expression", "origin"),
    [
        pytest.param("direct(x)", SIGMOID, id="direct"),
        pytest.param("through_a_helper(x)", SIGMOID, id="helper of a helper"),
        pytest.param("two_ways(x, 1)", f"{SIGMOID}|{SOFTMAX}", id="two returns"),
        pytest.param("pair(x)[1]", SOFTMAX, id="part of a tuple"),
        # No operation is known; then the call itself is all there is to say.
        pytest.param("ping(x)", "ping", id="a circle"),
        pytest.param("nothing(x)", "nothing", id="nothing returned"),
        pytest.param("missing(x)", "missing", id="not of this file"),
    ],
)
def test_helpers_of_the_file_are_followed(expression: str, origin: str) -> None:
    found = origins(f"{HELPERS}\ndef f(x):\n    reveal({expression})\n")
    assert found == [origin]


def test_an_awaited_helper_is_followed() -> None:
    assert origins(f"{HELPERS}\nasync def f(x):\n    reveal(await awaited(x))\n") == [SIGMOID]


def test_inner_functions_are_followed_and_hide_outer_ones() -> None:
    text = """
    def g(x):
        return x.exp()

    def f(x):
        def g(y):
            return y.sigmoid()
        reveal(g(x))
    """
    assert origins(text) == [SIGMOID]


CLASSES = """
class Base(nn.Module):
    limit = 5.0

    def __init__(self, flag):
        super().__init__()
        self.act = nn.Sigmoid()
        self.either = nn.Sigmoid() if flag else nn.Softmax(dim=1)
        self.changing = nn.Sigmoid()
        if flag:
            self.maybe = nn.Sigmoid()
        self.function = torch.sigmoid

    def score(self, x):
        return x.sigmoid()

    @property
    def gate(self):
        return torch.sigmoid(self.raw)

    def change(self):
        self.changing = nn.Identity()


class Child(Base):
    def f(self, x):
        reveal(self.act(x))
        reveal(self.either(x))
        reveal(self.changing(x))
        reveal(self.maybe(x))
        reveal(self.function(x))
        reveal(self.score(x))
        reveal(self.gate)
        reveal(super().score(x))
        reveal(self.unknown(x))

    @classmethod
    def g(cls):
        reveal(cls.limit)


class Model(nn.Module):
    def __init__(self):
        self.head = Head()

    def g(self, x):
        reveal(self.head(x))


class Head(nn.Module):
    def forward(self, x):
        return x.sigmoid()
"""


def test_attributes_hold_what_somebody_gave_them_here_or_above() -> None:
    in_child = [
        SIGMOID,
        f"{SIGMOID}|{SOFTMAX}",
        f"torch.positive|{SIGMOID}",  # nn.Identity
        SIGMOID,
        SIGMOID,
        SIGMOID,
        SIGMOID,
        SIGMOID,
        ".unknown",
    ]
    assert origins(CLASSES) == [*in_child, UNKNOWN, SIGMOID]


def test_a_class_attribute_is_known_through_the_class() -> None:
    assert constants(CLASSES)[-2] == 5.0


@pytest.mark.parametrize(
    ("header", "expression", "origin"),
    [
        pytest.param("import torch as th\n", "th.sigmoid(x)", SIGMOID, id="alias"),
        pytest.param("from torch import sigmoid as s\n", "s(x)", SIGMOID, id="function alias"),
        pytest.param("from torch.nn.functional import *\n", "softmax(x, 0)", SOFTMAX, id="star"),
        pytest.param(
            "from .blocks import *\nimport jax.nn as F\n", "F.softmax(x)", "jax.nn.softmax", id="not by a star"
        ),
        pytest.param("import torch.nn as nn\n", "nn.functional.softmax(x, 0)", SOFTMAX, id="package"),
        pytest.param("try:\n    import torch\nexcept ImportError:\n    pass\n", "torch.sigmoid(x)", SIGMOID, id="try"),
        pytest.param("import torch\nF = torch.nn.functional\n", "F.softmax(x, 0)", SOFTMAX, id="assigned module"),
        pytest.param("import torch\nsoft = torch.softmax\n", "soft(x, 0)", SOFTMAX, id="assigned function"),
        pytest.param("import jax.nn as F\n", "F.softmax(x)", "jax.nn.softmax", id="another library"),
        pytest.param("import numpy as np\n", "np.log(x)", "torch.log", id="numpy"),
        pytest.param("from .losses import softmax\n", "softmax(x)", ".losses.softmax", id="relative"),
    ],
)
def test_imports_say_what_a_name_means(header: str, expression: str, origin: str) -> None:
    assert origins(f"def f(x):\n    reveal({expression})\n", header) == [origin]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(torch, x):\n    reveal(torch.sigmoid(x))\n", id="parameter"),
        pytest.param("def f(x):\n    torch = x\n    reveal(torch.sigmoid(x))\n", id="assignment"),
        pytest.param("def f(x):\n    for torch in x:\n        reveal(torch.sigmoid(x))\n", id="loop"),
    ],
)
def test_a_name_that_hides_torch_is_not_torch(text: str) -> None:
    # What hides torch may be a tensor, and the `sigmoid` of a tensor takes no operand.
    assert origins(text) == [".sigmoid"]


def test_an_import_inside_a_function_counts_there() -> None:
    assert origins("def f(x):\n    from torch import sigmoid\n    reveal(sigmoid(x))\n", "import torch\n") == [SIGMOID]


def test_the_statements_of_the_file_itself_are_read() -> None:
    assert origins("p = torch.sigmoid(x)\nreveal(p)\n") == [SIGMOID]


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        pytest.param("1e6", 1e6, id="literal"),
        pytest.param("10 ** 6", 1e6, id="power"),
        pytest.param("-(2 + 3) * 2", -10.0, id="arithmetic"),
        pytest.param('float("inf")', float("inf"), id="word"),
        pytest.param("math.inf", float("inf"), id="dotted"),
        pytest.param("LIMIT * 2", 10.0, id="constant"),
        pytest.param("default", 3.0, id="default"),
        pytest.param("10 ** 10 ** 10", None, id="too large to compute"),
        pytest.param("1 / 0", None, id="no number"),
        pytest.param("REBOUND", None, id="assigned through global"),
        pytest.param("True", None, id="a truth value"),
        pytest.param("x", None, id="a parameter"),
        pytest.param("given()", 7.0, id="a default of another function"),
        pytest.param("0x" + "f" * 400, float("inf"), id="beyond any float"),
    ],
)
def test_numbers_are_known_through_names_defaults_and_arithmetic(expression: str, number: float | None) -> None:
    text = f"""
    LIMIT = 5
    REBOUND = 1

    def given(value=7):
        return value

    def setter():
        global REBOUND
        REBOUND = 2

    def f(x, default=3):
        reveal({expression})
    """
    assert constants(text) == [number]


@pytest.mark.parametrize(
    ("expression", "numbers"),
    [
        pytest.param("x.clip or 1e6", {1e6}, id="or"),
        pytest.param("x.clip if x.clip else 1e6", {1e6}, id="conditional"),
        pytest.param('x.get("clip", 1e6)', {1e6}, id="get"),
        pytest.param('getattr(x, "clip", 1e6)', {1e6}, id="getattr"),
        pytest.param("1.0 if x else 2.0", {1.0, 2.0}, id="two numbers"),
    ],
)
def test_each_number_that_a_value_can_be_is_told(expression: str, numbers: set[float]) -> None:
    (value,) = revealed(f"def f(x):\n    reveal({expression})\n")
    assert {each.number for each in possible_numbers(value)} == numbers


def test_many_choices_are_no_number_and_bounded() -> None:
    branches = "".join(f"    if x == {number}:\n        p = {number}.0\n" for number in range(20))
    source = f"def f(x):\n{branches}    reveal(p)\n"
    assert (constants(source), ranges(source)) == ([None], ["[0, 19]"])


def test_unknown_stays_unknown() -> None:
    source = """
        def f(x, y):
            reveal(x)
            reveal(x.y.z)
            reveal(x[0])
            reveal({1: x}[1])
            reveal([*x][0])
            reveal(x @ y if x is y else y)
            reveal(not_there)
    """
    assert origins(source) == [UNKNOWN] * 7


def test_the_second_of_two_is_a_dimension_if_it_is_called_so() -> None:
    source = """
        def f(a: torch.Tensor, b: torch.Tensor, dim):
            reveal(torch.min(a, b))
            reveal(torch.min(a, b) - torch.max(a, b))
            reveal(torch.min(a, dim))
            reveal(torch.min(a, dim=dim))
    """
    assert [value.kind for value in revealed(source)] == ["tensor", "tensor", "tuple", "tuple"]
