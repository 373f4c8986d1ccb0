"""libcst on one chunk, with the lines and columns of the whole file.

A method is parsed inside a one-line wrapper so that its indentation stays what it is; class and module bodies are
parsed without the lines of the chunks inside them. libcst nodes carry no positions: they are computed for the few nodes
that somebody asks about, by one pass of libcst's own code generator over the chunk.
"""

from __future__ import annotations

import ast
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata.position_provider import PositionProvidingCodegenState

from nanlint.model import Span
from nanlint.source.lines import split_lines
from nanlint.source.outline import first_line
from nanlint.source.plain_indentation import indentation, with_plain_indentation
from nanlint.source.walk import ids_around, node_children, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nanlint.source.outline import Chunk

# Three calls per level. Python 3.10 needs half a kilobyte of the stack's eight megabytes for each.
_DEEPEST = 12_000

# Nodes of a chunk that are located one by one.
_FEW = 8

# `if` needs no name, binds nothing, and its body may stand at any indentation.
_WRAPPER = "if 1:\n"


@dataclass(slots=True)
class ParsedChunk:
    """One chunk as libcst sees it. `body` holds its statements: for a function, the one FunctionDef."""

    chunk: Chunk
    module: cst.Module
    body: tuple[cst.BaseStatement | cst.BaseSmallStatement, ...]
    numbers: Sequence[int]
    """The line of the file that each parsed line is; 0 for the wrapper's."""
    moved: Mapping[int, int] = field(default_factory=dict)
    """Parsed line -> columns by which it stands further left than in the file."""
    comments: dict[cst.CSTNode, str] = field(default_factory=dict)
    """Statement -> what its comments say, as far as somebody asked: hundreds of findings can stand in one statement."""
    _spans: dict[cst.CSTNode, Span] = field(default_factory=dict)
    _asked: int = 0
    _parents: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict)

    @property
    def parents(self) -> Mapping[cst.CSTNode, cst.CSTNode]:
        """The node around each node."""
        if not self._parents:
            waiting: list[cst.CSTNode] = [self.module]
            while waiting:
                node = waiting.pop()
                below = node_children(node)
                for child in below:
                    self._parents[child] = node
                waiting += below
        return self._parents

    def exactly(self, node: cst.CSTNode) -> tuple[cst.CSTNode, ParsedChunk]:
        """The node as libcst parsed it, and what it was parsed with."""
        return node, self

    def bare_source_of(self, node: cst.CSTNode) -> str | None:  # noqa: ARG002 - a sketch knows
        """The text of `node` without parentheses around it, where that is known without libcst; None elsewhere."""
        return None

    def note_rewriting(self) -> None:
        """Somebody writes new code for a part of it."""

    def source_of(self, node: cst.CSTNode) -> str:
        """The text of `node` as the user wrote it, its own parentheses and comments included."""
        with deep_enough():
            return self.module.code_for_node(node)

    def span_of(self, node: cst.CSTNode) -> Span:
        """Where `node` stands in the file, without the parentheses around it."""
        if node not in self._spans:
            self._asked += 1
            # A pass over the chunk for each of thousands of findings would take minutes: then one pass for all.
            others = walk(self.module) if self._asked > _FEW else ()
            self.locate([node, *(other for other in others if isinstance(other, cst.BaseExpression))])
        return self._spans[node]

    def locate(self, nodes: Iterable[cst.CSTNode]) -> None:
        """Compute the spans of several nodes in one pass."""
        wanted = set(nodes)
        state = _SpanState(
            default_indent=self.module.default_indent,
            default_newline=self.module.default_newline,
            provider=_Wanted(wanted),  # type: ignore[arg-type] # it hands out places as a provider does
        )
        start = self._statement_around(next(iter(wanted)), state) if len(wanted) == 1 else None
        with deep_enough(), suppress(_AllFound):
            (start or self.module)._codegen(state)  # noqa: SLF001 - libcst's position providers start at this same method
        for node, (line, column, end_line, end_column) in state.provider.found.items():
            self._spans[node] = Span(*self._place(line, column), *self._place(end_line, end_column))

    def _statement_around(self, node: cst.CSTNode, state: _SpanState) -> cst.CSTNode | None:
        """The statement of the function's body that `node` is in, with `state` in front of it; None where `ast` can't tell."""
        found = self.statement_of(node) if not self.moved else None
        if found is None:
            return None
        around, written = found
        state.line = self.numbers.index(first_line(written)) + 1 - len(around.leading_lines)  # type: ignore[attr-defined]
        state.increase_indent(" " * written.col_offset)
        return around

    def statement_of(self, node: cst.CSTNode) -> tuple[cst.CSTNode, ast.stmt] | None:
        """The innermost statement that `node` is in, here and in the outline; None outside of a function's body."""
        function, tree = self.body[0] if self.body else None, self.chunk.node
        if not isinstance(function, cst.FunctionDef) or not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        # A statement of the chunk, parsed alone, may be a function, too.
        if self.chunk.first_line not in self.numbers:
            return None
        around = ids_around(node, self.parents)
        found, within = None, _within(function, tree, around)
        while within is not None:
            found, within = within, _within(*within, around)
        return found

    def _place(self, line: int, column: int) -> tuple[int, int]:
        """A place of the parsed text in the file; libcst counts columns from 0."""
        return self.numbers[line - 1], column + 1 + self.moved.get(line, 0)


