"""What the linter says about the line where it happened: the finding, and its fix as a diff."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.errors import NanlintError
from nanlint.trace.places import Place, shown_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import Finding
    from nanlint.trace.diagnosis import Diagnosis


def add_finding(diagnosis: Diagnosis) -> None:
    """Complete `diagnosis` by the static finding at its line, or else at a line on the way to the loss."""
    seen: dict[str, tuple[str, list[Finding]]] = {}
    for place in _places(diagnosis):
        if place.path not in seen:
            seen[place.path] = _findings(place.path)
        text, findings = seen[place.path]
        here = [finding for finding in findings if finding.span.line <= place.line <= finding.span.end_line]
        if here:
            _enter(diagnosis, max(here, key=_weight), text, place.path)
            return


def _places(diagnosis: Diagnosis) -> Iterator[Place]:
    """The line of the operation, the lines on the way, and the lines that called it."""
    yield from diagnosis.places[:1]
    yield from (link.place for link in diagnosis.chain if link.place is not None)
    yield from diagnosis.places[1:]


def _findings(path: str) -> tuple[str, list[Finding]]:
    """The text of the file and all that the rules find in it; nothing if it cannot be checked."""
    from nanlint.api import check_source  # noqa: PLC0415 - the linter is wanted at a failure only
    from nanlint.settings import Settings  # noqa: PLC0415 - same
    from nanlint.source.read import UnreadableSource, read_source  # noqa: PLC0415 - same

    try:
        text = read_source(path).text
        return text, check_source(text, path, settings=Settings(preview=True, severity="info"))
    except (UnreadableSource, NanlintError, SyntaxError):
        return "", []


def _weight(finding: Finding) -> tuple[bool, int, bool]:
    """Findings about values come before those about the loop around them; then the graver; then those with a fix."""
    return not finding.code.startswith("NAN4"), finding.severity.rank, finding.fix is not None


def _enter(diagnosis: Diagnosis, finding: Finding, text: str, path: str) -> None:
    diagnosis.code, diagnosis.message = f"{finding.code} {finding.name}", finding.message
    diagnosis.finding_line = finding.span.line
    if finding.fix is not None:
        from nanlint.engine.diff import unified_diff  # noqa: PLC0415 - as above
        from nanlint.engine.edits import apply_edits  # noqa: PLC0415 - as above

        fixed, _, _ = apply_edits(text, [finding.fix])
        diagnosis.diff = unified_diff(shown_path(path), text, fixed)
