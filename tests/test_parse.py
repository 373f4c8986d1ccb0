"""libcst on one chunk: the statements of that chunk alone, with the lines and columns of the whole file."""

from __future__ import annotations

import libcst as cst
import pytest

from nanlint.source.lines import split_lines
from nanlint.source.outline import MODULE, outline
from nanlint.source.parse import ParsedChunk, parse_chunk
from nanlint.source.walk import walk

TEXT = """\
import torch

first = 1


class A:
    second = 2

    def f(self):
        third = [
            3,
        ]

    fourth = 4


fifth = 5
"""


def parsed(name: str, text: str = TEXT) -> ParsedChunk:
    return parse_chunk(outline(text).chunks[name], split_lines(text))


def places(chunk: ParsedChunk) -> dict[str, tuple[int, int]]:
    found = {node.value: chunk.span_of(node) for node in walk(chunk.module) if isinstance(node, cst.Integer)}
    return {value: (span.line, span.column) for value, span in found.items() if span.line}


@pytest.mark.parametrize(
    ("chunk", "numbers"),
    [
        pytest.param(MODULE, {"1": (3, 9), "5": (17, 9)}, id="module"),
        pytest.param("A", {"2": (7, 14), "4": (14, 14)}, id="class body"),
        pytest.param("A.f", {"3": (11, 13)}, id="method"),
    ],
)
def test_a_chunk_holds_its_own_statements_at_their_places(chunk: str, numbers: dict[str, tuple[int, int]]) -> None:
    assert places(parsed(chunk)) == numbers


def test_a_comment_at_the_end_of_a_function_does_not_indent_what_follows() -> None:
    text = "def f(x):\n    return x\n    # or y\n\n\nif f:\n    y = 7\n"
    assert places(parsed(MODULE, text)) == {"7": (7, 9)}


@pytest.mark.parametrize("text", ["class A(\n    B,\n): x = 7\n", "class A: x = 7\n", "class A(B): x = 7; y = 8\n"])
def test_the_body_of_a_class_may_stand_behind_the_colon(text: str) -> None:
    assert parsed("A", text).module.code == text


def test_a_function_of_one_line_has_places() -> None:
    assert places(parsed("f", "def f(x): return 7\n")) == {"7": (1, 18)}


def test_spans_end_behind_the_last_character() -> None:
    chunk = parsed("A.f")
    (node,) = [node for node in walk(chunk.module) if isinstance(node, cst.List)]
    span = chunk.span_of(node)
    assert (span.line, span.column, span.end_line, span.end_column) == (10, 17, 12, 10)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("# a comment\n", id="a comment"),
        pytest.param("import torch\n", id="an import"),
        pytest.param("def f(): ...\n", id="a function"),
        pytest.param('"""Text."""', id="a docstring without a line end"),
    ],
)
def test_a_module_of_nothing_is_a_chunk_of_nothing(text: str) -> None:
    assert places(parsed(MODULE, text)) == {}


def test_a_class_of_methods_alone_keeps_a_body() -> None:
    chunk = parsed("A", "class A:\n    def f(self): ...\n")
    assert isinstance(chunk.body[0], cst.ClassDef)


def test_columns_are_characters() -> None:
    chunk = parsed("f", 'def f():\n    return "äöü", 7\n')
    assert places(chunk) == {"7": (2, 19)}


def test_parents_lead_up_to_the_module() -> None:
    chunk = parsed("A.f")
    node: cst.CSTNode = next(node for node in walk(chunk.module) if isinstance(node, cst.List))
    kinds = []
    while node in chunk.parents:
        node = chunk.parents[node]
        kinds.append(type(node).__name__)
    assert "FunctionDef" in kinds
    assert kinds[-1] == "Module"


def test_places_are_the_same_whether_few_or_many_are_asked_for() -> None:
    text = "def f():\n    return [" + ", ".join(str(number) for number in range(100, 160)) + "]\n"
    assert places(parsed("f", text)) == {str(number): (2, 13 + 5 * (number - 100)) for number in range(100, 160)}


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["line feeds", "Windows line ends"])
def test_a_chunk_may_end_in_a_line_that_is_continued_by_nothing(newline: str) -> None:
    text = "class A:\n    def f(self):\n        return 1, \\\n            2, \\\n\n    def g(self):\n        return 3\n"
    assert places(parsed("A.f", text.replace("\n", newline))) == {"1": (3, 16), "2": (4, 13)}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("def f():\n\f    x = 7\n    y = 8\n", (2, 10), id="form feed before the first statement"),
        pytest.param("def f():\n  \f    x = 7\n    y = 8\n", (2, 12), id="blanks before the form feed do not count"),
        pytest.param("def f():\n    if y:\n    \f        x = 7\n        y = 8\n", (3, 18), id="in an inner block"),
        pytest.param("def f():\n    if y:\n        y = 8\n\f    else:\n        x = 7\n", (5, 13), id="before else"),
        pytest.param("def f():\n\f\n    # c\n\f    x = 7\n", (4, 10), id="after a blank line and a comment"),
        pytest.param("def f():\r\n\f    x = 7\r\n", (2, 10), id="windows line ends"),
        pytest.param("def f():\r\f    x = 7\r", (2, 10), id="old line ends"),
        pytest.param("def f():\n\tif y:\n\f\t\tx = 7\n\t\ty = 8\n", (3, 8), id="tabs"),
        pytest.param("def f():\n    \\\n  x = 7\n    y = 8\n", (3, 7), id="a backslash joins the next line"),
        pytest.param("def f():\n\\\n    x = 7\n    y = 8\n", (3, 9), id="a backslash in the first column"),
        pytest.param("def f():\n    \\\n\\\n\n    x = 7\n", (5, 9), id="backslashes in front of a blank line"),
    ],
)
def test_indentation_that_libcst_does_not_read_keeps_its_places(text: str, place: tuple[int, int]) -> None:
    assert places(parsed("f", text))["7"] == place


def test_form_feeds_in_a_text_are_its_own() -> None:
    text = 'def f():\n\f    x = """a\n\f  b"""\n    return 7\n'
    chunk = parsed("f", text)
    assert (places(chunk), '"""a\n\f  b"""' in chunk.module.code) == ({"7": (4, 12)}, True)
