"""Reviewdog Diagnostic Format: one DiagnosticResult.

Reviewdog counts columns in bytes of UTF-8 and applies every suggestion by itself. Hence a fix becomes a suggestion
only where it is one change; and in a notebook, whose cells have no lines in the raw file, there is neither range nor
suggestion and the message says cell and line.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nanlint.model import Applicability, Severity, Span
from nanlint.report.hunks import hunks
from nanlint.report.wording import message_with_cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.model import FileError, Finding, Fix, Report

Json = dict[str, Any]

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def chunks(report: Report) -> Iterator[str]:
    """Findings, then errors."""
    diagnostics = [_diagnostic(finding, report) for finding in report.findings]
    diagnostics += [_unchecked(error) for error in report.errors]
    result = {"source": {"name": "nanlint"}, "diagnostics": diagnostics}
    yield json.dumps(result, ensure_ascii=False, indent=2) + "\n"


def _diagnostic(finding: Finding, report: Report) -> Json:
    info = report.rules.get(finding.code)
    code = {"value": finding.code} | ({"url": info.url} if info and info.url else {})
    diagnostic: Json = {
        "message": message_with_cell(finding),
        "location": {"path": finding.path},
        "severity": _SEVERITIES[finding.severity],
        "code": code,
    }
    if finding.cell is not None:
        return diagnostic
    lines = report.source_lines(finding.path, None)
    diagnostic["location"]["range"] = _range(finding.span, lines)
    if suggestion := _suggestion(finding.fix, lines):
        diagnostic["suggestions"] = [suggestion]
    return diagnostic


def _unchecked(error: FileError) -> Json:
    place: Json = {"path": error.path}
    if error.line is not None:
        place["range"] = {"start": {"line": error.line}}
    return {"message": error.message, "location": place, "severity": "ERROR"}


def _suggestion(fix: Fix | None, lines: Sequence[str]) -> Json | None:
    """The fix as one replacement, if it is one: a single edit, or several edits in one run of lines."""
    if fix is None or fix.applicability is Applicability.SHOW:
        return None
    if len(fix.edits) == 1:
        return {"range": _range(fix.edits[0].span, lines), "text": fix.edits[0].text}
    changes = hunks(fix, lines)
    if len(changes) != 1 or not changes[0].old or not changes[0].new:
        return None
    (change,) = changes
    last = change.line + len(change.old) - 1
    whole_lines = Span(change.line, 1, last, len(change.old[-1]) + 1)
    return {"range": _range(whole_lines, lines), "text": "\n".join(change.new)}


def _range(span: Span, lines: Sequence[str]) -> Json:
    return {
        "start": {"line": span.line, "column": _byte_column(span.line, span.column, lines)},
        "end": {"line": span.end_line, "column": _byte_column(span.end_line, span.end_column, lines)},
    }


def _byte_column(line: int, column: int, lines: Sequence[str]) -> int:
    """`column` counted in bytes; in characters, which is the same for ASCII, when the line can't be read."""
    if line > len(lines):
        return column
    before = lines[line - 1][: column - 1]
    return column + len(before.encode("utf-8", "surrogatepass")) - len(before)
