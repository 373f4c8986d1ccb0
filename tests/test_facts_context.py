"""Where an expression stands and what becomes of it: conditions, uses, branches, names, and texts that replace it."""

from __future__ import annotations

import pytest

from tests.revealing import MODULE, facts_about, revealed


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("if reveal(x): pass", id="if"),
        pytest.param("if y:\n        pass\n    elif reveal(x):\n        pass", id="elif"),
        pytest.param("while not reveal(x): pass", id="while"),
        pytest.param("assert reveal(x), 'no'", id="assert"),
        pytest.param("y = 1 if reveal(x) else 2", id="conditional expression"),
        pytest.param("if y or not reveal(x).any(): pass", id="part of a condition"),
        pytest.param("if torch.any(reveal(x)).item(): pass", id="any"),
        pytest.param("if reveal(x).sum() > 0: pass", id="counted"),
        pytest.param("if any(reveal(y) for y in x): pass", id="generator"),
        pytest.param("if bool(reveal(x) | y): pass", id="or of masks"),
        pytest.param("bad = reveal(x).any()\n    if bad: pass", id="through a name"),
        pytest.param("if (bad := reveal(x)): pass", id="walrus"),
        pytest.param("match y:\n        case 1 if reveal(x):\n            pass", id="guard of a case"),
    ],
)
def test_a_truth_that_decides_what_happens_next_is_a_condition(body: str) -> None:
    assert _conditions(body) == [True]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("print(reveal(x))", id="argument"),
        pytest.param("y[reveal(x)] = 0", id="mask"),
        pytest.param("return reveal(x)", id="returned"),
        pytest.param("y = [z for z in x if reveal(z)]", id="filter"),
        pytest.param("y = torch.where(reveal(x), 0, x)", id="where"),
        pytest.param("if reveal(x) > 3: pass", id="compared with a number"),
        pytest.param("bad = reveal(x)\n    print(bad)", id="a name that is printed"),
        pytest.param("bad = reveal(x)\n    weight = bad.float()\n    return weight", id="a further name for a cast"),
        pytest.param("bad = reveal(x)\n    while y: bad = bad.float()\n    return bad", id="its own name for a cast"),
    ],
)
def test_other_uses_are_none(body: str) -> None:
    assert _conditions(body) == [False]


def _conditions(body: str) -> list[bool]:
    facts = facts_about(f"def f(x, y):\n    {body}\n")
    return [facts.condition_at(call.node) is not None for call in facts.calls_of("reveal")]


@pytest.mark.parametrize(
    ("body", "leaves"),
    [
        pytest.param("raise ValueError", True, id="raise"),
        pytest.param("return", True, id="return"),
        pytest.param("print(1); continue", True, id="continue"),
        pytest.param("sys.exit(1)", True, id="exit"),
        pytest.param("print(1)", False, id="goes on"),
    ],
)
def test_a_condition_tells_whether_its_body_leaves(body: str, leaves: bool) -> None:  # noqa: FBT001 - a parameter of the test
    facts = facts_about(f"def f(x):\n    for y in x:\n        if reveal(y):\n            {body}\n")
    (call,) = facts.calls_of("reveal")
    condition = facts.condition_at(call.node)
    assert condition is not None
    assert condition.leaves is leaves


@pytest.mark.parametrize(
    ("body", "used"),
    [
        pytest.param("reveal(x)", False, id="a statement of its own"),
        pytest.param("_ = reveal(x)", False, id="a name nobody reads"),
        pytest.param("y = reveal(x)\n    print(y)", True, id="a name somebody reads"),
        pytest.param(
            "if x:\n        y = reveal(x)\n    else:\n        y = 1\n    return y", True, id="read after a branch"
        ),
        pytest.param("self.norm = reveal(x)", True, id="an attribute"),
        pytest.param("return reveal(x)", True, id="returned"),
        pytest.param("print(reveal(x))", True, id="an argument"),
    ],
)
def test_a_result_is_used_if_somebody_reads_it(body: str, used: bool) -> None:  # noqa: FBT001 - a parameter of the test
    facts = facts_about(f"def f(self, x):\n    {body}\n")
    assert [facts.is_used(call.node) for call in facts.calls_of("reveal")] == [used]


