"""Workflow commands of GitHub Actions: each finding becomes an annotation in the diff.

A cell's lines are no lines of the raw notebook, so a notebook's annotation names the file alone and the message says
cell and line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.model import Severity
from nanlint.report.wording import message_with_cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import FileError, Finding, Report

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}

Properties = dict[str, str | int]


def chunks(report: Report) -> Iterator[str]:
    """One command per finding, then one per error."""
    for finding in report.findings:
        properties = {"file": finding.path, **_region(finding), "title": f"{finding.code} {finding.name}"}
        yield _command(_COMMANDS[finding.severity], properties, message_with_cell(finding))
    for error in report.errors:
        yield _command("error", _properties_of_error(error), error.message)


def _region(finding: Finding) -> Properties:
    """Lines, and columns within one line: GitHub ignores columns once the lines differ."""
    if finding.cell is not None:
        return {}
    span = finding.span
    lines: Properties = {"line": span.line, "endLine": span.end_line}
    return lines if span.line != span.end_line else lines | {"col": span.column, "endColumn": span.end_column}


def _properties_of_error(error: FileError) -> Properties:
    line: Properties = {} if error.line is None else {"line": error.line}
    return {"file": error.path, **line, "title": "nanlint could not check this file"}


def _command(name: str, properties: Properties, message: str) -> str:
    listed = ",".join(f"{key}={_escape_property(str(value))}" for key, value in properties.items())
    return f"::{name} {listed}::{_escape(message)}\n"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
