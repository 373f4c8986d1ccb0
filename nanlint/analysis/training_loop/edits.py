"""Edits on whole statements: a line above or below, a condition around, a statement taken out or moved out of its `with`.

Only a statement that has its lines for itself is edited, and none where a comment would be lost: then the answer is None.
New lines are indented and ended as the one beside them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.model import Edit, Span

if TYPE_CHECKING:
    from nanlint.analysis.training_loop.code import Code

Edits = tuple[Edit, ...]
_BLOCKS = ("body", "orelse", "finalbody")
_INDENT = "    "


def line_before(node: ast.AST, code: Code, *lines: str) -> Edit | None:
    """Write statements on lines of their own above the one that `node` is in."""
    span = _alone(node, code)
    if span is None:
        return None
    indent, end = _indent(span, code), _end(span.line, code)
    return Edit(_at(span.line, span.column), "".join(f"{line}{end}{indent}" for line in lines))


def line_after(node: ast.AST, code: Code, *lines: str) -> Edit | None:
    """Write statements on lines of their own below the one that `node` is in."""
    span = _alone(node, code)
    if span is None:
        return None
    indent, end = _indent(span, code), _end(span.end_line, code)
    if code.source.end_of_line(span.end_line):
        return Edit(_at(span.end_line + 1, 1), "".join(f"{indent}{line}{end}" for line in lines))
    last = code.source.line(span.end_line)
    return Edit(_at(span.end_line, len(last) + 1), "".join(f"{end}{indent}{line}" for line in lines))


def under_condition(node: ast.AST, code: Code, condition: str) -> Edits | None:
    """Put the statement that `node` is in under `if condition:`."""
    span = _alone(node, code)
    if span is None or _has_long_string(node, code):
        return None
    deeper = unit_of(node, code)
    further = (Edit(_at(number, 1), deeper) for number in range(span.line + 1, span.end_line + 1))
    end, indent = _end(span.line, code), _indent(span, code)
    head = Edit(_at(span.line, span.column), f"if {condition}:{end}{indent}{deeper}")
    return head, *(edit for edit in further if code.source.line(edit.span.line).strip())


def taken_out(node: ast.AST, code: Code) -> Edit | None:
    """Delete the statement that `node` is in; a comment behind it stays on the line."""
    span = _alone(node, code)
    # A block must not be left empty.
    if span is None or len(block_of(node, code)) < 2 or span.line != span.end_line:
        return None
    rest = code.source.line(span.line)[span.end_column - 1 :]
    if rest.strip():
        spaces = len(rest) - len(rest.lstrip())
        return Edit(Span(span.line, span.column, span.line, span.end_column + spaces), "")
    return Edit(Span(span.line, 1, span.line + 1, 1), "") if code.source.end_of_line(span.line) else None


def moved_out(node: ast.AST, code: Code) -> Edits | None:
    """Move the statement that `node` is in, and all that follow it in its `with`, behind that `with`."""
    span, statement = _alone(node, code), statement_of(node, code)
    inside = code.parents.get(statement) if statement is not None else None
    # Of two managers only one may be the one to leave.
    if span is None or statement is None or not isinstance(inside, ast.With) or len(inside.items) != 1:
        return None
    behind = inside.body[inside.body.index(statement) :]
    last = _alone(inside.body[-1], code)
    if len(behind) == len(inside.body) or last is None:
        return None
    if any(_is_compound(each) or _has_long_string(each, code) for each in behind):
        return None
    deep, shallow = _indent(span, code), _indent(code.source.span_of(inside), code)
    first = span.line
    while code.source.line(first - 1).strip().startswith("#"):
        first -= 1
    numbers = [each for each in range(first, last.end_line + 1) if code.source.line(each).strip()]
    if not all(code.source.line(number).startswith(deep) for number in numbers):
        return None
    return tuple(Edit(Span(number, 1, number, len(deep) + 1), shallow) for number in numbers)


def siblings_between(first: ast.AST, second: ast.AST, code: Code) -> list[ast.stmt] | None:
    """The statements of one block from that of `first` up to that of `second`, without the latter; None if they share no block."""
    start, end, block = statement_of(first, code), statement_of(second, code), block_of(first, code)
    if start not in block or end not in block or block.index(start) >= block.index(end):
        return None
    return block[block.index(start) : block.index(end)]


def statement_of(node: ast.AST, code: Code) -> ast.stmt | None:
    """The statement that `node` is written in; of a compound one, its header."""
    return next((each for each in (node, *code.around(node)) if isinstance(each, ast.stmt)), None)


def _is_compound(statement: ast.AST) -> bool:
    return hasattr(statement, "body") or hasattr(statement, "cases")


def block_of(node: ast.AST, code: Code) -> list[ast.stmt]:
    """The statements among which the one around `node` stands."""
    statement = statement_of(node, code)
    around = code.parents.get(statement) if statement is not None else None
    blocks = (getattr(around, field, ()) for field in _BLOCKS)
    return next((list(block) for block in blocks if isinstance(block, list) and statement in block), [])


def unit_of(node: ast.AST, code: Code) -> str:
    """What the lines of a block inside the one that `node` is in begin with, beyond that one's own."""
    statement = statement_of(node, code)
    around = next((each for each in code.around(statement or node) if hasattr(each, "col_offset")), None)
    if statement is None or around is None:
        return _INDENT
    own, outer = (_indent(code.source.span_of(each), code) for each in (statement, around))
    return own.removeprefix(outer) or _INDENT


def _alone(node: ast.AST, code: Code) -> Span | None:
    """Where the statement around `node` stands, if it has its lines for itself."""
    statement = statement_of(node, code)
    if statement is None or _is_compound(statement):
        return None
    span = code.source.span_of(statement)
    if _indent(span, code).strip():
        return None
    rest = code.source.line(span.end_line)[span.end_column - 1 :].strip()
    return span if not rest or rest.startswith("#") else None


def _indent(span: Span, code: Code) -> str:
    return code.source.line(span.line)[: span.column - 1]


def _end(number: int, code: Code) -> str:
    """How lines end here: as this one, or the one before it."""
    return code.source.end_of_line(number) or code.source.end_of_line(number - 1) or "\n"


def _at(line: int, column: int) -> Span:
    return Span(line, column, line, column)


def _has_long_string(node: ast.AST, code: Code) -> bool:
    """Whether a string of several lines is in the statement: its lines begin as they are meant to."""
    statement = statement_of(node, code)
    text = code.source.text_of(statement) if statement is not None else ""
    return '"""' in text or "'''" in text or "\\\n" in text