def test_branches_of_one_if_are_alternatives_and_statements_in_a_row_are_not() -> None:
    facts = facts_about("""
    def f(x):
        if x:
            reveal(1)
            reveal(2)
        elif x > 1:
            reveal(3)
        else:
            reveal(4)
        reveal(5)
    """)
    calls = [call.node for call in facts.calls_of("reveal")]
    found = {
        (first + 1, second + 1)
        for first in range(5)
        for second in range(first + 1, 5)
        if facts.are_alternatives(calls[first], calls[second])
    }
    assert found == {(1, 3), (1, 4), (2, 3), (2, 4), (3, 4)}


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        pytest.param("total_loss", ("total", "loss"), id="name"),
        pytest.param("self.lossG.detach().mean().item()", ("loss", "g"), id="seen through methods"),
        pytest.param("float(torch.abs(gradNorm))", ("grad", "norm"), id="seen through functions"),
        pytest.param('losses["total"]', ("losses", "total"), id="key"),
        pytest.param("p.grad.data", ("grad",), id="data"),
        pytest.param("compute_loss(x)", ("compute", "loss"), id="function"),
        pytest.param("1 + 2", (), id="no name"),
    ],
)
def test_things_go_by_the_words_of_their_names(expression: str, words: tuple[str, ...]) -> None:
    assert revealed(f"def f(x):\n    reveal({expression})\n", lambda facts, node: facts.words_of(node)) == [words]


def test_what_a_loop_takes_out_of_something_goes_by_that_too() -> None:
    found = revealed(
        "def f(losses):\n    for k, v in losses.items():\n        reveal(v)\n    any(reveal(g) for g in grads)\n",
        lambda facts, node: facts.words_of(node),
    )
    assert found == [("v", "losses"), ("g", "grads")]


@pytest.mark.parametrize("expression", ["()", "(x)", "(y for y in x)", "(yield)", "(\n        x\n    ).y"])
def test_any_expression_has_a_source(expression: str) -> None:
    (source,) = revealed(f"def f(x):\n    reveal({expression})\n", lambda facts, node: facts.source_of(node))
    assert source.strip("()") in expression


def test_comments_of_a_statement_are_heard() -> None:
    facts = facts_about("def f(x):\n    # above\n    y = reveal(  # inside\n        x\n    )  # behind\n    # below\n")
    (call,) = facts.calls_of("reveal")
    assert sorted(facts.comments_at(call.node).split()) == ["#", "#", "#", "above", "behind", "inside"]


@pytest.mark.parametrize(
    ("preamble", "module", "spelled"),
    [
        pytest.param("import torch.nn.functional as F\n", "torch.nn.functional", "F", id="alias"),
        pytest.param("import torch\n", "torch.nn.functional", "torch.nn.functional", id="in full"),
        pytest.param("from torch import nn\n", "torch.nn.functional", "nn.functional", id="through a package"),
        pytest.param("import math\n", "torch", None, id="not imported"),
        pytest.param("def g():\n    import torch\n", "torch", None, id="imported in another function"),
        pytest.param("if TYPE_CHECKING:\n    import torch\n", "torch", None, id="imported for types only"),
        pytest.param(
            "try:\n    import torch\nexcept ImportError:\n    torch = None\n", "torch", "torch", id="in a try"
        ),
    ],
)
def test_a_module_is_spelled_as_the_file_spells_it(preamble: str, module: str, spelled: str | None) -> None:
    assert facts_about("def f(x):\n    pass\n", preamble=preamble).name_for(module) == spelled


def test_a_name_that_the_function_uses_otherwise_is_no_spelling() -> None:
    assert facts_about("def f(x):\n    N, F = x.shape\n").name_for("torch.nn.functional") == "nn.functional"


def test_a_script_does_once_what_is_in_no_loop() -> None:
    text = "reveal(x)\nfor batch in loader:\n    reveal(batch)\n"
    assert revealed(text, lambda facts, node: facts.is_done_once(node), MODULE) == [True, False]
