"""GitLab Code Quality: an array of issues for the merge request widget.

A file that could not be checked is a blocker: a report that left it out would show it as clean. A cell's lines are no
lines of the raw notebook, so a notebook's finding is placed on line 1 and its description says cell and line.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nanlint.model import Severity, Span
from nanlint.report.for_programs.fingerprint import digest, fingerprints
from nanlint.report.wording import message_with_cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import FileError, Finding, Report

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "minor"}
_TOP_OF_FILE = Span(1, 1, 1, 1)


def chunks(report: Report) -> Iterator[str]:
    """Findings, then errors."""
    issues = [_issue(*pair) for pair in zip(report.findings, fingerprints(report), strict=True)]
    issues += [_unchecked(error) for error in report.errors]
    yield json.dumps(issues, ensure_ascii=False, indent=2) + "\n"


def _issue(finding: Finding, fingerprint: str) -> dict[str, Any]:
    return {
        "description": message_with_cell(finding),
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": _location(finding.path, finding.span if finding.cell is None else _TOP_OF_FILE),
    }


def _unchecked(error: FileError) -> dict[str, Any]:
    line = error.line or 1
    return {
        "description": error.message,
        "check_name": "unchecked-file",
        "fingerprint": digest("unchecked", error.path, str(error.line), error.message),
        "severity": "blocker",
        "location": _location(error.path, Span(line, 1, line, 1)),
    }


def _location(path: str, span: Span) -> dict[str, Any]:
    return {
        "path": path,
        "lines": {"begin": span.line, "end": span.end_line},
        "positions": {
            "begin": {"line": span.line, "column": span.column},
            "end": {"line": span.end_line, "column": span.end_column},
        },
    }
