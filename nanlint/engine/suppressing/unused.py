"""NAN001: what is said about suppressions that do nothing, and the fix that removes them.

Edits touch one comment only: the unused codes of its list, or the marker with its reason, or the whole comment.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanlint.analysis.source_text import shortened
from nanlint.engine.suppressing.suppress import UNUSED_NAME, UNUSED_SUPPRESSION
from nanlint.model import Applicability, Edit, Finding, Fix, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nanlint.source.comments.layout import Layout
    from nanlint.source.comments.markers import Selector
    from nanlint.source.comments.suppressions import Suppression

# A message is one line of at most 100 characters; longer markers are shown by their beginning.
_SHOWN = 60


def malformed(suppression: Suppression) -> Finding:
    """The finding for a marker that is written wrong."""
    return _finding(_span_of_marker(suppression), suppression.marker.problem)


def unknown(suppression: Suppression, selector: Selector, nearest: str) -> Finding:
    """The finding for a code or name that no rule has."""
    hint = f"did you mean {nearest}?" if nearest else "`nanlint rules` lists them"
    return _finding(_span_of([selector], suppression), f"there is no rule `{selector.text}`; {hint}")


def unused(suppression: Suppression, idle: Sequence[Selector], layout: Layout) -> Finding:
    """The finding for the `idle` part of a marker's list; for all of the marker if it has no other part."""
    marker = suppression.marker
    if len(idle) < len(marker.listed):
        codes = ", ".join(selector.text for selector in idle)
        fix = Fix(f"Remove the unused {codes}", Applicability.SAFE, (_without(suppression, idle, layout),))
        return _finding(_span_of(idle, suppression), f"ignoring {codes} suppresses nothing here", fix)
    fix = Fix("Remove the unused suppression", Applicability.SAFE, (_removal(suppression, layout),))
    text = shortened(marker.text, _SHOWN)
    return _finding(_span_of_marker(suppression), f"`{text}` suppresses nothing here", fix)


def _finding(span: Span, message: str, fix: Fix | None = None) -> Finding:
    return Finding(UNUSED_SUPPRESSION, UNUSED_NAME, span, message, Severity.WARNING, fix)


def _span_of_marker(suppression: Suppression) -> Span:
    line, marker = suppression.comment.line, suppression.marker
    return Span(line, marker.column, line, marker.end_column)


def _span_of(selectors: Sequence[Selector], suppression: Suppression) -> Span:
    line = suppression.comment.line
    return Span(line, selectors[0].column, line, selectors[-1].end_column)


def _without(suppression: Suppression, idle: Iterable[Selector], layout: Layout) -> Edit:
    """The list without `idle`, its separator kept as the user writes it."""
    listed = suppression.marker.listed
    span = _span_of(listed, suppression)
    written = layout.lines[span.line - 1][span.column - 1 : span.end_column - 1]
    separator = re.search(r"[\s,]+", written)
    dropped = set(idle)
    kept = [selector.text for selector in listed if selector not in dropped]
    return Edit(span, (separator[0] if separator else ",").join(kept))


def _removal(suppression: Suppression, layout: Layout) -> Edit:
    """The marker goes; with the last marker the comment goes, and with a comment of its own the line."""
    comment, (start, end) = suppression.comment, suppression.marker.cut
    line = comment.line
    if start > comment.column or end < comment.column + len(comment.text):
        return Edit(Span(line, start, line, end), "")
    if not comment.alone:
        code = layout.lines[line - 1][: comment.column - 1].rstrip()
        return Edit(Span(line, len(code) + 1, line, end), "")
    if line < len(layout.lines):
        return Edit(Span(line, 1, line + 1, 1), "")
    above = len(layout.lines[line - 2]) + 1 if line > 1 else 1
    return Edit(Span(max(line - 1, 1), above, line, end), "")
