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
from nanlint.source.relevance import opaque_names, relevant_names


def relevant(body: str, *, results: bool = True) -> frozenset[str]:
    """The names that matter in a function whose divisions a rule looks at; its parameters have nothing in common."""
    text = "from .outputs import Output\ndef f(x: A, y: B, z: C):\n" + "".join(
        f"    {line}\n" for line in body.split("; ")
    )
    plan = outline(text)
    roots = [node for node in ast.walk(plan.tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)]
    opaque = opaque_names(plan, Flows(plan.chunks[MODULE]))
    return relevant_names(Flows(plan.chunks["f"]), roots, results=results, opaque=opaque) & set("gnxyz")


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
