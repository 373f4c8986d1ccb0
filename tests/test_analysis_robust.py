"""Nothing that Python accepts makes the analysis fail, and no answer depends on which function came first."""

from __future__ import annotations

import ast
import time
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanlint.engine.check_file import check_text
from nanlint.engine.checker import Checker
from nanlint.settings import Settings
from tests.analysed import graph_of, ranges, revealed

TERMS = 1000
EVERYTHING = Settings(select=("ALL",), preview=True, severity="info")


def are_interpreted(text: str) -> bool:
    """Whether the text itself was interpreted, and every function of it."""
    graph, modules = graph_of("", main=text)
    functions = list(modules["main"].all_functions())
    return bool(functions) and all(function.is_done and function in graph.done for function in functions)


def is_python(text: str) -> bool:
    """Whether Python reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            return False
    return True


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(
            "async def f(x):\n    async for a in x:\n        async with a as (b, c): yield await b\n", id="async"
        ),
        pytest.param(
            "def f(x):\n    match x:\n        case {'a': [b, *c], **d}: return b\n        case A(e=1) | None: pass\n",
            id="match",
        ),
        pytest.param(
            "def f():\n    class A:\n        def g(self): return self.x\n        x = 1\n    return A().g()\n",
            id="class in function",
        ),
        pytest.param(
            "class A:\n    class B:\n        def f(self): return self.g()\n        def g(self): return self.f()\n",
            id="nested classes",
        ),
        pytest.param(
            "def f(*a, b=1, **c):\n    return (lambda *d, e=b, **g: (d, e, g))(*a, **c)\n", id="every kind of parameter"
        ),
        pytest.param(
            "def f(a, /, b, *, c):\n    a.b.c, d[0], [e, *g] = a\n    return a[b:c, ..., None]\n",
            id="every kind of target",
        ),
        pytest.param(
            "def f(x):\n    try: pass\n    except* ValueError as e: print(e)\n    finally: del x\n",
            id="exception groups",
        ),
        pytest.param(
            "def f(x):\n    while (y := x) and y: x = y if x else not y\n    else: return f'{x!r:>{y}}' 'a'[0]\n",
            id="walrus",
        ),
        pytest.param("x = y = z = 0\nx, y = y, x\nglobal_ = [i for i in range(3) if i for j in (i,)]\n", id="module"),
        pytest.param(
            "def f(self):\n    global g\n    nonlocal_ = 1\n    def h():\n        nonlocal nonlocal_\n        nonlocal_ = 2\n",
            id="scopes",
        ),
        pytest.param(
            "class A(A): pass\nclass B(C): pass\nclass C(B):\n    def f(self): return self.x\n",
            id="classes in a circle",
        ),
        pytest.param("@a.b(c)[0]\n@d\ndef f(x: 'int' = (1, *[2])) -> {3: 4}: ...\n", id="decorators"),
        pytest.param("def f(x):\n    return x\ndef f(x):\n    return f(f(x))\n", id="defined twice"),
        pytest.param("if 1:\n    def f(x): return x.log()\nelse:\n    f = None\nf(1)\n", id="defined in a branch"),
        pytest.param("def f():\n    return f()\n    x = 1\n", id="behind a return"),
        pytest.param("from . import *\nfrom .a import b as c\nimport d.e.f, g as h\n", id="imports"),
        pytest.param("x = 1_000j + 0b11 - 1e999 ** -1e999 // 0 % 0 @ 0\n", id="numbers"),
        pytest.param("def f():\n    x = yield\n    y = yield from x\n", id="yield"),
        pytest.param(
            "def f(x):\n    x.y.z = x.y = x\n    x.y.z.w += 1\n    x[0].a = 1\n    x.b: int\n", id="attributes"
        ),
        pytest.param("def f(torch):\n    torch = torch\n    return torch.log(torch)\n", id="shadowed"),
    ],
)
def test_whatever_python_accepts_is_interpreted(text: str) -> None:
    if not is_python(text):
        pytest.skip("this Python does not know the syntax")
    assert are_interpreted(text)


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param(" + ".join(["x"] * TERMS), id="sum"),
        pytest.param(" or ".join(["x"] * TERMS), id="or"),
        pytest.param(" ".join(['"a"'] * TERMS), id="strings side by side"),
        pytest.param("[" + ", ".join(["1"] * TERMS) + "]", id="list"),
        pytest.param("{" + ", ".join(f"{number}: x" for number in range(TERMS)) + "}", id="dict"),
        pytest.param(" < ".join(["x"] * TERMS), id="chain of comparisons"),
    ],
)
def test_an_expression_of_a_thousand_terms_is_interpreted_and_placed(expression: str) -> None:
    text = f"import torch\ndef f(x):\n    y = {expression}\n    return torch.log(x.softmax(-1))\n"
    result = check_text(text, "long.py", Checker(gated=True).ruleset(EVERYTHING))
    assert result.errors == []
    assert [finding.span.line for finding in result.findings if finding.code == "NAN110"] == [4]


def test_a_thousand_branches_are_interpreted() -> None:
    branches = "".join(f"    elif x == {number}:\n        y = {number}\n" for number in range(1000))
    text = f"import torch\ndef f(x):\n    if x:\n        y = 0\n{branches}    return torch.log(x.softmax(-1))\n"
    result = check_text(text, "long.py", Checker(gated=True).ruleset(EVERYTHING))
    assert result.errors == []
    assert "NAN110" in {finding.code for finding in result.findings}


@pytest.mark.slow
def test_ten_thousand_assignments_take_no_time_to_speak_of() -> None:
    # Copying all names at each assignment would touch fifty million.
    text = "".join(f"x{number} = {number}\n" for number in range(10_000)) + "reveal(x9999)\n"
    assert [value.number for value in revealed(text)] == [9999]


CIRCLE = {
    "a": "def a(x, n):\n    return b(x, n) if n else x.sigmoid()\n",
    "b": "def b(x, n):\n    return c(x, n) if n else x.softmax(0)\n",
    "c": "def c(x, n):\n    return a(x, n - 1)\n",
}


@given(st.permutations(sorted(CIRCLE)))
def test_what_functions_in_a_circle_return_is_unknown_whichever_comes_first(order: list[str]) -> None:
    asked = "def f(x):\n    reveal(a(x, 1))\n    reveal(b(x, 1))\n    reveal(c(x, 1))\n"
    assert ranges("".join(CIRCLE[name] for name in order) + asked) == ["(-inf, inf)"] * 3


@given(st.text(alphabet="xyf()[]{}:=,.*@# \n\t'\"0123ifelsd", max_size=60))
def test_no_text_makes_the_analysis_fail(text: str) -> None:
    assert not is_python(text) or are_interpreted(text)


def test_tabs_and_spaces_that_are_mixed_as_python_allows_are_no_obstacle() -> None:
    text = (
        "import torch\nclass A:\n    def f(self, image):\n\t\t    y = image.half()\n\t\t    return torch.log(y + 1e-8)\n\n"
        "    def g(self, image):\n        return torch.log(image.half() + 1e-8)\n"
    )
    result = check_text(text, "mixed.py", Checker(gated=True).ruleset(EVERYTHING))
    assert (result.errors, [finding.span.line for finding in result.findings]) == ([], [5, 8])


@pytest.mark.slow
@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("torch.log(x{})", id="logarithms"),
        pytest.param("x / y[{}].sum()", id="divisions"),
        pytest.param("torch.log(torch.softmax(x{}, -1))", id="with fixes"),
    ],
)
def test_hundreds_of_findings_in_one_statement_do_not_take_a_look_at_all_of_it_each(expression: str) -> None:
    # Reading the statement again for each of them took minutes.
    parts = ", ".join(expression.replace("{}", str(number)) for number in range(250))
    text = f"import torch\ndef f(x, y):\n    return [{parts}]  # many\n"
    start = time.process_time()
    result = check_text(text, "wide.py", Checker(gated=True).ruleset(EVERYTHING))
    assert (len(result.findings), result.errors) == (250, [])
    assert time.process_time() - start < 30
