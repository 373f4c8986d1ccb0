"""libcst on one chunk, with the lines and columns of the whole file.

A method is parsed inside a one-line wrapper so that its indentation stays what it is; class and module bodies are parsed with
the chunks inside them blanked out. libcst nodes carry no positions: they are computed for the few nodes that somebody
asks about, by one pass of libcst's own code generator over the chunk.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata.position_provider import PositionProvidingCodegenState

from nanlint.model import Span
from nanlint.source.walk import node_children, walk

if TYPE_CHECKING:
    from nanlint.source.outline import Chunk

# `if` needs no name, binds nothing, and its body may stand at any indentation.
_WRAPPER = "if 1:\n"


@dataclass(slots=True)
class ParsedChunk:
    """One chunk as libcst sees it. `body` holds its statements: for a function, the one FunctionDef."""

    chunk: Chunk
    module: cst.Module
    body: tuple[cst.BaseStatement | cst.BaseSmallStatement, ...]
    line_shift: int
    _spans: dict[cst.CSTNode, Span] = field(default_factory=dict)
    _parents: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict)

    @property
    def parents(self) -> Mapping[cst.CSTNode, cst.CSTNode]:
        """The node around each node."""
        if not self._parents:
            for node in walk(self.module):
                for child in node_children(node):
                    self._parents[child] = node
        return self._parents

    def source_of(self, node: cst.CSTNode) -> str:
        """The text of `node` as the user wrote it, its own parentheses and comments included."""
        return self.module.code_for_node(node)

    def span_of(self, node: cst.CSTNode) -> Span:
        """Where `node` stands in the file, without the parentheses around it."""
        if node not in self._spans:
            self.locate([node])
        return self._spans[node]

    def locate(self, nodes: Iterable[cst.CSTNode]) -> None:
        """Compute the spans of several nodes in one pass."""
        state = _SpanState(
            default_indent=self.module.default_indent,
            default_newline=self.module.default_newline,
            provider=_Wanted(set(nodes)),
        )
        self.module._codegen(state)  # noqa: SLF001 - libcst's position providers start at this same method
        for node, (line, column, end_line, end_column) in state.provider.found.items():
            self._spans[node] = Span(line + self.line_shift, column + 1, end_line + self.line_shift, end_column + 1)


def parse_chunk(chunk: Chunk, lines: list[str]) -> ParsedChunk:
    """Parse `chunk` out of the file's `lines` (each with its line end)."""
    if isinstance(chunk.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _parse_function(chunk, lines)
    kept = list(lines[chunk.first_line - 1 : chunk.last_line])
    inner = [
        node for node in chunk.node.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]  # type: ignore[attr-defined]
    return _parse_body(chunk, kept, inner)


def _parse_function(chunk: Chunk, lines: list[str]) -> ParsedChunk:
    text = "".join(lines[chunk.first_line - 1 : chunk.last_line])
    if not text[:1].isspace():
        module = cst.parse_module(text)
        return ParsedChunk(chunk, module, tuple(module.body), chunk.first_line - 1)
    module = cst.parse_module(_WRAPPER + text)
    wrapper = module.body[0]
    assert isinstance(wrapper, cst.If)  # noqa: S101 - the wrapper is ours
    return ParsedChunk(chunk, module, tuple(wrapper.body.body), chunk.first_line - 2)


def _parse_body(chunk: Chunk, kept: list[str], inner: list[ast.stmt]) -> ParsedChunk:
    """A class or module body without the functions and classes in it: their lines become blank, or `pass`."""
    shift = chunk.first_line - 1
    for node in inner:
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
        for number in range(first, (node.end_lineno or node.lineno) + 1):
            kept[number - 1 - shift] = "\n"
        # A body must not become empty, and one-line bodies (`class A: x = 1`) have nothing to blank.
        kept[first - 1 - shift] = " " * node.col_offset + "pass\n"
    text = "".join(kept)
    if not isinstance(chunk.node, ast.ClassDef):
        module = cst.parse_module(text)
        return ParsedChunk(chunk, module, tuple(module.body), shift)
    if text[:1].isspace():
        module = cst.parse_module(_WRAPPER + text)
        wrapper = module.body[0]
        assert isinstance(wrapper, cst.If)  # noqa: S101 - the wrapper is ours
        class_def, shift = wrapper.body.body[0], shift - 1
    else:
        module = cst.parse_module(text)
        class_def = module.body[0]
    assert isinstance(class_def, cst.ClassDef)  # noqa: S101 - the chunk's node is a ClassDef
    return ParsedChunk(chunk, module, (class_def,), shift)


@dataclass(slots=True)
class _Wanted:
    """The nodes whose places are asked for, and their places as they are found."""

    nodes: set[cst.CSTNode]
    found: dict[cst.CSTNode, tuple[int, int, int, int]] = field(default_factory=dict)


class _SpanState(PositionProvidingCodegenState):
    """libcst's code generator state, which notes the places of the wanted nodes alone."""

    provider: _Wanted  # type: ignore[assignment] # libcst's own provider would record every node

    def before_codegen(self, node: cst.CSTNode) -> None:
        """Nothing: only syntactic positions, without whitespace and parentheses, are of interest."""

    def after_codegen(self, node: cst.CSTNode) -> None:
        """Nothing, as before."""

    @contextmanager
    def record_syntactic_position(
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> Iterator[None]:
        """Note where the code that is generated meanwhile begins and ends, if `node` is wanted."""
        if node not in self.provider.nodes:
            yield
            return
        line, column = self.line, self.column
        yield
        self.provider.found[node] = (line, column, self.line, self.column)
