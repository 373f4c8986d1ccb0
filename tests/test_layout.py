"""Comments and stretches: what is a comment, and which lines belong together."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from nanlint.source.comments import layout
from nanlint.source.comments.layout import read_layout

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
FOLDERS = ["asyncio", "email", "json", "unittest", "xml", "."]


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_quick_reading_agrees_with_tokenize_on_the_standard_library(folder: str) -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((LIBRARY / folder).glob("*.py"))[:40]]
    both = [(layout._lexed(text), layout._tokenized(text)) for text in texts]  # noqa: SLF001 - two readers, one truth
    assert both
    assert [quick for quick, _ in both if quick] == [exact for quick, exact in both if quick]


@pytest.mark.parametrize(
    ("text", "stretches"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("# only\n\n# comments", [], id="comments only"),
        pytest.param("x = 1", [(1, 1)], id="no final newline"),
        pytest.param("f(\n  1,\n)\ny = 2\n", [(1, 3), (4, 4)], id="brackets"),
        pytest.param("x = 1 + \\\n    2\n", [(1, 2)], id="backslash"),
        pytest.param('x = """\n# no\n"""\ny = 2\n', [(1, 3), (4, 4)], id="triple quotes"),
        pytest.param("x = 'a\\\nb'\ny = 2\n", [(1, 2), (3, 3)], id="string over two lines"),
        pytest.param("if (\n  a\n):\n  b\nelse:\n  c\n", [(1, 3), (4, 4), (5, 5), (6, 6)], id="headers and bodies"),
        pytest.param("@a\n@b(\n  1)\ndef f(): pass\n", [(1, 1), (2, 3), (4, 4)], id="decorators"),
        pytest.param("x = 1\r\ny = [\r\n]\r\n", [(1, 1), (2, 3)], id="CRLF"),
        pytest.param("x = 1\ry = [\r]\r", [(1, 1), (2, 3)], id="CR"),
        pytest.param("x = 1\n\x0c\ny = '\u2028'\n", [(1, 1), (3, 3)], id="form feed and line separator"),
    ],
)
def test_a_stretch_is_a_logical_line(text: str, stretches: list[tuple[int, int]]) -> None:
    assert read_layout(text).stretches == stretches


@pytest.mark.parametrize(
    ("text", "comments"),
    [
        pytest.param("x = '# no'  # yes\n", [(1, 13, False)], id="string before it"),
        pytest.param("'''\n# no\n'''  # yes\n  # alone\n", [(3, 6, False), (4, 3, True)], id="triple quotes"),
        pytest.param("r'\\'# no'\n", [], id="a raw string that a backslash keeps open"),
        pytest.param("f'{x!r:#>{w}}'\n", [], id="format specification"),
        pytest.param("x = 'it''s'  # \"odd\n", [(1, 14, False)], id="quotes in the comment"),
    ],
)
def test_only_comments_are_comments(text: str, comments: list[tuple[int, int, bool]]) -> None:
    assert [(comment.line, comment.column, comment.alone) for comment in read_layout(text).comments] == comments


def test_quotes_nested_in_an_f_string_are_left_to_the_tokenizer() -> None:
    text = 'x = f"{y["# no"]}"\n'
    assert layout._lexed(text) is None  # noqa: SLF001 - the doubt itself is the behaviour


def test_text_that_is_no_python_is_read_line_by_line() -> None:
    found = read_layout("loss: [1, 2  # yes\n# alone\nname: 'x # no'\nend: it's\n")
    assert (found.python, found.stretches) == (False, [(1, 1), (3, 3), (4, 4)])
    assert [(comment.line, comment.alone) for comment in found.comments] == [(1, False), (2, True)]
