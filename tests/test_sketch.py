"""A sketch holds the code that libcst would parse: written out, it means the same; rules find on it what they find there."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst as cst
import pytest

from nanlint.facts.context import comments_at
from nanlint.facts.rewrite import bare, code
from nanlint.model import Span
from nanlint.source.lines import split_lines
from nanlint.source.outline import MODULE, Chunk, outline
from nanlint.source.parse import ParsedChunk, parse_chunk
from nanlint.source.sketch import sketch_chunk
from nanlint.source.sketched_chunk import Sketch
from nanlint.source.walk import walk

ROOT = Path(__file__).resolve().parents[1]
OUR_OWN = sorted((ROOT / "nanlint").rglob("*.py"))

EVERYTHING = '''
@decorated(1)
async def f(a, /, b: int = 2, *c, d, e=-3, **g) -> list[int]:
    """Text."""
    global h, i
    assert a, "b"
    a.b[0], (c, *d) = e = -(1 + 2) * 3 ** -4 @ 5
    x: int
    x: float = (yield)
    x //= not (a and b or c) if d else lambda y, *z: (y := z)
    del a, b
    for a, in b: break
    else: continue
    async for c in d: pass
    while a < b <= c is not d in e: a = {**b, 1: 2, "c": {1, 2}}
    with a as b, c: raise X from Y
    try: import a.b as c, d
    except (E, F) as g: from ..a import b as c
    except G: from . import h
    else: from k import *
    finally: nonlocal_ = None
    if a: ...
    elif b: return await c(*d, e=1, **f)
    else: yield from g
    return [i async for i in j if k for l in m], {n: o for n in p}, {q for q in r}, (s for s in t), f"{u:>{v}}!", b"w", 1j, 1e999, u[1:2, ..., None]


class A(B, metaclass=C):
    x = 1
    def g(self): nonlocal_.y = True
'''


def without_texts(tree: ast.AST) -> str:
    """The tree as text, less what sketches leave out: docstrings and the plain parts of f-strings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant("")
        if isinstance(node, ast.JoinedStr):
            node.values = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        if isinstance(node, ast.FormattedValue):
            node.format_spec, node.conversion = None, -1
    return ast.dump(tree)


def has_nested_text(tree: ast.AST) -> bool:
    """Whether a string stands in an f-string, where Python before 3.12 asks for other quotes than sketches have."""
    return any(
        isinstance(inner, (ast.JoinedStr, ast.Constant))
        for node in ast.walk(tree)
        if isinstance(node, ast.FormattedValue)
        for inner in ast.walk(node.value)
    )


