"""Which names of a function are worth a look at other functions."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from nanlint.engine.check_file import check_text
from nanlint.engine.checker import Checker
from nanlint.settings import Settings
from nanlint.source.flows import Flows
from nanlint.source.outline import MODULE, outline
from nanlint.source.relevance import relevant_names, untelling_in


def relevant(body: str, *, results: bool = True, beside: str = "") -> frozenset[str]:
    """The names that matter in a function whose divisions a rule looks at; its parameters have nothing in common."""
    text = "from .outputs import Output\ndef f(x: A, y: B, z: C):\n" + "".join(
        f"    {line}\n" for line in body.split("; ")
    )
    text += beside
    plan = outline(text)
    roots = [node for node in ast.walk(plan.tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)]
    untelling = untelling_in(plan, Flows(plan.chunks[MODULE]))
    return relevant_names(Flows(plan.chunks["f"]), roots, results=results, untelling=untelling) & set("gnxyz")


@pytest.mark.parametrize(
    ("body", "names"),
    [
        pytest.param("n = g(x); y / n", {"g", "n", "x", "y"}, id="what is behind an operation"),
        pytest.param("y / 2; return g(x)", {"y"}, id="not what is returned, if nobody asks"),
        pytest.param("n = g(y) > 0; x = 1 if n else 2; y / 2", {"g", "n", "y"}, id="a test that tells of it"),
        pytest.param("x = 1 if g(z) else 2; y / 2", {"y"}, id="not a test of something else"),
        pytest.param("x = 1 if g(y) is None else 2; y / 2", {"y"}, id="not a test that tells nothing"),
        pytest.param("x = 1 if y and g(z) else 2; y / 2", {"y"}, id="each part of a test for itself"),
    ],
)
def test_a_rule_asks_for_what_tells_of_its_operations(body: str, names: set[str]) -> None:
    assert relevant(body, results=False) == names


@pytest.mark.parametrize(
    ("body", "names"),
    [
        pytest.param("n = g(x).size(0); y / n", {"n", "y"}, id="a size"),
        pytest.param("n = g(x).shape[1]; y / n", {"n", "y"}, id="a part of a shape"),
        pytest.param("n = len(g(x)); y / n", {"n", "y"}, id="a length"),
        pytest.param("n = y.to(g(x).device); n / 2", {"n", "y"}, id="a device"),
        pytest.param("n = y.view(g(x), -1); n / z", {"n", "y", "z"}, id="what something is reshaped to"),
        pytest.param("n = g(x).view(1); n / z", {"g", "n", "x", "z"}, id="but what is reshaped"),
        pytest.param("n = g(x).sum(); n / z", {"g", "n", "x", "z"}, id="and what is summed up"),
    ],
)
def test_the_form_of_something_tells_nothing_of_what_is_in_it(body: str, names: set[str]) -> None:
    assert relevant(body, results=False) == names


def test_what_the_file_itself_calls_a_size_may_be_anything() -> None:
    beside = "class Boxes:\n    def size(self, x):\n        return x\n    def view(self, x):\n        return x\n"
    assert relevant("n = g(x).size(0); y / n", results=False, beside=beside) == {"g", "n", "x", "y"}
    assert relevant("n = z.view(g(x)); y / n", results=False, beside=beside) == {"g", "n", "x", "y", "z"}
    assert relevant("n = g(x).shape; y / n", results=False, beside=beside) == {"n", "y"}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        pytest.param("return g(x)", {"g", "x"}, id="what is returned"),
        pytest.param("y = Output(g(x)); return y", {"y"}, id="not what goes into a thing that nobody knows"),
        pytest.param("return tuple(g(x))", set[str](), id="nor into a container"),
    ],
)
def test_a_caller_asks_for_what_is_returned(body: str, names: set[str]) -> None:
    assert relevant(body) == names


def test_a_function_that_was_judged_before_it_was_called_tells_its_result() -> None:
    text = dedent("""
        import torch
        def shares(x):
            return x.softmax(-1)
        def normed(x, mask):
            y = shares(x)
            print(x / mask.sum())
            return y
        def loss(x, mask):
            return -normed(x, mask).log().mean()
    """)
    gated, all_of_it = (
        check_text(text, "a.py", Checker(gated=gated).ruleset(Settings(severity="info"))).findings
        for gated in (True, False)
    )
    assert gated == all_of_it
    assert [finding.code for finding in gated if finding.function == "loss"] == ["NAN110"]