def _within(statement: cst.CSTNode, written: ast.stmt, around: set[int]) -> tuple[cst.CSTNode, ast.stmt] | None:
    """The one of the statements in the body of `statement` that is `around` something, and the same as `ast` has it."""
    block, statements = getattr(statement, "body", None), getattr(written, "body", ())
    # With `a; b` on one line, `ast` has more statements than libcst has lines.
    if not isinstance(block, cst.IndentedBlock) or id(block) not in around or len(block.body) != len(statements):
        return None
    return next((pair for pair in zip(block.body, statements, strict=True) if id(pair[0]) in around), None)


@contextmanager
def deep_enough() -> Iterator[None]:
    """Let libcst's code generator, which descends into a sum of 2,000 terms as deep as that, finish its work."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def parse_chunk(chunk: Chunk, lines: Sequence[str]) -> ParsedChunk:
    """Parse `chunk` out of the file's `lines` (each with its line end)."""
    node = chunk.node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or _is_behind_colon(node, lines):
        numbers: Sequence[int] = range(chunk.first_line, chunk.last_line + 1)
        return parse_lines(chunk, "".join(lines[chunk.first_line - 1 : chunk.last_line]), numbers)
    numbers = _body_numbers(chunk, node)
    text = "".join(lines[number - 1] for number in numbers)
    if isinstance(node, ast.ClassDef) and numbers[-1] < node.body[0].lineno:
        # Nothing of the body is left, and a class must have one.
        numbers.append(node.body[0].lineno)
        text += indentation(lines[node.body[0].lineno - 1]) + "pass\n"
    return parse_lines(chunk, text, numbers)


def _is_behind_colon(node: ast.ClassDef | ast.Module, lines: Sequence[str]) -> bool:
    """Whether the body of a class stands in the last line of its header: `): ...`."""
    first = node.body[0] if isinstance(node, ast.ClassDef) else None
    return first is not None and bool(lines[first.lineno - 1][: first.col_offset].strip())


