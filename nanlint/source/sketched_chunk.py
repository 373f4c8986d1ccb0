"""Places and texts in a sketch: those of the file come from `ast`, or from the statements that somebody reports on, parsed one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import libcst as cst

from nanlint.model import Span
from nanlint.source.outline import first_line
from nanlint.source.parse import ParsedChunk, parse_lines
from nanlint.source.sketch_places import written_as
from nanlint.source.walk import walk

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Sequence


@dataclass(slots=True)
class Sketch(ParsedChunk):
    """A sketched chunk. A place in it that cannot be told exactly says what is part of what, and nothing else."""

    lines: Sequence[str] = ()
    """Those of the file."""
    has_failed: bool = False
    """Whether a place or text was asked for that is not known exactly."""
    _statements: dict[ast.stmt, tuple[dict[cst.CSTNode, cst.CSTNode], ParsedChunk] | None] = field(default_factory=dict)
    """A statement of the function -> its nodes as libcst sees them, by those of the sketch."""

    def span_of(self, node: cst.CSTNode) -> Span:
        """Where `node` stands, as far as places mean something."""
        written = self._place_of(node)
        if written is not None:
            return written
        twin, parsed = self.exactly(node)
        return ParsedChunk.span_of(self, node) if parsed is self else parsed.span_of(twin)

    def source_of(self, node: cst.CSTNode) -> str:
        """The text of `node`."""
        twin, parsed = self.exactly(node)
        return ParsedChunk.source_of(self, node) if parsed is self else parsed.source_of(twin)

    def bare_source_of(self, node: cst.CSTNode) -> str | None:
        """The text of `node` without parentheses around it, if that is known and one line."""
        place = self._place_of(node)
        if place is None or place.line != place.end_line:
            return None
        return self.lines[place.line - 1][place.column - 1 : place.end_column - 1]

    def _place_of(self, node: cst.CSTNode) -> Span | None:
        """Where `node` stands by what it was made of; None where libcst has to tell."""
        whole = self.body[0] if self.body else None
        if not isinstance(whole, cst.FunctionDef):
            return None
        written: Any = written_as(node, whole, self.chunk.node, self.parents)
        if written is None:
            return None
        # `ast` counts bytes, and libcst does not count form feeds.
        ends = self.lines[written.lineno - 1], self.lines[written.end_lineno - 1]
        if not all(line.isascii() and "\f" not in line for line in ends):
            return None
        return Span(written.lineno, written.col_offset + 1, written.end_lineno, written.end_col_offset + 1)

    def note_rewriting(self) -> None:
        """No new code comes from a sketch."""
        self.has_failed = True

    def exactly(self, node: cst.CSTNode) -> tuple[cst.CSTNode, ParsedChunk]:
        """The same node as libcst sees it, and the statement that was parsed for it."""
        found = self._twin(node)
        if found is not None:
            return found
        self.has_failed = True
        return node, self

    def _twin(self, node: cst.CSTNode) -> tuple[cst.CSTNode, ParsedChunk] | None:
        stated = self.statement_of(node)
        if stated is None:
            return None
        around, written = stated
        if written not in self._statements:
            self._statements[written] = self._parsed_statement(around, written)
        found = self._statements[written]
        return (found[0][node], found[1]) if found is not None and node in found[0] else None

    def _parsed_statement(
        self, sketched: cst.CSTNode, written: ast.stmt
    ) -> tuple[dict[cst.CSTNode, cst.CSTNode], ParsedChunk] | None:
        """The statement as libcst sees it; None if its lines by themselves are no code, as those of `x): return y`."""
        first, last = first_line(written), written.end_lineno or written.lineno
        try:
            parsed = parse_lines(self.chunk, "".join(self.lines[first - 1 : last]), range(first, last + 1))
        except cst.ParserSyntaxError:
            return None
        nodes, twins = list(walk(sketched)), list(walk(parsed.body[0]))
        # What cannot be told apart by its kind cannot be found again either.
        if len(parsed.body) != 1 or list(map(type, nodes)) != list(map(type, twins)):
            return None
        return dict(zip(nodes, twins, strict=True)), parsed

    def locate(self, nodes: Iterable[cst.CSTNode]) -> None:
        """Give each node a place of its own, and the places of those below it."""
        wanted = set(nodes)
        written = list(walk(self.module))
        # Of each node, it and those below it.
        sizes = dict.fromkeys(written, 1)
        for node in reversed(written):
            above = self.parents.get(node)
            if above is not None:
                sizes[above] += sizes[node]
        for number, node in enumerate(written, 1):
            if node in wanted:
                self._spans[node] = Span(1, number, 1, number + sizes[node])
