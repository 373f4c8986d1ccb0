"""One line per finding, for grep and for editors: `path:line:column: CODE [*] message [name] (verdict)`.

`[*]` marks a finding with a SAFE fix; the verdict is there if the code was run. Never coloured, and imports neither json nor rich.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.model import Applicability
from nanlint.report.closing import closing_line
from nanlint.report.wording import error_place, one_line, place, verdict_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import Finding, Report


def chunks(report: Report, *, closing: bool = True) -> Iterator[str]:
    """Findings in reading order, then errors, then the closing line."""
    for finding in report.findings:
        yield f"{_line(finding)}\n"
        if report.explains_levels:
            from nanlint.report.evidence import level_reasons  # noqa: PLC0415 - few ask

            yield from (f"    {line}\n" for line in level_reasons(finding))
    for error in report.errors:
        yield f"{error_place(error)}: error: {one_line(error.message)}\n"
    if closing:
        yield f"{closing_line(report)}\n"


def _line(finding: Finding) -> str:
    safe = finding.fix is not None and finding.fix.applicability is Applicability.SAFE
    marker = "[*] " if safe else ""
    verdict = f" ({': '.join(filter(None, (verdict_words(finding), _reason(finding))))})" if finding.verdict else ""
    return f"{place(finding)}: {finding.code} {marker}{one_line(finding.message)} [{finding.name}]{verdict}"


def _reason(finding: Finding) -> str:
    """What was seen when it was run, or why it could not be run; cut where it is long, the full report has it all."""
    reason = one_line((finding.verdict and finding.verdict.reason) or "")
    return reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]}…"


_LONGEST = 160
"""Characters of a reason."""