def parse_lines(chunk: Chunk, text: str, numbers: Sequence[int]) -> ParsedChunk:
    """Parse the `text` of some lines of a chunk, which have these `numbers` in the file."""
    if text.rstrip("\r\n").endswith("\\"):
        # Behind `return x, \` comes the blank line that ends the statement, which Python does not count to it.
        text, numbers = f"{text}\n", [*numbers, numbers[-1] + 1]
    text, moved = with_plain_indentation(text, numbers, chunk.node)
    # A blank line has no indentation, whatever it is made of, and a comment may be that of the function before.
    if not indentation(next((line for line in split_lines(text) if line.strip()[:1] not in {"", "#"}), "")):
        module = cst.parse_module(text)
        return ParsedChunk(chunk, module, tuple(module.body), numbers, moved)
    module = cst.parse_module(_WRAPPER + text)
    behind = {line + 1: columns for line, columns in moved.items()}
    wrapper = module.body[0]
    assert isinstance(wrapper, cst.If)  # noqa: S101 - the wrapper is ours
    return ParsedChunk(chunk, module, tuple(wrapper.body.body), [0, *numbers], behind)


def _body_numbers(chunk: Chunk, node: ast.ClassDef | ast.Module) -> list[int]:
    """The lines of a class or module without those of other chunks, imports and docstrings.

    A statement brings the comments above it along.
    """
    numbers: list[int] = []
    if isinstance(node, ast.ClassDef):
        numbers.extend(range(chunk.first_line, max(first_line(node.body[0]), node.lineno + 1)))
    before = numbers[-1] if numbers else 0
    for statement, after in zip(node.body, [*node.body[1:], None], strict=False):
        last = statement.end_lineno or statement.lineno
        # `import a; x = 1`: statements that share a line stay together.
        shares_line = statement.lineno <= before or (after is not None and after.lineno <= last)
        if shares_line or not is_elsewhere(statement):
            numbers.extend(range(max(before, numbers[-1] if numbers else 0) + 1, last + 1))
        before = last
    return numbers


def is_elsewhere(statement: ast.stmt) -> bool:
    """Whether nobody looks for the statement here: it has a chunk of its own, the outline knows it, or it does nothing."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(
        statement,
        (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass),
    )


@dataclass(slots=True)
class _Wanted:
    """The nodes whose places are asked for, and their places as they are found."""

    nodes: set[cst.CSTNode]
    found: dict[cst.CSTNode, tuple[int, int, int, int]] = field(default_factory=dict)


class _AllFound(Exception):  # noqa: N818 - no error: what is behind the last wanted node need not be generated
    """The places of all wanted nodes are known."""


class _SpanState(PositionProvidingCodegenState):
    """libcst's code generator state, which notes the places of the wanted nodes alone."""

    provider: _Wanted  # type: ignore[assignment] # libcst's own provider would record every node

    def add_token(self, value: str) -> None:
        """Move on behind `value`, of which nobody asks for the text."""
        if "\n" in value or "\r" in value:
            self._update_position(value)
        else:
            self.column += len(value)

    def add_indent_tokens(self) -> None:
        """Move on behind the indentation."""
        for token in self.indent_tokens:
            self.column += len(token)

    def before_codegen(self, node: cst.CSTNode) -> None:
        """Note where a wanted node begins; some kinds of node (`Arg`, `Param`) have no other place than this."""
        if node in self.provider.nodes:
            super().before_codegen(node)

    def after_codegen(self, node: cst.CSTNode) -> None:
        """Note where a wanted node ends, unless a place without the whitespace around it is known."""
        if node in self.provider.nodes:
            start, found = self._stack.pop(), self.provider.found
            found.setdefault(node, (start.line, start.column, self.line, self.column))
            if len(found) == len(self.provider.nodes):
                raise _AllFound

    @contextmanager
    def record_syntactic_position(
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> Iterator[None]:
        """Note where the code that is generated meanwhile begins and ends, if `node` is wanted.

        A statement begins and ends where its first and last parts do, without the comment behind it.
        """
        if node not in self.provider.nodes:
            yield
            return
        self.provider.nodes.update(part for part in (start_node, end_node) if part is not None)
        start = (self.line, self.column)
        yield
        end = (self.line, self.column)
        found = self.provider.found
        found[node] = (
            *(start if start_node is None else found[start_node][:2]),
            *(end if end_node is None else found[end_node][2:]),
        )
