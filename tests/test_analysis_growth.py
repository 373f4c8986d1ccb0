"""The work of the analysis grows with the lines, and no source makes it recurse too deep. Work is counted, not timed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nanlint.analysis.interpreter.expressions import Expressions
from nanlint.analysis.operation_results import Maker
from nanlint.analysis.project.replay import Replay
from tests.analysed import graph_of, ranges

if TYPE_CHECKING:
    from collections.abc import Callable

DEF = "def f(x: torch.Tensor, n):\n"


def _lines(line: str, count: int) -> str:
    return "".join(line.replace("@", str(place)) for place in range(count))


def _loops(depth: int, count: int) -> str:
    """Loops inside each other, each with names that depend on each other; the innermost has `count` lines."""
    text = DEF + "    a = b = c = d = x.sigmoid()\n    k = 0\n"
    for level in range(depth):
        text += "    " * (level + 1) + f"for i{level} in range(n):\n"
        text += "    " * (level + 2) + "k = k + 1; a = a * b; b = c - d; c = d + x; d = d + k\n"
    return text + _lines("    " * (depth + 1) + "a = a + x.exp() * @\n", count)


HELPER = "def h(x, m):\n    return (x - m).exp() / (m + 1)\n\n\n"
SOURCES: dict[str, tuple[int, Callable[[int], str]]] = {
    "ifs in a row": (500, lambda n: DEF + _lines("    if n > @:\n        x = x.exp() + @\n", n)),
    "ifs that bind a name each": (500, lambda n: DEF + _lines("    if n > @:\n        x@ = x.exp()\n", n)),
    "ifs that return": (500, lambda n: DEF + _lines("    if x.sum() == @:\n        return x\n    x = x + 1\n", n)),
    "one if with branches": (
        300,
        lambda n: DEF + "    if n:\n        y = x\n" + _lines("    elif n > @:\n        y = x + @\n", n),
    ),
    "a sum": (5000, lambda n: DEF + "    return " + " + ".join(["x.exp()"] * n) + "\n"),
    "a condition": (500, lambda n: DEF + "    if " + " and ".join(["n > 0"] * n) + ":\n        x = x + 1\n"),
    "calls of one helper": (1000, lambda n: HELPER + DEF + _lines("    y@ = h(x, @)\n", n)),
    "calls of one helper on its result": (1000, lambda n: HELPER + DEF + _lines("    x = h(x, @)\n", n)),
    "loops in a row": (200, lambda n: DEF + _lines("    while n > @:\n        x = x.exp()\n        n -= 1\n", n)),
    "six loops inside each other": (200, lambda n: _loops(6, n)),
    "changes in place": (1000, lambda n: DEF + _lines("    x.add_(1)\n", n)),
    "appends": (1000, lambda n: DEF + "    a = []\n" + _lines("    a.append(x.exp())\n", n)),
    "keys of a dict": (500, lambda n: DEF + "    a = {}\n" + _lines("    a['@'] = x.exp()\n", n)),
    "tries in a row": (300, lambda n: DEF + _lines("    try:\n        x = x.exp()\n    except E:\n        pass\n", n)),
    "lambdas": (300, lambda n: DEF + _lines("    g@ = lambda y: y.exp()\n", n)),
    "methods that call the next": (
        100,
        lambda n: (
            "class A:\n" + _lines("    def m@(self, x):\n        self.a@ = x.exp()\n        return self.m@0(x)\n", n)
        ),
    ),
}


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often an expression was evaluated, an operation made, a value looked at to be repeated."""
    counted = {"steps": 0}
    for owner, name in ((Expressions, "evaluate"), (Maker, "make"), (Replay, "of")):
        monkeypatch.setattr(owner, name, _counting(getattr(owner, name), counted))
    return counted


def _counting(work: Callable[..., Any], counted: dict[str, int]) -> Callable[..., Any]:
    def counting(*given: Any, **named: Any) -> Any:
        counted["steps"] += 1
        return work(*given, **named)

    return counting