def sketched(chunk: Chunk, text: str) -> ParsedChunk:
    return sketch_chunk(chunk, split_lines(text))


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [pytest.param(path.read_text(encoding="utf-8"), id=str(path.relative_to(ROOT))) for path in OUR_OWN],
)
def test_a_sketch_written_out_is_the_code(text: str) -> None:
    for chunk in outline(text).chunks.values():
        if isinstance(chunk.node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not has_nested_text(chunk.node):
            (written,) = ast.parse(sketched(chunk, text).module.code).body
            assert without_texts(written) == without_texts(chunk.node), chunk.name


def test_every_kind_of_statement_and_expression_is_sketched() -> None:
    plan = outline(EVERYTHING)
    for name in ("f", "A.g"):
        chunk = plan.chunks[name]
        sketch = sketched(chunk, EVERYTHING)
        assert not any(isinstance(node, cst.Comment) for node in walk(sketch.module))
        (written,) = ast.parse(sketch.module.code).body
        assert without_texts(written) == without_texts(chunk.node)


def test_chunks_of_their_own_are_left_out() -> None:
    plan = outline(EVERYTHING)
    assert sketched(plan.chunks[MODULE], EVERYTHING).body == ()
    assert ast.dump(ast.parse(sketched(plan.chunks["A"], EVERYTHING).module.code)) == ast.dump(
        ast.parse("class A(B, metaclass=C):\n    x = 1\n")
    )


def test_what_is_too_rare_is_parsed() -> None:
    text = "def f(x):\n    match x:\n        case 1:  # one\n            return 2\n"
    assert sketched(outline(text).chunks["f"], text).module.code == text


def test_code_that_is_nested_deeply_is_parsed() -> None:
    text = f"def f(x):\n    return {' + '.join(['x'] * 400)}\n"
    chunk = outline(text).chunks["f"]
    assert ast.dump(ast.parse(sketched(chunk, text).module.code)) == ast.dump(
        ast.parse(parse_chunk(chunk, split_lines(text)).module.code)
    )


def test_a_statement_has_the_comments_that_libcst_gives_it() -> None:
    text = "def f(x):  # head\n    # above\n    y = [  # behind\n        x,  # between\n    ]  # end\n    # next\n    return y\n"
    chunk = outline(text).chunks["f"]
    said = []
    for parsed in (sketched(chunk, text), parse_chunk(chunk, split_lines(text))):
        names = [node for node in walk(parsed.module) if isinstance(node, cst.Name) and node.value == "y"]
        said.append([comments_at(node, parsed) for node in names])
    assert said[0] == said[1] == ["# above # behind # between # end", "# next"]


def test_places_in_a_sketch_say_what_is_part_of_what() -> None:
    text = "def f(x):\n    return (x + 1) * g(x - 2, 3)\n"
    parsed = sketched(outline(text).chunks["f"], text)
    nodes = [node for node in walk(parsed.module) if isinstance(node, cst.BaseExpression)]
    for node in nodes:
        below = set(walk(node))
        parts = {other for other in nodes if other in below or node in set(walk(other))}
        assert {other for other in nodes if parsed.span_of(node).overlaps(parsed.span_of(other))} == parts


def test_a_place_of_another_chunk_is_none_of_the_sketch() -> None:
    text = "def f(x):\n    return x\n"
    with pytest.raises(KeyError):
        sketched(outline(text).chunks["f"], text).span_of(cst.Name("x"))


def told(text: str) -> Sketch:
    sketch = sketched(outline(text).chunks["f"], text)
    assert isinstance(sketch, Sketch)
    return sketch


@pytest.mark.slow
def test_a_sketch_tells_places_and_texts_of_the_file() -> None:
    compared = failed = 0
    for path in OUR_OWN[::6]:
        text = path.read_text(encoding="utf-8")
        for chunk in outline(text).chunks.values():
            sketch = sketched(chunk, text)
            if not chunk.name.isidentifier() or not isinstance(sketch, Sketch):
                continue
            exact = parse_chunk(chunk, split_lines(text))
            nodes = list(zip(walk(sketch.body[0]), walk(exact.body[0]), strict=False))
            if any(type(one) is not type(other) for one, other in nodes):
                continue
            for node, other in nodes[:: 1 + len(nodes) // 4]:
                if isinstance(node, cst.BaseExpression):
                    span, source = sketch.span_of(node), sketch.source_of(node)
                    assert sketch.has_failed or (span, source) == (exact.span_of(other), exact.source_of(other))
                    assert sketch.bare_source_of(node) in {None, code(bare(other), other, exact)}
                    compared, failed = compared + 1, failed + sketch.has_failed
                    sketch.has_failed = False
    # Those that fail are parameters, annotations and decorators.
    assert compared > 300
    assert failed < compared / 2


def test_a_statement_may_be_a_function_itself() -> None:
    sketch = told("def f(x):\n    def g(y):\n        return  log\n")
    [node] = [node for node in walk(sketch.module) if isinstance(node, cst.Name) and node.value == "log"]
    assert sketch.span_of(node) == Span(3, 17, 3, 20)
    assert not sketch.has_failed


@pytest.mark.parametrize(
    ("body", "around"),
    [
        pytest.param("    if x:\n        for y in x:\n            z = log\n", "z = log", id="the innermost block"),
        pytest.param("    if x:\n        y\n    elif log:\n        z\n", None, id="the test of a branch"),
        pytest.param("    try:\n        y = log\n    finally:\n        z\n", "y = log", id="a try"),
    ],
)
def test_no_more_is_parsed_for_a_place_than_its_statement(body: str, around: str | None) -> None:
    sketch = told(f"def f(x):\n{body}")
    [node] = [node for node in walk(sketch.module) if isinstance(node, cst.Name) and node.value == "log"]
    place = sketch.span_of(node)
    found = sketch.statement_of(node)
    assert found is not None
    assert ast.unparse(found[1]) == (around or ast.unparse(ast.parse(f"def f(x):\n{body}").body[0].body[0]))  # type: ignore[attr-defined]
    lines = f"def f(x):\n{body}".splitlines()
    assert lines[place.line - 1][place.column - 1 : place.end_column - 1] == "log"


def log_in(sketch: Sketch) -> cst.Name:
    [node] = [node for node in walk(sketch.module) if isinstance(node, cst.Name) and node.value == "log"]
    return node


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(x=log):\n    return x\n", id="in a parameter"),
        pytest.param("def f(x):\n    x; return lambda: log\n", id="statements that share a line"),
        pytest.param("def f(x,\n      y): return lambda: log\n", id="a statement behind the colon"),
        pytest.param(
            "def f(x):\n    if x:\n        x; y = lambda: log\n", id="statements further in that share a line"
        ),
        pytest.param("def f(x):\n    with x: y = lambda: log\n", id="a statement behind the colon of another"),
        pytest.param("def f(x):\n    return lambda: log('a' 'b')\n", id="something that is sketched otherwise"),
        pytest.param("def f(x):\n    x; return 'é', log\n", id="bytes that are no columns"),
        pytest.param("def f(x):\n    x;\f return log\n", id="a form feed"),
    ],
)
def test_what_is_not_known_exactly_is_no_success(text: str) -> None:
    sketch = told(text)
    sketch.span_of(log_in(sketch))
    assert sketch.has_failed


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("x; return log", id="statements that share a line"),
        pytest.param("with x: y = log", id="a statement behind the colon"),
        pytest.param("if x: y\n    elif z: y\n    else: y = (log)", id="the last branch"),
        pytest.param("for y in (log): y", id="what a loop runs over"),
        pytest.param("try: y\n    except x: y = log", id="a handler"),
        pytest.param("while x: x += log", id="what is added"),
        pytest.param("assert x and y and (log) and z", id="a part of a condition"),
        pytest.param("return log('a' 'b')", id="beside something that is sketched otherwise"),
        pytest.param("return x[( log )].y + g(*x, z, k=-y)", id="an index"),
        pytest.param("return g(*(log), k=y)", id="arguments with a star"),
        pytest.param("return g(x, k=[*y, ( log)])", id="a part of an argument with a name"),
        pytest.param("return 0 < x < (log if y else z), y", id="the last of a chain"),
        pytest.param("return sum((log) for y in x)", id="what is summed up"),
    ],
)
def test_a_place_that_the_tree_tells_needs_no_libcst(statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("nanlint.source.sketched_chunk.parse_lines")
    text = f"def f(x):\n    {statement}\n"
    sketch = told(text)
    place = sketch.span_of(log_in(sketch))
    assert split_lines(text)[place.line - 1][place.column - 1 : place.end_column - 1] == "log"
    assert sketch.bare_source_of(log_in(sketch)) == "log"
    assert not sketch.has_failed


def test_no_new_code_comes_from_a_sketch() -> None:
    sketch = told("def f(x):\n    return x\n")
    code(sketch.body[0], sketch.body[0], sketch)
    assert sketch.has_failed
