"""A file without the bodies of its functions: what is cut out comes back as it was, at its place, and nothing else is touched."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from nanlint.source.outline import MODULE, outline
from nanlint.source.skeleton import Skeleton

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(
    path for folder in ("nanlint", "rules", "fixtures", "examples") for path in (ROOT / folder).rglob("*.py")
)

LONG = '''
import torch


@torch.no_grad()
def spelled_out(
    x,
    y=1,
) -> torch.Tensor:
    """Some words."""
    z = x.log()  # natural

    return z + y
    # a comment behind it


class A:
    size = 3

    def method(self, x):
        for _ in range(3):
            self.total = x
        return x
'''


def hidden_lines(text: str) -> list[int]:
    return [function.line for function in Skeleton(text).functions]


@pytest.mark.slow
def test_what_is_cut_out_of_our_own_files_comes_back_as_it_was() -> None:
    hidden = 0
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        try:
            whole = outline(text).chunks
        except SyntaxError:
            continue
        headers = outline(text, only_headers=True).chunks
        hidden += len(hidden_lines(text))
        assert [*headers] == [*whole], path
        for name, chunk in headers.items():
            if name == MODULE or isinstance(chunk.node, ast.ClassDef):
                continue
            assert ast.dump(chunk.node) == ast.dump(whole[name].node), f"{path}: {name}"
            assert places(chunk.node) == places(whole[name].node), f"{path}: {name}"
            assert (chunk.first_line, chunk.last_line) == (whole[name].first_line, whole[name].last_line), name
            assert chunk.words == whole[name].words, f"{path}: {name}"
    assert hidden > 1000


def places(node: ast.AST) -> list[tuple[int, int]]:
    return [(each.lineno, each.col_offset) for each in ast.walk(node) if isinstance(each, (ast.stmt, ast.expr))]


def test_a_body_is_cut_out_and_every_line_stays_where_it_is() -> None:
    text = Skeleton(LONG).without(Skeleton(LONG).functions)
    assert "log" not in text
    assert "for _" not in text
    assert text.count("\n") == LONG.count("\n")
    assert "size = 3" in text
    assert hidden_lines(LONG) == [6, 20]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(x):\n    import math\n\n    y = math.pi\n    return x + y\n", id="imports something"),
        pytest.param(
            "def f(x):\n    a = 1\n    if a: import math\n    return x\n", id="imports something behind a colon"
        ),
        pytest.param(
            "def f(x):\n    a = 1\n    b = 2; from math import pi\n    return x\n", id="and behind another statement"
        ),
        pytest.param("def f(x): return x\n", id="one line"),
        pytest.param("def f(x):\n    return x\n", id="short"),
        pytest.param("if True:\n    def f(x):\n        a = 1\n        b = 2\n        return x\n", id="in a branch"),
        pytest.param("class A:\n  def f(x):\n    a = 1\n    b = 2\n    return x\n", id="indented by two"),
        pytest.param("def f(x):\n\ta = 1\n\tb = 2\n\treturn x\n", id="tabs"),
        pytest.param("def f(x):\r\n    a = 1\r\n    b = 2\r\n    return x\r\n", id="Windows line endings"),
        pytest.param("def f(x, y='('):\n    a = 1\n    b = 2\n    return x\n", id="a bracket in a text"),
    ],
)
def test_other_layouts_stay_in_the_text(text: str) -> None:
    assert hidden_lines(text) == []
    assert Skeleton(text).without([]) == text


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('"""It is important to import what imports."""', id="a text about imports"),
        pytest.param("important = x  # import", id="a comment and a name"),
        pytest.param("a = '\t'", id="a tab in a text"),
    ],
)
def test_words_that_look_alike_keep_no_body_in_the_text(line: str) -> None:
    text = f"def f(x):\n    {line}\n    b = 2\n    return x\n"
    assert hidden_lines(text) == [1]
    assert ast.dump(outline(text, only_headers=True).chunks["f"].node) == ast.dump(outline(text).chunks["f"].node)


def test_one_function_with_tabs_leaves_the_others_as_they_are() -> None:
    text = "def f(x):\n\ta = 1\n\tb = 2\n\treturn x\n\n\ndef g(x):\n    a = 1\n    b = 2\n    return x\n"
    assert hidden_lines(text) == [7]
    assert [*outline(text, only_headers=True).chunks] == ["f", "g", MODULE]


def test_a_function_in_a_text_is_none() -> None:
    text = 'EXAMPLE = """\ndef f(x):\n    a = 1\n    b = 2\n    return x\n\n"""\n\n\ndef g(x):\n    a = 1\n    b = 2\n    return x\n'
    assert [*outline(text, only_headers=True).chunks] == ["g", MODULE]
    assert "b = 2" in ast.unparse(outline(text, only_headers=True).tree.body[0])


def test_no_decorator_is_lost_behind_a_text() -> None:
    text = 'class A:\n    @told("""\n    About it.\n    """)\n    def f(self, x):\n        a = 1\n        b = 2\n        return x\n'
    node = outline(text, only_headers=True).chunks["A.f"].node
    assert ast.dump(node) == ast.dump(outline(text).chunks["A.f"].node)


def test_a_mistake_in_a_body_is_told_when_somebody_asks_for_it() -> None:
    chunks = outline("def f(x):\n    a = 1\n    b = = 2\n    return x\n", only_headers=True).chunks
    assert chunks["f"].last_line == 4
    with pytest.raises(SyntaxError):
        _ = chunks["f"].words


def test_words_are_looked_for_before_anything_is_parsed() -> None:
    chunk = outline("def f(x):\n    a = 1\n    b = = 2\n    return x.log()\n", only_headers=True).chunks["f"]
    assert not chunk.mentions(("exp", "sqrt"))
    with pytest.raises(SyntaxError):
        chunk.mentions(("log",))
