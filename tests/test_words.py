"""What the one pass over a chunk's `ast` collects."""

from __future__ import annotations

import sys

import pytest

from nanlint.source.syntax.outline import outline
from nanlint.source.syntax.references import references, renamed


def _renames(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for chunk in outline(text).chunks.values():
        for targets, value in chunk.contents.renames:
            for name in renamed(targets):
                found.setdefault(name, set()).update(references(value))
    return {name: sources for name, sources in found.items() if sources}


def test_names_attributes_keywords_and_operators_are_words() -> None:
    words = outline("def f(x):\n    return torch.sum(x, dim=n) / -len(y) < limit\n").chunks["f"].words
    assert words >= {"torch", "sum", "x", "dim", "n", "/", "-", "len", "y", "<", "limit"}


def test_an_operator_that_assigns_is_the_operator_too() -> None:
    assert outline("def f(x):\n    x /= n\n").chunks["f"].words == {"x", "n", "/", "/="}


def test_strings_and_comments_hold_no_words() -> None:
    words = outline('def f():\n    """log of softmax"""\n    return "exp"  # sqrt\n').chunks["f"].words
    assert words.isdisjoint({"log", "softmax", "exp", "sqrt"})


RENAMES = {
    "name": ("f = g", {"f": {"g"}}),
    "function": ("f = torch.log", {"f": {"log"}}),
    "attribute": ("self.f = torch.log", {"f": {"log"}}),
    "annotated": ("f: object = torch.log", {"f": {"log"}}),
    "walrus": ("print(f := torch.log)", {"f": {"log"}}),
    "several at once": ("f, g = torch.log, torch.exp", {"f": {"log", "exp"}, "g": {"log", "exp"}}),
    "choice": ("f = torch.log if c else torch.exp", {"f": {"log", "exp"}}),
    "table": ("f = {'l': torch.log}", {"f": {"log"}}),
    "entry of a table": ("f['l'] = torch.log", {"f": {"log"}}),
    "lambda": ("f = lambda x: torch.log(x)", {"f": {"torch", "log", "x"}}),
    "class, which may be a function as well": (
        "f = nn.Sequential(nn.Linear(2, 2), nn.Sigmoid())",
        {"f": {"Sequential", "Sequential()", "Linear", "Linear()", "Sigmoid", "Sigmoid()"}},
    ),
    "partial": ("f = partial(torch.sum, dim=0)", {"f": {"partial", "partial()", "sum"}}),
    "what a function returns": ("f = make(x)", {"f": {"make()"}}),
    "function that returns a class": ("def make():\n    return nn.Sigmoid()", {"make()": {"Sigmoid", "Sigmoid()"}}),
    "number": ("f = 1", {}),
}


@pytest.mark.parametrize(("text", "renames"), RENAMES.values(), ids=RENAMES)
def test_what_becomes_another_name_for_a_function_or_class(text: str, renames: dict[str, set[str]]) -> None:
    assert {name: words - {""} for name, words in _renames(text).items()} == renames


def test_what_is_nested_beyond_the_recursion_limit_is_read_as_well() -> None:
    nested = "-" * (sys.getrecursionlimit() + 500)
    assert {"x", "-", "y"} <= outline(f"x = {nested}y\n").chunks["<module>"].words
