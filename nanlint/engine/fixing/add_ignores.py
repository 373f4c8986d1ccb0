"""Writing suppressions for findings that are there today, to adopt nanlint in an old repository.

The comment goes to the end of the statement's last line, which Python always allows: behind a closing bracket, a
triple-quoted string or the last of several lines joined by backslashes. No line is added, so every position stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanlint.engine.fixing.apply_fixes import apply_edits
from nanlint.engine.suppressing.suppress import apply
from nanlint.model import Applicability, Edit, Fix, Span
from nanlint.source.comments.layout import Layout, read_layout
from nanlint.source.comments.markers import Kind
from nanlint.source.comments.suppressions import suppressions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.model import Finding
    from nanlint.source.comments.suppressions import Suppression


@dataclass(slots=True)
class _Place:
    """Where codes are to be written: into the list of a suppression, or at the end of a line."""

    line: int
    existing: Suppression | None
    codes: set[str] = field(default_factory=set)


def add_ignores(text: str, findings: Sequence[Finding], *, reason: str = "") -> str:
    """`text` with a suppression for every finding that has none yet; text that is no Python stays as it is."""
    known = {finding.code: finding.name for finding in findings}
    loud = apply(findings, text, active=(), known=known).kept
    layout = read_layout(text)
    if not loud or not layout.python:
        return text
    found = suppressions(text)
    places: dict[tuple[int, int], _Place] = {}
    for finding in loud:
        place = _place(finding, layout, found.items if found else ())
        key = (place.line, place.existing.marker.column if place.existing else 0)
        places.setdefault(key, place).codes.add(finding.code)
    edits = tuple(_edit(place, layout, reason) for place in places.values())
    return apply_edits(text, [Fix("Ignore what is found today", Applicability.SAFE, edits)])[0]


def _place(finding: Finding, layout: Layout, items: Sequence[Suppression]) -> _Place:
    """A list that covers the whole statement takes one code more; otherwise a new marker ends the statement."""
    start = finding.span.line
    first, last = layout.stretch_at(start) or (start, start)
    for item in items:
        listed = item.marker.kind is Kind.IGNORE and item.marker.listed
        if listed and ((item.first <= first and last <= item.last) or item.comment.line == start == last):
            return _Place(item.comment.line, item)
    return _Place(last, None)


def _edit(place: _Place, layout: Layout, reason: str) -> Edit:
    line = layout.lines[place.line - 1]
    if place.existing is None:
        kept = line.rstrip()
        words = " ".join(reason.split())
        marker = f"# nanlint: ignore[{','.join(sorted(place.codes))}]" + (f" {words}" if words else "")
        span = Span(place.line, len(kept) + 1, place.line, len(line) + 1)
        return Edit(span, f"  {marker}" if kept else marker)
    listed = place.existing.marker.listed
    span = Span(place.line, listed[0].column, place.line, listed[-1].end_column)
    separator = ", " if ", " in line[span.column - 1 : span.end_column - 1] else ","
    return Edit(span, separator.join(sorted({*place.codes, *(selector.text for selector in listed)})))
