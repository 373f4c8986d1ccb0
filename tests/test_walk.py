"""The walk meets every expression of a tree, each once, and no whitespace."""

from __future__ import annotations

import libcst as cst

from nanlint.source.walk import node_children, walk

TEXT = """
@decorator(a)
def f(b: c = d, *e, **g) -> h:
    \"\"\"Text.\"\"\"
    with i as j, k: l = m[n:o, p]  # a comment
    for q in r:
        s += -t if u else (v, *w)
    return {x: y for z in aa}
"""


def test_every_name_is_met_once() -> None:
    names = sorted(node.value for node in walk(cst.parse_module(TEXT)) if isinstance(node, cst.Name))
    assert names == sorted(
        [
            "f",
            "b",
            "c",
            "d",
            "e",
            "g",
            "h",
            "i",
            "j",
            "k",
            "l",
            "m",
            "n",
            "o",
            "p",
            "q",
            "r",
            "s",
            "t",
            "u",
            "v",
            "w",
            "x",
            "y",
            "z",
            "aa",
            "decorator",
            "a",
        ]
    )


def test_a_node_is_met_before_what_is_below_it_and_the_left_before_the_right() -> None:
    names = [node.value for node in walk(cst.parse_expression("f(a + b, c[d])")) if isinstance(node, cst.Name)]
    assert names == ["f", "a", "b", "c", "d"]


def test_whitespace_and_comments_are_never_met() -> None:
    kinds = {type(node).__name__ for node in walk(cst.parse_module(TEXT))}
    assert not {kind for kind in kinds if "hitespace" in kind or kind in {"Comment", "Newline", "EmptyLine", "Comma"}}


def test_the_children_of_a_node_are_the_nodes_directly_below_it() -> None:
    call = cst.parse_expression("f(a, b=c)")
    assert [type(child) for child in node_children(call)] == [cst.Name, cst.Arg, cst.Arg]


def test_a_tree_deeper_than_the_stack_is_walked() -> None:
    tree: cst.BaseExpression = cst.Name("x")
    for _ in range(5000):
        tree = cst.UnaryOperation(operator=cst.Minus(), expression=tree)
    assert sum(isinstance(node, cst.UnaryOperation) for node in walk(tree)) == 5000
