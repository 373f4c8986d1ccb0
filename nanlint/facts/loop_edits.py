"""A line below a statement that has its lines for itself.

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


def line_after(node: cst.CSTNode, flow: Flow, *lines: str) -> Edit | None:
    """Write statements on lines of their own below the one that `node` is in."""
    span = _alone(node, flow)
    if span is None:
        return None
    indent, last, end = _indent(span, flow), flow.reach.line(span.end_line), _end(span.end_line, flow)
    if line_end(last):
        return Edit(_at(span.end_line + 1, 1), "".join(f"{indent}{line}{end}" for line in lines))
    return Edit(_at(span.end_line, len(last) + 1), "".join(f"{end}{indent}{line}" for line in lines))


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
