"""Names that are given one value and read once: what they stand for is as good as written where they are read."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.listed_nodes import used_once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.source_text import SourceText
    from nanlint.model import Span

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEEPEST = 6


class UsedOnce:
    """Where a piece of code is computed, names that are used once followed."""

    def __init__(self, tree: ast.AST, source: SourceText) -> None:
        self._tree = tree
        self._source = source
        self._values: dict[int, list[tuple[Span, Span]]] | None = None
        """By the line of the use: where the name is read, and where its value is written."""

    def spans(self, span: Span, depth: int = _DEEPEST) -> Iterator[Span]:
        """The place itself, and those where the names in it that are used once get their values."""
        yield span
        if self._values is None:
            self._values = self._listed()
        for line in range(span.line, span.end_line + 1) if depth else ():
            for read, written in self._values.get(line, ()):
                if span.overlaps(read):
                    yield from self.spans(written, depth - 1)

    def _listed(self) -> dict[int, list[tuple[Span, Span]]]:
        found: dict[int, list[tuple[Span, Span]]] = {}
        for function in _outermost(self._tree):
            for read, value in used_once(function):
                place = self._source.span_of(read)
                found.setdefault(place.line, []).append((place, self._source.span_of(value)))
        return found


def _outermost(tree: ast.AST) -> Iterator[ast.AST]:
    """The functions and methods that stand in no other function."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _FUNCTIONS):
            yield node
        else:
            waiting.extend(each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr))
