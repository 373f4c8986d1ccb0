"""Lines that a fix writes behind a statement: indented and ended as the one beside them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.model import Edit, Span

if TYPE_CHECKING:
    from nanlint.analysis.source_text import SourceText

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def statement_around(node: ast.AST | None, whole: ast.AST) -> ast.stmt | None:
    """The innermost statement that `node` stands in."""
    line = getattr(node, "lineno", 0)
    around = [
        each
        for each in ast.walk(whole)
        if isinstance(each, ast.stmt) and each is not whole and each.lineno <= line <= (each.end_lineno or 0)
    ]
    return max(around, key=lambda each: (each.lineno, each.col_offset), default=None)


def block_around(node: ast.AST | None, whole: ast.AST) -> list[ast.stmt] | None:
    """The statements among which the one around `node` stands."""
    statement = statement_around(node, whole)
    for each in ast.walk(whole):
        for name in _BLOCKS:
            block = getattr(each, name, None)
            if isinstance(block, list) and any(inner is statement for inner in block):
                return block
    return None


def line_after(node: ast.AST, whole: ast.AST, source: SourceText, *lines: str) -> Edit | None:
    """Write statements on lines of their own below the one that `node` is in, if that has its lines for itself."""
    statement = statement_around(node, whole)
    if statement is None or hasattr(statement, "body"):
        return None
    before, rest = source.around(statement)
    if before.strip() or not (not rest.strip() or rest.strip().startswith("#")):
        return None
    span = source.span_of(statement)
    end = source.end_of_line(span.end_line) or source.end_of_line(span.end_line - 1) or "\n"
    if span.end_line < source.line_count:
        return Edit(Span(span.end_line + 1, 1, span.end_line + 1, 1), "".join(f"{before}{line}{end}" for line in lines))
    column = span.end_column + len(rest)
    return Edit(Span(span.end_line, column, span.end_line, column), "".join(f"{end}{before}{line}" for line in lines))


def unit_of(node: ast.AST, whole: ast.AST, source: SourceText) -> str:
    """What the lines of a block begin with, beyond those around it."""
    statement = statement_around(node, whole)
    inner = source.around(statement)[0] if statement is not None else ""
    outer = next(
        (
            source.around(each)[0]
            for each in ast.walk(whole)
            for name in _BLOCKS
            if statement is not None and any(one is statement for one in getattr(each, name, None) or ())
            if isinstance(each, ast.stmt)
        ),
        "",
    )
    return inner.removeprefix(outer) or "    "
