"""SARIF 2.1.0, for code scanning services and editors.

Paths are relative to %SRCROOT%, the folder nanlint ran in, whose address is left out so that the same findings give
the same bytes on every machine. In a notebook the region counts within the cell and the message names it; fixes are
left out there, because a region of the cell would be applied to the raw file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from nanlint import __version__
from nanlint.model import Applicability, Severity
from nanlint.report.for_programs.fingerprint import fingerprints

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanlint.model import FileError, Finding, Fix, Label, Report, RuleInfo, Span

Json = dict[str, Any]

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
SOURCE_ROOT = "%SRCROOT%"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def chunks(report: Report) -> Iterator[str]:
    """One log with one run."""
    log = {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [_run(report)]}
    yield json.dumps(log, ensure_ascii=False, indent=2) + "\n"


def _run(report: Report) -> Json:
    descriptors = _descriptors(report)
    index = {descriptor["id"]: position for position, descriptor in enumerate(descriptors)}
    results = []
    for finding, fingerprint in zip(report.findings, fingerprints(report), strict=True):
        results.append(_result(finding, index[finding.code], fingerprint))
    return {
        "tool": {"driver": {"name": "nanlint", "version": __version__, "rules": descriptors}},
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {SOURCE_ROOT: {"description": {"text": "The folder nanlint ran in."}}},
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"hidden": report.hidden_counts},
    }


def _descriptors(report: Report) -> list[Json]:
    """Every rule of the report by code, and those that fired although nothing is known about them."""
    names = {finding.code: finding.name for finding in report.findings}
    return [_descriptor(code, names, report.rules.get(code)) for code in sorted({*names, *report.rules})]


def _descriptor(code: str, names: Mapping[str, str], info: RuleInfo | None) -> Json:
    if info is None:
        return {"id": code, "name": names[code]}
    descriptor = {
        "id": code,
        "name": info.name,
        "shortDescription": {"text": info.summary},
        "fullDescription": {"text": info.why or info.summary},
        "help": {"text": info.docs, "markdown": info.docs},
        "defaultConfiguration": {"level": _LEVELS[info.severity]},
    }
    return descriptor | {"helpUri": info.url} if info.url else descriptor


def _invocation(report: Report) -> Json:
    """A run that left a file unchecked has not succeeded, whatever it found in the others."""
    return {
        "executionSuccessful": not report.errors,
        "toolExecutionNotifications": [_notification(error) for error in report.errors],
    }


def _notification(error: FileError) -> Json:
    place: Json = {"artifactLocation": _artifact(error.path)}
    if error.line is not None:
        place["region"] = {"startLine": error.line}
    return {"level": "error", "message": {"text": error.message}, "locations": [{"physicalLocation": place}]}


def _result(finding: Finding, rule_index: int, fingerprint: str) -> Json:
    prefix = "" if finding.cell is None else f"cell {finding.cell}: "
    result = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": {"text": prefix + finding.message},
        "locations": [_location(finding)],
        "partialFingerprints": {"nanlintContent/v1": fingerprint},
    }
    if finding.labels:
        result["relatedLocations"] = [_related(label, finding.path) for label in finding.labels]
    if finding.verdict is not None:
        result["properties"] = {"verdict": finding.verdict.to_json()}
    fix = finding.fix
    if fix is None or finding.cell is not None or fix.applicability is Applicability.SHOW or not fix.edits:
        return result
    return result | {"fixes": [_fix(fix, finding.path)]}


def _location(finding: Finding) -> Json:
    location: Json = {
        "physicalLocation": {"artifactLocation": _artifact(finding.path), "region": _region(finding.span)}
    }
    if finding.function:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.function, "kind": "function"}]
    return location


def _related(label: Label, path: str) -> Json:
    place = {"artifactLocation": _artifact(path), "region": _region(label.span)}
    return {"physicalLocation": place, "message": {"text": label.text}}


def _fix(fix: Fix, path: str) -> Json:
    replacements = [{"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in fix.edits]
    return {
        "description": {"text": f"{fix.title} ({fix.applicability.value} fix)"},
        "artifactChanges": [{"artifactLocation": _artifact(path), "replacements": replacements}],
    }


def _region(span: Span) -> Json:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _artifact(path: str) -> Json:
    whole = Path(path)
    if whole.is_absolute():
        return {"uri": whole.as_uri()}
    return {"uri": quote(whole.as_posix(), errors="surrogateescape"), "uriBaseId": SOURCE_ROOT}
