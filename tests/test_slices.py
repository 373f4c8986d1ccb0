"""What lies behind an operand, as far as names tell: the question that keeps libcst away from most functions."""

from __future__ import annotations

import sys
from textwrap import dedent

import pytest

from nanlint.engine.check_file import RECURSION_LIMIT
from nanlint.engine.interests import carrying_words
from nanlint.source.fitting import MOST_PLACES
from nanlint.source.gate import Gate, Interest
from nanlint.source.outline import outline


def kept(code: str, operation: str, *beneath: str, beside: str = "", fewer_levels: int = 0) -> list[str]:
    """The functions of `code` in which each of `beneath` is behind an operand of `operation`."""
    interest = Interest(
        frozenset({operation}), frozenset({beside} - {""}), tuple(frozenset({word}) for word in beneath)
    )
    plan = outline(dedent(code))
    sys.setrecursionlimit(sys.getrecursionlimit() - fewer_levels)
    return Gate([interest], carrying_words()).chunks(plan)


@pytest.mark.parametrize(
    "body",
    [
        "return x / m.sum()",
        "n = m.sum()\n    return x / n",
        "n = m.sum().float().clamp(min=0)\n    return x / (2 * n)",
        "n = m.sum() if m is not None else 1\n    return x / n",
        "x /= m.sum()\n    return x",
        "for n in m.sum(1):\n        x = x / n\n    return x",
        "with m.sum() as n:\n        return x / n",
        "if (n := m.sum()):\n        return x / n",
        "n = [v.sum() for v in m]\n    return x / n[0]",
        "a, b = m.sum(), 1\n    return x / b",
        "n = torch.zeros(3)\n    n[0] = m.sum()\n    return x / n",
        "n = torch.zeros(3)\n    n.copy_(m.sum())\n    return x / n",
        "def inner():\n        return m.sum()\n    return x / inner()",
        "match m.sum():\n        case n:\n            return x / n",
        "return x / helper(m)",
        "return x / LIMIT",
    ],
)
def test_a_name_is_followed_to_what_is_assigned_to_it(body: str) -> None:
    code = "import torch\nLIMIT = torch.ones(2).sum()\ndef helper(v):\n    return v.sum()\ndef loss(x, m):\n    "
    assert "loss" in kept(code + body, "/", "sum")


@pytest.mark.parametrize(
    "body",
    [
        "return x.sum() / m",
        "n = x.sum()\n    return x / m",
        "return x / torch.matmul(m.sum(), m)",
        "return x / self.layer(m.sum())",
        "return x / np.sum(m)",
        "return x / 2.0",
        "return x / m.config.sum",
    ],
)
def test_what_is_not_behind_the_divisor_keeps_nothing(body: str) -> None:
    assert kept(f"import torch\nclass A:\n  def loss(self, x, m):\n    {body}", "/", "sum_") == []
    if ".sum()" in body and "layer" not in body:
        assert kept(f"import torch\nclass A:\n  def loss(self, x, m):\n    {body}", "/", "sum") == []


def test_an_attribute_is_followed_to_every_method_that_sets_it() -> None:
    code = """
        class A:
            def __init__(self): self.n = torch.ones(2).sum()
            def loss(self, x): return x / self.n
            def other(self, x): return x / self.m
        """
    assert kept(code, "/", "sum") == ["A.loss"]


def test_an_attribute_of_something_else_is_not_the_objects_own() -> None:
    code = """
        class A:
            def __init__(self): self.n = torch.ones(2).sum()
            def loss(self, x, config): return x / config.n
        """
    assert kept(code, "/", "sum") == []


@pytest.mark.parametrize(
    ("power", "is_root", "is_inverse"),
    [
        ("x ** 2", False, False),
        ("x.pow(2)", False, False),
        ("x ** 0.5", True, False),
        ("x ** -1", False, True),
        ("x ** -0.5", True, True),
        ("torch.pow(x, n)", True, True),
        ("x ** n", True, True),
    ],
)
def test_a_power_is_a_root_or_an_inverse_by_its_exponent(power: str, is_root: bool, is_inverse: bool) -> None:  # noqa: FBT001 - a table of cases
    code = f"def f(x: Tensor, n):\n    return {power}"
    assert bool(kept(code, "<root>", "Tensor")) is is_root
    assert bool(kept(code, "<inverse>", "Tensor")) is is_inverse


@pytest.mark.parametrize(
    ("number", "kind"),
    [("1e-8", "<tiny>"), ("-1e9", "<huge>"), ("2 ** 32", "<huge>"), ("0.999999", "<near one>"), ("0.3", "<fraction>")],
)
def test_numbers_are_words_by_their_kind(number: str, kind: str) -> None:
    assert kept(f"def f(x):\n    return x + ({number})", "+", kind) == ["f"]
    assert kept(f"LIMIT = {number}\ndef f(x, limit=LIMIT):\n    return x + limit", "+", kind) == ["f"]
    assert kept("def f(x):\n    return x + 3", "+", kind) == []


def test_infinity_is_a_word_however_it_is_written() -> None:
    for text in ("float('-inf')", "-torch.inf", "-math.inf", "float('inf')"):
        assert kept(f"def f(x, m):\n    return x.masked_fill(m, {text})", "masked_fill", "inf") == ["f"], text


def test_a_division_by_an_element_of_itself_is_told_apart() -> None:
    assert kept("def f(x):\n    return x / x[0]", "<own element>", "x") == ["f"]
    assert kept("def f(x, y):\n    return x / y[0]", "<own element>", "x") == []


def test_everything_that_is_asked_for_must_be_behind_one_operation() -> None:
    code = """
        def f(x): return (x.mean() - 1) / x.sum()
        def g(x): return 1 / (x.mean() - x.sum())
        """
    assert kept(code, "/", "-", "sum") == ["g"]


def test_a_function_under_another_name_is_the_same_operation() -> None:
    assert kept("from torch import log as ln\ndef f(x):\n    return ln(x.sum())", "log", "sum") == ["f"]
    assert kept("from torch import sum as total\ndef f(x):\n    return torch.log(total(x))", "log", "sum") == ["f"]


def test_what_is_too_deep_or_too_much_to_follow_is_kept() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(RECURSION_LIMIT)
    try:
        terms = " + ".join(["x"] * 1400)
        code = f"def f(x):\n    y = x.sum()\n    return 1 / ({terms})"
        assert kept(code, "/", "sum", fewer_levels=1000) == ["f"]
    finally:
        sys.setrecursionlimit(limit)
    lines = "".join(f"    y{number} = 1 / x\n" for number in range(MOST_PLACES + 1))
    assert kept(f"def f(x):\n{lines}    return y0.sum()", "/", "sum") == ["f"]
