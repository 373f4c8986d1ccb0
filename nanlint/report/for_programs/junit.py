"""JUnit XML: a finding is a failed test case, a file that could not be checked one with an error.

A clean run is one passed test case, because several readers take an empty suite for a broken one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from nanlint.report.wording import error_place, place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import FileError, Finding, Report

# XML 1.0 has no form at all for these, not even an escape.
_FORBIDDEN = [*(code for code in range(0x20) if chr(code) not in "\t\n\r"), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF]
_ESCAPES = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _FORBIDDEN}


def chunks(report: Report) -> Iterator[str]:
    """One suite named nanlint."""
    suite = _element(
        "testsuite",
        name="nanlint",
        tests=str(max(1, len(report.findings) + len(report.errors))),
        failures=str(len(report.findings)),
        errors=str(len(report.errors)),
    )
    if report.hidden:
        suite.append(_hidden(report))
    suite.extend(_finding_case(finding) for finding in report.findings)
    suite.extend(_error_case(error) for error in report.errors)
    if not (report.findings or report.errors):
        suite.append(_element("testcase", name="nanlint", classname="nanlint"))
    root = _element("testsuites", name="nanlint")
    root.append(suite)
    ET.indent(root)
    yield '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _hidden(report: Report) -> ET.Element:
    """How many findings are not shown, by level."""
    properties = _element("properties")
    properties.extend(
        _element("property", name=f"hidden.{level}", value=str(count)) for level, count in report.hidden_counts.items()
    )
    return properties


def _finding_case(finding: Finding) -> ET.Element:
    span = finding.span
    where = f"{span.line}:{span.column}" if finding.cell is None else f"cell {finding.cell}:{span.line}:{span.column}"
    case = _element("testcase", name=f"{finding.code} {finding.name} at {where}", classname=finding.path)
    case.set("file", _allowed(finding.path))
    if finding.cell is None:
        case.set("line", str(span.line))
    failure = _element("failure", message=finding.message, type=finding.severity.value)
    failure.text = _allowed(f"{place(finding)}: {finding.code} {finding.message}")
    case.append(failure)
    return case


def _error_case(error: FileError) -> ET.Element:
    case = _element("testcase", name="could not be checked", classname=error.path, file=error.path)
    if error.line is not None:
        case.set("line", str(error.line))
    trouble = _element("error", message=error.message, type="error")
    trouble.text = _allowed(f"{error_place(error)}: {error.message}")
    case.append(trouble)
    return case


def _element(tag: str, **attributes: str) -> ET.Element:
    return ET.Element(tag, {name: _allowed(value) for name, value in attributes.items()})


def _allowed(text: str) -> str:
    r"""`text` with what XML cannot hold as `\x1b`; markup is ElementTree's business."""
    return text.translate(_ESCAPES)
