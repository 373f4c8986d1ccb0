"""What chunks hand over to each other: a word counts where it comes to, and is followed only there."""

from __future__ import annotations

from textwrap import dedent

import pytest

from nanlint.engine.interests import carrying_words
from nanlint.source.gate import Gate, Interest
from nanlint.source.handed import Handed
from nanlint.source.makeup import OWN
from nanlint.source.outline import outline

LOSS = "def loss(x, m):\n    return x / "
LAYER = """
class Layer:
    scale = torch.ones(2).sum()

    def __init__(self, m):
        self.total = m.sum()
        self.half = self.total / 2
        self.parts = []
        self.parts.append(m.amax())

    def other(self, m):
        return m.prod()

    def forward(self, x):
        return x / """


def kept(code: str, word: str, operation: str = "/") -> list[str]:
    """The functions of `code` in which `word` is behind an operand of `operation`."""
    interest = Interest(frozenset({operation}), beneath=(frozenset({word}),))
    return Gate([interest], carrying_words()).chunks(outline(dedent(code)))


def handed(code: str) -> Handed:
    """What is handed over in `code`."""
    plan = outline(dedent(code))
    return Handed(plan)


@pytest.mark.parametrize(
    ("divisor", "word", "comes_to_it"),
    [
        ("self.total", "sum", True),
        ("self.half", "sum", True),
        ("self.scale", "sum", True),
        ("self.parts[0]", "amax", True),
        ("self.parts[0]", "prod", False),
        ("self.other(x)", "prod", True),
        ("self.total", "prod", False),
        ("x", "sum", False),
    ],
)
def test_a_word_comes_to_a_method_with_what_others_hand_over(divisor: str, word: str, comes_to_it: bool) -> None:  # noqa: FBT001 - a table of cases
    assert ("Layer.forward" in kept(LAYER + divisor, word)) is comes_to_it


@pytest.mark.parametrize(
    ("before", "divisor"),
    [
        ("LIMIT = torch.ones(2).sum()", "LIMIT"),
        ("def first(m):\n    return second(m)\ndef second(m):\n    return m.sum()", "first(m)"),
        ("from torch import sum as total", "total(m)"),
        ("from torch import sum as total\ndef first(m):\n    return total(m)", "first(m)"),
        ("class Total:\n    def forward(self, m):\n        return m.sum()", "Total()(m)"),
    ],
)
def test_a_word_comes_to_a_function_from_wherever_it_stands(before: str, divisor: str) -> None:
    assert "loss" in kept(f"{before}\n{LOSS}{divisor}", "sum")


@pytest.mark.parametrize(
    "body", ["n = m.sum()\n        return n", "return self.total(m)\n    def total(self, m):\n        return m.sum()"]
)
def test_what_an_object_returns_is_followed_back(body: str) -> None:
    layer = f"class Total:\n    def forward(self, m):\n        {body}"
    assert "loss" in kept(f"{layer}\n{LOSS}Total()(m)", "sum")


def test_an_object_may_call_itself() -> None:
    layer = "class Total:\n    def forward(self, m):\n        return m.sum()\n    def loss(self, x, m):\n        return x / self(m)"
    assert "Total.loss" in kept(layer, "sum")


def test_what_a_sequence_of_modules_returns_is_what_its_last_one_does() -> None:
    layer = "class Total:\n    def __init__(self):\n        self.net = nn.Sequential(First(), Last())\n    def loss(self, x, m):\n        return x / self.net(m)"
    assert "Total.loss" in kept(layer, "Last")
    assert "Total.loss" not in kept(layer, "First")


def test_a_word_that_nobody_hands_over_reaches_nobody() -> None:
    code = "def other(m):\n    m.sum()\ndef loss(x, m):\n    return x / m"
    assert "loss" not in kept(code, "sum")


def test_only_functions_that_mention_a_name_are_read_for_it() -> None:
    found = handed(LAYER + "self.half")
    assert [chunk for chunk, _ in found.to(OWN + "half")] == ["Layer.__init__"]
    assert found.to(OWN + "nothing") == []
