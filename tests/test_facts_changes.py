"""Whether an expression still means the same elsewhere: what a safe fix rests on."""

from __future__ import annotations

import pytest

from tests.revealing import facts_about


def is_unchanged(body: str, expression: str = "x + self.bias") -> bool:
    """Whether `expression`, written first in a method, could be written again at its end."""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    text = f"""
class Model(nn.Module):
    def __init__(self):
        self.bias = nn.Parameter(torch.zeros(3))
        self.linear = nn.Linear(3, 3)

    def set(self):
        self.bias = None

    def f(self, x, y, z):
        first(reveal({expression}))
{lines}
        reveal(1)
"""
    facts = facts_about(text, "Model.f")
    start, end = (call.arguments["0"] for call in facts.calls_of("reveal"))
    return facts.is_unchanged(start, end)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("pass", id="nothing"),
        pytest.param("y = x + 1", id="another name"),
        pytest.param("y.add_(1)", id="another tensor in place"),
        pytest.param("y = self.linear(x)", id="a module called"),
        pytest.param("for y in z:\n    z = y", id="a loop over others"),
        pytest.param("def inner():\n    x = 1\n    return x", id="the same name of an inner function"),
        pytest.param("y = [x for x in z]", id="the same name of a comprehension"),
        pytest.param("y = x.requires_grad_()", id="a method that only looks like it"),
    ],
)
def test_what_touches_nothing_of_it_leaves_it_unchanged(body: str) -> None:
    assert is_unchanged(body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("x = y", id="assigned"),
        pytest.param("x, y = y, x", id="swapped"),
        pytest.param("x += 1", id="augmented"),
        pytest.param("x[0] = 1", id="an element"),
        pytest.param("x.add_(1)", id="in place"),
        pytest.param("torch.relu_(x)", id="in place by a function"),
        pytest.param("F.relu(x, inplace=True)", id="in place by an argument"),
        pytest.param("torch.add(y, 1, out=x)", id="as an output"),
        pytest.param("same = x\nsame.add_(1)", id="under another name"),
        pytest.param("if y:\n    x = y", id="on one path"),
        pytest.param("for x in y:\n    pass", id="by a loop"),
        pytest.param("with z as x:\n    pass", id="by a with"),
        pytest.param("try:\n    x = y\nexcept ValueError:\n    pass", id="by a body that may fail"),
        pytest.param("print(x := y)", id="by a walrus"),
        pytest.param("del x", id="deleted"),
        pytest.param("self.bias = y", id="an attribute"),
        pytest.param("self.set()", id="an attribute, by a method"),
        pytest.param("self = y", id="the object"),
    ],
)
def test_what_touches_a_name_of_it_changes_it(body: str) -> None:
    assert not is_unchanged(body)


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("F.dropout(x)", id="random"),
        pytest.param("x + torch.randn_like(x)", id="random inside"),
        pytest.param("self.linear(x)", id="a module, which may hold anything"),
        pytest.param("other(x)", id="a function nobody knows"),
        pytest.param("(n := x)", id="a walrus"),
    ],
)
def test_what_could_give_another_value_is_never_unchanged(expression: str) -> None:
    assert not is_unchanged("pass", expression)


def test_operations_of_torch_can_be_written_again() -> None:
    assert is_unchanged("pass", "x.clamp(min=1).view(-1) / x.sum()")


def test_an_inner_function_runs_later() -> None:
    text = """
    def f(x):
        reveal(x)
        def g():
            reveal(1)
        x = 2
        return g()
    """
    facts = facts_about(text)
    start, end = (call.arguments["0"] for call in facts.calls_of("reveal"))
    assert not facts.is_unchanged(start, end)
