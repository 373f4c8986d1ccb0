"""libcst sees chunks, not files: every node of every chunk still knows its line and column in the file."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from nanlint.source.lines import split_lines
from nanlint.source.outline import outline
from nanlint.source.parse import parse_chunk
from nanlint.source.walk import walk

CHECKOUT = Path(__file__).resolve().parent.parent

TRICKY = {
    "method": "class A:\n    def f(self):\n        return value\n",
    "decorated method": "class A:\n    @wrap(\n        option\n    )\n    def f(self):\n        return value\n",
    "class of methods alone": "class A(base):\n    def f(self):\n        return value\n",
    "class body around methods": "class A:\n    x = one\n\n    def f(self): ...\n\n    # why\n    y = two\n",
    "class on one line": "class A: x = value\n",
    "class with a docstring": 'class A:\n    """Said\n    in two lines."""\n\n    x = value\n',
    "decorated class": "@wrap(option)\nclass A(base, metaclass=kind):\n    x = value\n",
    "class in a class": "class A:\n    x = one\n\n    class B:\n        y = two\n\n        def f(self):\n            return z\n",
    "tabs": "class A:\n\tx = one\n\tdef f(self):\n\t\treturn value\n\ty = two\n",
    "module around functions": "x = one\n\n\ndef f():\n    return value\n\n\n# why\ny = two\n",
    "module after imports": "import a\nfrom b import (\n    c,\n)\n\nx = value\n",
    "import and assignment on one line": "import a; x = value\n",
    "docstring and assignment on one line": '"""Said\nin two lines."""; x = value\n',
    "several statements that share lines": 'import a; """Said\nin two lines."""; x = one\ny = two\n',
    "function in a branch": "if flag:\n    def f():\n        return value\nelse:\n    g = other\n",
    "asynchronous function": "class A:\n    async def f(self):\n        async with value as v:\n            await v\n",
    "form feed": "x = one\n\f\ndef f():\n    return value\n\fclass A:\n    y = two\n",
    "form feed in a string": 'def f():\n    x = """\n\f""", one\n    return x\n',
    "Windows line ends": "import a\r\n\r\nx = one\r\n\r\n\r\ndef f():\r\n    return value\r\n",
    "no newline at the end": "def f():\n    return value\n\nx = one",
    "letters outside ASCII": 'x = "größer", größe\n\n\ndef f(ü):\n    return "…", ü\n',
    "string that looks like code": 'def f():\n    text = """\ndef g():\n    pass\n"""\n    return text\n',
    "comment to the left of its block": "class A:\n    def f(self):\n# here\n        return value\n",
    "continuation": "x = one + \\\n    two\n\n\ndef f():\n    return x \\\n        + y\n",
    "comment between statements": "class A:\n    def f(self):\n        x = one\n\n        # why\n\n        return x\n",
    "statements on one line in a function": "def f():\n    x = one; y = two\n    return x, y\n",
    "decorated function in a function": "def f():\n    x = one\n\n    # why\n    @wrap(\n        x\n    )\n    def g():\n        return x\n    return g\n",
    "function on one line": "def f(x): return x, one\n",
    "match": "def f(x):\n    match x:\n        case [first, *rest]:\n            return first, rest\n",
}


def _misplaced(text: str) -> list[str]:
    """Each name of each chunk that does not stand in the file where its span says."""
    lines = split_lines(text)
    wrong = []
    for qualname, chunk in outline(text).chunks.items():
        parsed = parse_chunk(chunk, lines)
        names = [node for statement in parsed.body for node in walk(statement) if isinstance(node, cst.Name)]
        parsed.locate(names)
        for name in names:
            span = parsed.span_of(name)
            there = lines[span.line - 1][span.column - 1 : span.end_column - 1]
            if there != name.value or span.end_line != span.line:
                wrong.append(
                    f"{qualname}: `{name.value}` is said to be at {span.line}:{span.column}, where `{there}` is"
                )
    return wrong


@pytest.mark.parametrize("text", TRICKY.values(), ids=TRICKY)
def test_every_name_stands_where_its_span_says(text: str) -> None:
    assert _misplaced(text) == []


@pytest.mark.parametrize("text", TRICKY.values(), ids=TRICKY)
def test_a_name_stands_where_it_does_whether_it_is_asked_for_alone_or_with_all_others(text: str) -> None:
    lines = split_lines(text)
    for chunk in outline(text).chunks.values():
        together, alone = parse_chunk(chunk, lines), parse_chunk(chunk, lines)
        nodes, same = (
            [node for node in walk(parsed.module) if isinstance(node, cst.Name)] for parsed in (together, alone)
        )
        together.locate(nodes)
        for node in same:
            alone.locate([node])
        assert [alone.span_of(node) for node in same] == [together.span_of(node) for node in nodes]


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["nanlint/source", "rules", "fixtures"])
def test_every_name_of_a_real_file_stands_where_its_span_says(folder: str) -> None:
    paths = sorted((CHECKOUT / folder).rglob("*.py"))
    assert [entry for path in paths for entry in _misplaced(path.read_text(encoding="utf-8"))] == []


def test_chunks_of_a_file_hold_each_of_its_statements_once() -> None:
    text = "import a\nx = 1\n\n\nclass A:\n    y = 2\n\n    def f(self):\n        z = 3\n\n\ndef g():\n    return 4\n"
    lines = split_lines(text)
    numbers = [
        node.value
        for chunk in outline(text).chunks.values()
        for statement in parse_chunk(chunk, lines).body
        for node in walk(statement)
        if isinstance(node, cst.Integer)
    ]
    assert sorted(numbers) == ["1", "2", "3", "4"]


def test_a_statement_brings_the_comments_above_it_along() -> None:
    text = "import a\n\n\ndef f(): ...\n\n\n# why\nx = 1\n"
    assert parse_chunk(outline(text).chunks["<module>"], split_lines(text)).module.code == "\n\n# why\nx = 1\n"


def _span(text: str, kind: type[cst.CSTNode]) -> tuple[int, int, int, int]:
    """The place of the first node of `kind` in the function that `text` is."""
    parsed = parse_chunk(outline(text).chunks["f"], split_lines(text))
    span = parsed.span_of(next(node for node in walk(parsed.body[0]) if isinstance(node, kind)))
    return span.line, span.column, span.end_line, span.end_column


PLACES = {
    "statement ends before its comment": (cst.SimpleStatementLine, (2, 5, 2, 14)),
    "expression begins inside its parentheses": (cst.BinaryOperation, (2, 10, 2, 13)),
    "parameter": (cst.Param, (1, 7, 1, 8)),
    "function ends with its last statement": (cst.FunctionDef, (1, 1, 2, 14)),
}


@pytest.mark.parametrize(("kind", "place"), PLACES.values(), ids=PLACES)
def test_a_node_is_told_without_what_is_around_it(kind: type[cst.CSTNode], place: tuple[int, int, int, int]) -> None:
    assert _span("def f(x):\n    y = (x+1)  # why\n", kind) == place
