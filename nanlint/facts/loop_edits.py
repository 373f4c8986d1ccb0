"""Edits on whole statements: a line above or below, a condition around, a statement taken out or moved out of its `with`.

Only a statement that has its lines for itself is edited, and none where a comment would be lost: then the answer is None.
New lines are indented and ended as the one beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.context import statement_of
from nanlint.model import Edit, Span
from nanlint.source.lines import line_end

if TYPE_CHECKING:
    from nanlint.facts.flow import Flow

Edits = tuple[Edit, ...]


def line_before(node: cst.CSTNode, flow: Flow, *lines: str) -> Edit | None:
    """Write statements on lines of their own above the one that `node` is in."""
    span = _alone(node, flow)
    if span is None:
        return None
    indent, end = _indent(span, flow), _end(span.line, flow)
    return Edit(_at(span.line, span.column), "".join(f"{line}{end}{indent}" for line in lines))


def line_after(node: cst.CSTNode, flow: Flow, *lines: str) -> Edit | None:
    """Write statements on lines of their own below the one that `node` is in."""
    span = _alone(node, flow)
    if span is None:
        return None
    indent, last, end = _indent(span, flow), flow.reach.line(span.end_line), _end(span.end_line, flow)
    if line_end(last):
        return Edit(_at(span.end_line + 1, 1), "".join(f"{indent}{line}{end}" for line in lines))
    return Edit(_at(span.end_line, len(last) + 1), "".join(f"{end}{indent}{line}" for line in lines))


def under_condition(node: cst.CSTNode, flow: Flow, condition: str) -> Edits | None:
    """Put the statement that `node` is in under `if condition:`."""
    span = _alone(node, flow)
    if span is None or _has_long_string(node, flow):
        return None
    deeper = unit_of(node, flow)
    further = (Edit(_at(number, 1), deeper) for number in range(span.line + 1, span.end_line + 1))
    end, indent = _end(span.line, flow), _indent(span, flow)
    head = Edit(_at(span.line, span.column), f"if {condition}:{end}{indent}{deeper}")
    return head, *(edit for edit in further if flow.reach.line(edit.span.line).strip())


def taken_out(node: cst.CSTNode, flow: Flow) -> Edit | None:
    """Delete the statement that `node` is in; a comment behind it stays on the line."""
    span = _alone(node, flow)
    block = _block_of(node, flow)
    # A block must not be left empty.
    if span is None or len(block) < 2 or span.line != span.end_line:
        return None
    rest = flow.reach.line(span.line)[span.end_column - 1 :]
    if rest.strip():
        spaces = len(rest) - len(rest.lstrip())
        return Edit(Span(span.line, span.column, span.line, span.end_column + spaces), "")
    return Edit(Span(span.line, 1, span.line + 1, 1), "") if rest else None


def moved_out(node: cst.CSTNode, flow: Flow) -> Edits | None:
    """Move the statement that `node` is in, and all that follow it in its `with`, behind that `with`."""
    span, inside = _alone(node, flow), _with_around(node, flow)
    if span is None or inside is None or statement_of(node, flow.parsed.parents) is inside.body.body[0]:
        return None
    # Of two managers only one may be the one to leave.
    if len(inside.items) != 1 or not isinstance(inside.body.body[-1], cst.SimpleStatementLine):
        return None
    last = _alone(inside.body.body[-1].body[0], flow)
    behind = inside.body.body[list(inside.body.body).index(statement_of(node, flow.parsed.parents)) :]
    if last is None or any(not isinstance(each, cst.SimpleStatementLine) for each in behind):
        return None
    if any(_has_long_string(each, flow) for each in behind):
        return None
    deep = _indent(span, flow)
    shallow = _indent(flow.parsed.span_of(inside), flow)
    first = span.line
    while flow.reach.line(first - 1).strip().startswith("#"):
        first -= 1
    numbers = [each for each in range(first, last.end_line + 1) if flow.reach.line(each).strip()]
    if not all(flow.reach.line(number).startswith(deep) for number in numbers):
        return None
    return tuple(Edit(Span(number, 1, number, len(deep) + 1), shallow) for number in numbers)


def siblings_between(first: cst.CSTNode, second: cst.CSTNode, flow: Flow) -> list[cst.CSTNode] | None:
    """The statements of one block from that of `first` up to that of `second`, without the latter; None if they share no block."""
    parents = flow.parsed.parents
    start, end = statement_of(first, parents), statement_of(second, parents)
    block = _block_of(first, flow)
    if start not in block or end not in block or block.index(start) >= block.index(end):
        return None
    return block[block.index(start) : block.index(end)]


def unit_of(node: cst.CSTNode, flow: Flow) -> str:
    """What the lines of a block inside the one that `node` is in begin with, beyond that one's own."""
    block = flow.parsed.parents.get(statement_of(node, flow.parsed.parents))
    own = block.indent if isinstance(block, cst.IndentedBlock) else None
    return own or flow.parsed.module.default_indent


def _alone(node: cst.CSTNode, flow: Flow) -> Span | None:
    """Where the statement around `node` stands, if it has its lines for itself."""
    statement = statement_of(node, flow.parsed.parents)
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    span = flow.parsed.span_of(statement.body[0])
    if _indent(span, flow).strip():
        return None
    rest = flow.reach.line(span.end_line)[span.end_column - 1 :].strip()
    return span if not rest or rest.startswith("#") else None


def _indent(span: Span, flow: Flow) -> str:
    return flow.reach.line(span.line)[: span.column - 1]


def _end(number: int, flow: Flow) -> str:
    """How lines end here: as this one, or the one before it."""
    before = flow.reach.line(number - 1) if number > 1 else ""
    return line_end(flow.reach.line(number)) or line_end(before) or "\n"


def _at(line: int, column: int) -> Span:
    return Span(line, column, line, column)


def _block_of(node: cst.CSTNode, flow: Flow) -> list[cst.CSTNode]:
    """The statements among which the one around `node` stands."""
    around = flow.parsed.parents.get(statement_of(node, flow.parsed.parents))
    return list(around.body) if isinstance(around, (cst.IndentedBlock, cst.Module)) else []


def _with_around(node: cst.CSTNode, flow: Flow) -> cst.With | None:
    """The `with` in whose body, and no deeper, the statement around `node` stands."""
    parents = flow.parsed.parents
    block = parents.get(statement_of(node, parents))
    around = parents.get(block) if isinstance(block, cst.IndentedBlock) else None
    return around if isinstance(around, cst.With) else None


def _has_long_string(node: cst.CSTNode, flow: Flow) -> bool:
    """Whether a string of several lines is in the statement: its lines begin as they are meant to."""
    text = flow.parsed.source_of(statement_of(node, flow.parsed.parents))
    return '"""' in text or "'''" in text or "\\\n" in text or "\\\r" in text
