"""The suppressions of a file, and which findings each of them covers.

    x = torch.log(                # on the first or the last line of a statement: all of the statement
        probs,                    # on a line in between: what starts on that line or spans it
    )
    # alone on a line: the next statement (inside brackets: the next line of code)

A compound statement counts by its header: what is written at `if (...):` says nothing about the body. Decorators
belong to the header for a comment above them. A finding that spans several lines is covered by a comment at the end of
any of them. `# noqa` covers the same, but does not look down from a line of its own: no other tool does that.

Only real comments count, never text in strings. Whether a rule exists is not known here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanlint.source.comments.layout import Comment, Layout, read_layout
from nanlint.source.comments.markers import Kind, Marker, read_markers
from nanlint.source.comments.mentions import mentions_suppression

if TYPE_CHECKING:
    from nanlint.model import Span

_CANDIDATE = re.compile(r"#[^\S\n]*(?:nanlint|noqa)\b[^\n]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Suppression:
    """A marker where it stands. It covers what starts on the lines `first` to `last`."""

    marker: Marker
    comment: Comment
    first: int
    last: int
    inside: bool
    """Whether it stands in a statement, not between two: then it covers what spans its own line, too."""

    def covers(self, span: Span) -> bool:
        """Whether a finding at `span` is meant, if its rule is."""
        if self.marker.kind is Kind.IGNORE_FILE:
            return True
        end = span.end_line - (span.end_column == 1 and span.end_line > span.line)
        if self.first <= span.line <= self.last or span.line == self.comment.line:
            return True
        return self.inside and span.line <= self.comment.line <= end


@dataclass(frozen=True, slots=True)
class Suppressions:
    """All of a file, in reading order, with the layout that they were read from."""

    items: tuple[Suppression, ...]
    layout: Layout


def suppressions(text: str, *, blanket_noqa: bool = True) -> Suppressions | None:
    """The suppressions in `text`, well written or not; None if there are none.

    Without `blanket_noqa`, those that say `# noqa` and no code are left out, which spares most files the reading.
    """
    if not mentions_suppression(text, blanket_noqa=blanket_noqa) or not _has_candidate(text, blanket_noqa=blanket_noqa):
        return None
    layout = read_layout(text)
    items = tuple(
        _place(marker, comment, layout)
        for comment in layout.comments
        if _CANDIDATE.search(comment.text)
        for marker in read_markers(comment.text, comment.column)
        if _matters(marker, blanket_noqa=blanket_noqa)
    )
    return Suppressions(items, layout) if items else None


def _matters(marker: Marker, *, blanket_noqa: bool) -> bool:
    return blanket_noqa or marker.kind is not Kind.NOQA or bool(marker.listed)


def _has_candidate(text: str, *, blanket_noqa: bool) -> bool:
    """Whether a marker is written anywhere, in a comment or in a string."""
    return any(
        _matters(marker, blanket_noqa=blanket_noqa)
        for match in _CANDIDATE.finditer(text)
        for marker in read_markers(match[0], 1)
    )


def _place(marker: Marker, comment: Comment, layout: Layout) -> Suppression:
    stretch = layout.stretch_at(comment.line)
    if stretch is None:
        below = None if marker.kind is Kind.NOQA else layout.stretch_after(comment.line)
        first, last = below or (comment.line, comment.line)
        return Suppression(marker, comment, first, last, inside=False)
    if comment.line not in stretch:
        line = _code_line(comment, layout)
        stretch = (line, line)
    return Suppression(marker, comment, *stretch, inside=True)


def _code_line(comment: Comment, layout: Layout) -> int:
    """The line that a comment in the middle of a statement is about: its own, or the next one that holds code."""
    line = comment.line
    while comment.alone and layout.lines[line - 1].lstrip()[:1] in {"", "#"}:
        line += 1
    return line
