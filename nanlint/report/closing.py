"""The closing line of the reports that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.model import Applicability, Severity
from nanlint.report.wording import counted

if TYPE_CHECKING:
    from nanlint.model import Report, Summary


def closing_line(report: Report) -> str:
    """What was found, mended, kept quiet and left unchecked: a few sentences on one line."""
    sentences = (_found(report), _run(report), *_handled(report.summary), _unchecked(report), _hidden(report))
    return " ".join(sentence for sentence in sentences if sentence)


def unchecked_files(report: Report) -> int:
    """How many files have an error; one rule that crashed is enough."""
    return len({error.path for error in report.errors})


def _found(report: Report) -> str:
    if report.findings:
        return f"Found {_problems(report)} in {_share_of_files(report)}{_fixable(report)}."
    files = report.summary.files
    if report.hidden:
        kinds = "errors" if "warning" in report.hidden_counts else "errors or warnings"
        return f"No {kinds} in {counted(files, 'file')}."
    if report.summary.unconfirmed:
        return f"Nothing confirmed in {counted(files, 'file')}."
    if report.errors:
        return f"Found nothing in {counted(files, 'file')}." if files else ""
    return f"All clear: {counted(files, 'file')} checked." if files else "No files were checked."


def _run(report: Report) -> str:
    """How often each verdict was given, and what to do next; empty if nothing was run."""
    kinds = [finding.verdict.kind.value for finding in report.findings if finding.verdict]
    counts = [f"{kinds.count(kind)} {kind}" for kind in _VERDICTS if kind in kinds]
    steps = [step for kind, step in _NEXT.items() if kind in kinds]
    return " ".join([f"Run: {', '.join(counts)}.", *steps]) if counts else ""


_NEXT = {
    "confirmed": "Add --save DIR to keep a test that fails until it is mended.",
    "not-runnable": "What is not-runnable says which inputs to supply.",
}
_VERDICTS = ("confirmed", "reachable", "flaky", "not-reproduced", "not-runnable")


def _problems(report: Report) -> str:
    counts = {severity: sum(finding.severity is severity for finding in report.findings) for severity in Severity}
    words = {Severity.ERROR: "error", Severity.WARNING: "warning"}
    parts = [counted(counts[severity], word) for severity, word in words.items() if counts[severity]]
    if counts[Severity.INFO]:
        parts.append(f"{counts[Severity.INFO]} info")
    return f"{counted(len(report.findings), 'problem')} ({', '.join(parts)})"


def _share_of_files(report: Report) -> str:
    hit = len({finding.path for finding in report.findings})
    return f"{hit} of {counted(max(hit, report.summary.files), 'file')}"


def _fixable(report: Report) -> str:
    offered = [finding.fix.applicability for finding in report.findings if finding.fix]
    safe, unsafe = offered.count(Applicability.SAFE), offered.count(Applicability.UNSAFE)
    parts = []
    if safe:
        parts.append(f"{safe} fixable with --fix")
    if unsafe:
        parts.append(f"{unsafe} more with --unsafe-fixes" if safe else f"{unsafe} fixable with --unsafe-fixes")
    return f"; {', '.join(parts)}" if parts else ""


def _handled(summary: Summary) -> tuple[str, str]:
    fixed = f"Fixed {counted(summary.fixed, 'problem')}." if summary.fixed else ""
    quiet = [
        f"{count} {how}"
        for count, how in (
            (summary.suppressed, "suppressed"),
            (summary.known, "in the baseline"),
            (summary.unconfirmed, "not confirmed"),
        )
        if count
    ]
    return fixed, f"Kept quiet: {', '.join(quiet)}." if quiet else ""


def _hidden(report: Report) -> str:
    """How many findings are not shown, and how to see them."""
    counts = [f"{count} more at {level}" for level, count in report.hidden_counts.items()]
    return f"{' and '.join(counts)}: {report.command} --severity info" if counts else ""


def _unchecked(report: Report) -> str:
    count = unchecked_files(report)
    return f"{counted(count, 'file')} could not be fully checked." if count else ""
