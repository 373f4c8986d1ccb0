"""What stands in the code of a loop, and edits on its whole statement: a line above or below, a condition around, taken out or moved out of its `with`.

Only a statement that has its lines for itself is edited, and none where a comment would be lost: then the answer is None.
New lines are indented and ended as the one beside them.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanlint.analysis.source_text import on_one_line, shortened
from nanlint.model import Edit, Span

if TYPE_CHECKING:
    from nanlint.analysis.training_loop.code import Code

_BLOCKS = ("body", "orelse", "finalbody")
_INDENT = "    "


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """Something that stands in the code of a loop, or of a function that the loop calls."""

    node: ast.AST
    code: Code
    called_from: Span | None = field(default=None, kw_only=True)
    """Where the loop's own file calls the function of another file that it is written in; None if it is not."""

    @property
    def span(self) -> Span:
        """Where it stands in the file at hand, or where that calls it."""
        return self.called_from or self.code.source.span_of(self.node)

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is written in another file."""
        return self.called_from is not None

    @property
    def text(self) -> str:
        """How it is written, on one line."""
        source = self.code.source.text_of(self.node)
        return " ".join((on_one_line(source) or source).split())

    def quote(self, longest: int = 40) -> str:
        """The text, short enough for a message."""
        return shortened(self.text, longest)

    # -- its statement --------------------------------------------------------------------------------------------

    @property
    def statement(self) -> ast.stmt | None:
        """The statement that it is written in; of a compound one, its header."""
        return next((each for each in (self.node, *self.code.around(self.node)) if isinstance(each, ast.stmt)), None)

    @property
    def block(self) -> list[ast.stmt]:
        """The statements among which its own stands."""
        statement = self.statement
        around = self.code.parents.get(statement) if statement is not None else None
        blocks = (getattr(around, name, ()) for name in _BLOCKS)
        return next((list(block) for block in blocks if isinstance(block, list) and statement in block), [])

    @property
    def unit(self) -> str:
        """What the lines of a block inside its own begin with, beyond that one's own."""
        statement = self.statement
        around = next((each for each in self.code.around(statement or self.node) if hasattr(each, "col_offset")), None)
        if statement is None or around is None:
            return _INDENT
        own, outer = (self._indent(self.code.source.span_of(each)) for each in (statement, around))
        return own.removeprefix(outer) or _INDENT

    def up_to(self, other: ast.AST) -> list[ast.stmt] | None:
        """The statements of its block from its own up to that of `other`, without the latter; None if they share no block."""
        start, end, block = self.statement, Written(other, self.code).statement, self.block
        if start not in block or end not in block or block.index(start) >= block.index(end):
            return None
        return block[block.index(start) : block.index(end)]

    @property
    def alone(self) -> Span | None:
        """Where its statement stands, if that has its lines for itself, in the file at hand."""
        statement = self.statement
        if statement is None or _is_compound(statement) or self.is_elsewhere:
            return None
        span = self.code.source.span_of(statement)
        rest = self.code.source.line(span.end_line)[span.end_column - 1 :].strip()
        return span if not self._indent(span).strip() and (not rest or rest.startswith("#")) else None

    @property
    def has_long_string(self) -> bool:
        """Whether a string of several lines is in its statement: its lines begin as they are meant to."""
        statement = self.statement
        text = self.code.source.text_of(statement) if statement is not None else ""
        return '"""' in text or "'''" in text or "\\\n" in text

    def _indent(self, span: Span) -> str:
        return self.code.source.line(span.line)[: span.column - 1]

    def _end(self, number: int) -> str:
        """How lines end here: as this one, or the one before it."""
        return self.code.source.end_of_line(number) or self.code.source.end_of_line(number - 1) or "\n"

    # -- edits ----------------------------------------------------------------------------------------------------

    def line_before(self, *lines: str) -> Edit | None:
        """Write statements on lines of their own above this one; None where this one shares its line."""
        span = self.alone
        if span is None:
            return None
        behind = f"{self._end(span.line)}{self._indent(span)}"
        return Edit(_at(span.line, span.column), "".join(f"{line}{behind}" for line in lines))

    def line_after(self, *lines: str) -> Edit | None:
        """Write statements on lines of their own below this one; None where this one shares its line."""
        span = self.alone
        if span is None:
            return None
        indent, end = self._indent(span), self._end(span.end_line)
        if self.code.source.end_of_line(span.end_line):
            return Edit(_at(span.end_line + 1, 1), "".join(f"{indent}{line}{end}" for line in lines))
        last = self.code.source.line(span.end_line)
        return Edit(_at(span.end_line, len(last) + 1), "".join(f"{end}{indent}{line}" for line in lines))

    def under_condition(self, condition: str) -> tuple[Edit, ...] | None:
        """Put it under `if condition:`; None where it shares its line, or has a string of several lines in it."""
        span = self.alone
        if span is None or self.has_long_string:
            return None
        deeper = self.unit
        further = (Edit(_at(number, 1), deeper) for number in range(span.line + 1, span.end_line + 1))
        head = Edit(_at(span.line, span.column), f"if {condition}:{self._end(span.line)}{self._indent(span)}{deeper}")
        return head, *(edit for edit in further if self.code.source.line(edit.span.line).strip())

    def taken_out(self) -> Edit | None:
        """Delete it, but for a comment behind it; None where it shares its line or its block has nothing else."""
        span = self.alone
        # A block must not be left empty.
        if span is None or len(self.block) < 2 or span.line != span.end_line:
            return None
        rest = self.code.source.line(span.line)[span.end_column - 1 :]
        if rest.strip():
            spaces = len(rest) - len(rest.lstrip())
            return Edit(Span(span.line, span.column, span.line, span.end_column + spaces), "")
        return Edit(Span(span.line, 1, span.line + 1, 1), "") if self.code.source.end_of_line(span.line) else None

    def moved_out(self) -> tuple[Edit, ...] | None:
        """Move it, and what follows it there, out of the `with` around it; None where that is not just a matter of indentation."""
        span, statement, source = self.alone, self.statement, self.code.source
        inside = self.code.parents.get(statement) if statement is not None else None
        # Of two managers only one may be the one to leave.
        if span is None or statement is None or not isinstance(inside, ast.With) or len(inside.items) != 1:
            return None
        behind = [Written(each, self.code) for each in inside.body[inside.body.index(statement) :]]
        last = behind[-1].alone
        if len(behind) == len(inside.body) or last is None:
            return None
        if any(_is_compound(each.node) or each.has_long_string for each in behind):
            return None
        deep, shallow = self._indent(span), self._indent(source.span_of(inside))
        first = span.line
        while source.line(first - 1).strip().startswith("#"):
            first -= 1
        numbers = [each for each in range(first, last.end_line + 1) if source.line(each).strip()]
        if not all(source.line(number).startswith(deep) for number in numbers):
            return None
        return tuple(Edit(Span(number, 1, number, len(deep) + 1), shallow) for number in numbers)

    def rewritten(self, text: str) -> Edit | None:
        """Write something else in its place."""
        return Edit(self.span, text) if not self.is_elsewhere else None


def _is_compound(statement: ast.AST) -> bool:
    return hasattr(statement, "body") or hasattr(statement, "cases")


def _at(line: int, column: int) -> Span:
    return Span(line, column, line, column)
