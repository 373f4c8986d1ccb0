"""What a fix does to the lines of its file: the lines that go and the lines that come, change by change.

Works on text alone; whether a fix may be applied is not asked here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.model import Edit, Fix


@dataclass(frozen=True, slots=True)
class Hunk:
    """From `line` on, the lines `old` are replaced by `new`; they differ in their first and in their last line."""

    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def hunks(fix: Fix, lines: Sequence[str]) -> tuple[Hunk, ...]:
    """The changes from top to bottom; none when an edit does not fit `lines`, as when the file has changed since."""
    # An edit may begin or end behind the last line break, where a file has no line of its own.
    padded = [*lines, ""]
    changes = []
    for group in _touching(fix.edits):
        change = _apply(group, padded)
        if change is None:
            return ()
        changes.append(_trimmed(change))
    return tuple(change for change in changes if change.old != change.new)


def _touching(edits: Sequence[Edit]) -> Iterator[list[Edit]]:
    """Edits in order, grouped so that each group is one unbroken run of lines."""
    group: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: edit.span):
        if group and edit.span.line > max(other.span.end_line for other in group) + 1:
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _apply(group: Sequence[Edit], lines: Sequence[str]) -> Hunk | None:
    """The edits of `group` on the lines they touch; None when one overlaps the next or lies outside of the text."""
    first, last = group[0].span.line, max(edit.span.end_line for edit in group)
    old = tuple(lines[first - 1 : last])
    text = "\n".join(old)
    limit = len(text)
    for edit in reversed(group):
        start = _offset(old, edit.span.line - first, edit.span.column)
        end = _offset(old, edit.span.end_line - first, edit.span.end_column)
        if start is None or end is None or not start <= end <= limit:
            return None
        text, limit = text[:start] + edit.text.replace("\r\n", "\n") + text[end:], start
    return Hunk(first, old, tuple(text.split("\n")))


def _offset(lines: Sequence[str], index: int, column: int) -> int | None:
    """Where `column` of line `index` is in the joined lines; None when there is no such place."""
    if not (0 <= index < len(lines) and 1 <= column <= len(lines[index]) + 1):
        return None
    return sum(len(line) + 1 for line in lines[:index]) + column - 1


def _trimmed(hunk: Hunk) -> Hunk:
    """`hunk` without the lines that both sides begin or end with."""
    shortest = min(len(hunk.old), len(hunk.new))
    head = 0
    while head < shortest and hunk.old[head] == hunk.new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and hunk.old[-1 - tail] == hunk.new[-1 - tail]:
        tail += 1
    return Hunk(
        hunk.line + head,
        hunk.old[head : len(hunk.old) - tail],
        hunk.new[head : len(hunk.new) - tail],
    )
