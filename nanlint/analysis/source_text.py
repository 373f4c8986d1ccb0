"""The text of a file, by the nodes of its `ast`: columns in characters, as people count them."""

from __future__ import annotations

import ast
from keyword import iskeyword
from typing import TYPE_CHECKING

from nanlint.model import Span
from nanlint.source.lines import line_end, split_lines

if TYPE_CHECKING:
    from collections.abc import Sequence


class SourceText:
    """One file's text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: list[str] | None = None
        # As Python's parser counts lines: a form feed or a line separator ends none.
        self._lines: Sequence[str] = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def span_of(self, node: ast.AST | None) -> Span:
        """Where a node is written; lines and columns count from 1. One of a longer file has no place in this one."""
        if not isinstance(node, ast.expr | ast.stmt) or node.end_lineno is None or node.end_col_offset is None:
            line = getattr(node, "lineno", 1)
            return Span(line, 1, line, 1)
        if node.end_lineno > len(self._lines):
            return Span(1, 1, 1, 1)
        return Span(
            node.lineno,
            self._column(node.lineno, node.col_offset),
            node.end_lineno,
            self._column(node.end_lineno, node.end_col_offset),
        )

    def _column(self, line: int, offset: int) -> int:
        text = self._lines[line - 1]
        return (offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))) + 1

    def text_of(self, node: ast.AST) -> str:
        """A node as it is written."""
        span = self.span_of(node)
        if span.line == span.end_line:
            return self._lines[span.line - 1][span.column - 1 : span.end_column - 1]
        first = self._lines[span.line - 1][span.column - 1 :]
        between = self._lines[span.line : span.end_line - 1]
        return "\n".join([first, *between, self._lines[span.end_line - 1][: span.end_column - 1]])

    def line(self, number: int) -> str:
        """The text of one line."""
        return self._lines[number - 1]

    def end_of_line(self, number: int) -> str:
        """The newline that ends a line; "" for the last one if nothing ends it."""
        if self._ends is None:
            self._ends = [line_end(line) for line in split_lines(self._text)]
        return self._ends[number - 1] if 0 < number <= len(self._ends) else ""

    def comments_in(self, first: int, last: int) -> str:
        """The comments of some lines, and those that stand right above. A `#` in a string looks like one."""
        while first > 1 and self._lines[first - 2].lstrip().startswith("#"):
            first -= 1
        return " ".join(line.partition("#")[2] for line in self._lines[first - 1 : last])

    def offset_of(self, node: ast.AST) -> int:
        """How many characters of the file stand before a node."""
        span = self.span_of(node)
        return sum(len(line) + 1 for line in self._lines[: span.line - 1]) + span.column - 1

    def is_bracketed(self, node: ast.AST) -> bool:
        """Whether the node stands in brackets of its own, those of a call aside."""
        return self.bracket_behind(node) is not None

    def around(self, node: ast.AST | None) -> tuple[str, str]:
        """What stands before a node on its first line, and behind it on its last."""
        span = self.span_of(node)
        return self._lines[span.line - 1][: span.column - 1], self._lines[span.end_line - 1][span.end_column - 1 :]

    def bracket_behind(self, node: ast.AST) -> Span | None:
        """The bracket that closes behind a node that stands in brackets of its own, those of a call aside; None for none."""
        span = self.span_of(node)
        before = self._lines[span.line - 1][: span.column - 1].rstrip()
        rest = self._lines[span.end_line - 1][span.end_column - 1 :]
        after = rest.lstrip()
        if not (before.endswith("(") and after.startswith(")")):
            return None
        outer = before[:-1].rstrip()
        word = outer.split(" ")[-1].split("(")[-1]
        if outer and not iskeyword(word) and (outer[-1].isalnum() or outer[-1] in "_])\"'"):
            return None
        column = span.end_column + len(rest) - len(after)
        return Span(span.end_line, column, span.end_line, column + 1)


def shortened(text: str, longest: int) -> str:
    """A text that fits into a message."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def on_one_line(text: str) -> str | None:
    """An expression without line breaks and comments, for a copy of it elsewhere."""
    if "\n" not in text and "#" not in text:
        return text
    try:
        return ast.unparse(ast.parse(f"({text}\n)", mode="eval"))
    except SyntaxError:
        return None