def _steps(source: str, work: dict[str, int]) -> int:
    before = work["steps"]
    graph_of(main=source)
    return work["steps"] - before


@pytest.mark.parametrize("name", SOURCES)
def test_twice_the_lines_are_twice_the_work(name: str, work: dict[str, int]) -> None:
    size, source = SOURCES[name]
    once, twice = _steps(source(size), work), _steps(source(2 * size), work)
    assert once > size / 2
    assert twice <= 2.1 * once + 20


def test_a_loop_inside_a_loop_adds_passes_and_does_not_multiply_them(work: dict[str, int]) -> None:
    flat, deep = _steps(_loops(1, 300), work), _steps(_loops(8, 300), work)
    assert deep <= 8 * flat


def test_a_helper_of_helpers_is_not_unfolded_without_end(work: dict[str, int]) -> None:
    def chain(count: int) -> str:
        lines = (f"def h{place}(x): return h{place - 1}(x) + h{place - 1}(x * 2)\n" for place in range(1, count))
        return "def h0(x): return x.exp()\n" + "".join(lines)

    once, twice = _steps(chain(40), work), _steps(chain(80), work)
    assert twice <= 2.2 * once


def test_a_long_helper_is_not_repeated_line_by_line_at_each_call(work: dict[str, int]) -> None:
    helper = "def h(x, m):\n" + "    x = x.exp() * m + 1\n" * 500 + "    return x\n\n\n"
    assert _steps(helper + DEF + _lines("    y@ = h(x, @)\n", 200), work) < 200 * 1000


HOSTILE = {
    "a chain of attributes": "y = x" + ".a" * 3000,
    "a chain of methods": "y = x" + ".exp()" * 3000,
    "a chain of subscripts": "y = x" + "[0]" * 3000,
    "a chain of powers": "y = " + "**".join(["x"] * 700),
    "many nots": "y = " + "not " * 700 + "x",
    "many minuses": "y = " + "-" * 700 + "x",
    "parentheses": "y = " + "(1 + " * 180 + "x" + ")" * 180,
    "conditional expressions": "y = " + "x if n else " * 700 + "x",
    "lambdas in lambdas": "y = " + "lambda: " * 300 + "x",
    "lists in lists": "y = " + "[" * 180 + "x" + "]" * 180,
    "a tuple that grows": "y = x\n" + "    y = (y, x)\n" * 2000 + "    x.add_(1)\n    torch.cat(y)",
    "an annotation of many": "y: " + " | ".join(["int"] * 2000) + " = x",
    "a huge number": "y = " + "9" * 4000 + " * x",
    "a huge power": "y = ((10 ** 400) ** 400) ** 400",
    "numbers that double": "y = 3\n" + "    y = y * y\n" * 500,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_follows_hostile_code_is_still_known(name: str) -> None:
    assert ranges(f"{DEF}    {HOSTILE[name]}\n    reveal(x.sigmoid())\n") == ["[0, 1]"]


def test_blocks_inside_blocks_are_read_as_deep_as_python_takes_them() -> None:
    source = (
        DEF
        + "".join(" " * (level + 1) + f"if n > {level}:\n" for level in range(97))
        + " " * 98
        + "reveal(x.sigmoid())\n"
    )
    assert ranges(source) == ["[0, 1]"]


def test_functions_that_call_each_other_come_to_an_end() -> None:
    source = "def f(x: torch.Tensor):\n    reveal(g(x))\n    return g(x)\n\n\ndef g(x):\n    return f(x) + g(x - 1) + h(x)\n\n\ndef h(x):\n    return f(x)\n"
    assert ranges(source) == ["(-inf, inf)"]


def test_a_long_chain_of_calls_is_followed_for_a_while() -> None:
    source = (
        "".join(f"def f{i}(x):\n    return f{i + 1}(x)\n\n\n" for i in range(200))
        + "def f200(x):\n    return x.sigmoid()\n"
    )
    assert ranges(source + "def main(x: torch.Tensor):\n    reveal(f195(x))\n") == ["[0, 1]"]
