r"""Edits on a text: where they fall, which can be made together, and what they give.

Positions are those of findings: lines end at \n, \r\n or \r alone, columns are characters, ends are exclusive. This
module knows nothing of why an edit is made.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from nanlint.source.lines import line_end, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nanlint.model import Edit, Fix

Change = tuple[int, int, str]
"""An edit in offsets: start, end, and the text that replaces what stands between them."""


def apply_edits(text: str, fixes: Sequence[Fix]) -> tuple[str, list[Fix], list[Fix]]:
    """The text with all fixes that can be applied at once, those applied in reading order, and those left out.

    A fix is applied whole or not at all. Of two that overlap the one that starts first wins. Edits on which two fixes
    agree are made once and count for both: the same replacement, the same whole lines inserted (as an import is), or
    the same fix twice. Equal insertions within a line overlap: two fixes that each close a bracket mean two brackets.
    """
    page = Page(text)
    changes = [page.changes(fix) for fix in fixes]
    chosen = choose(changes)
    rest = sorted(set(range(len(fixes))).difference(chosen))
    made = (changes[index] or () for index in chosen)
    return page.with_changes(made), [fixes[index] for index in chosen], [fixes[index] for index in rest]


class Page:
    """A text and the offsets of its lines."""

    __slots__ = ("lines", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = split_lines(text)
        self.starts = [0, *accumulate(map(len, self.lines))]

    def line(self, number: int) -> str:
        """The line with its end; empty outside the text."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def changes(self, fix: Fix) -> tuple[Change, ...] | None:
        """The edits of `fix` in offsets and in order; None if there are none, or they overlap or leave the text."""
        changes = [self._change(edit) for edit in fix.edits]
        inside = sorted(change for change in changes if change)
        if not inside or len(inside) < len(changes):
            return None
        # An insertion right before a replacement is in order here, because one fix means both.
        if any(first[1] > second[0] or first[:2] == second[:2] for first, second in pairwise(inside)):
            return None
        return tuple(inside)

    def with_changes(self, groups: Iterable[Sequence[Change]]) -> str:
        """The text after all changes of all groups; those that groups share are made once."""
        parts: list[str] = []
        end = 0
        for start, stop, replacement in sorted({change for group in groups for change in group}):
            parts += self.text[end:start], replacement
            end = stop
        return "".join([*parts, self.text[end:]])

    def _change(self, edit: Edit) -> Change | None:
        start = self._offset(edit.span.line, edit.span.column)
        end = self._offset(edit.span.end_line, edit.span.end_column)
        if start is None or end is None or end < start:
            return None
        return start, end, self._with_own_newlines(edit)

    def _offset(self, line: int, column: int) -> int | None:
        content = self.line(line)
        if not 0 < line <= len(self.starts) or not 0 < column <= len(content) - len(line_end(content)) + 1:
            return None
        return self.starts[line - 1] + column - 1

    def _with_own_newlines(self, edit: Edit) -> str:
        """The new text with the newlines that the file has there; rules write line feeds and need not look."""
        if "\r" in edit.text:
            return edit.text
        own = line_end(self.line(edit.span.line)) or line_end(self.line(edit.span.line - 1)) or "\n"
        return edit.text.replace("\n", own)


def choose(fixes: Sequence[tuple[Change, ...] | None]) -> list[int]:
    """The indices, in reading order, of the fixes that can be applied together; None is a fix that never can."""
    order = sorted((changes, index) for index, changes in enumerate(fixes) if changes)
    chosen: list[int] = []
    whole: set[tuple[Change, ...]] = set()
    taken: list[Change] = []
    for changes, index in order:
        if changes not in whole:
            fresh = [change for change in changes if not _is_shared(change, taken)]
            if any(_collides(change, taken) for change in fresh):
                continue
            for change in fresh:
                insort(taken, change)
            whole.add(changes)
        chosen.append(index)
    return chosen


def _is_shared(change: Change, taken: list[Change]) -> bool:
    """Whether a taken change is the same and making it once is what both fixes mean."""
    start, end, text = change
    at = bisect_left(taken, change)
    if at == len(taken) or taken[at] != change:
        return False
    return end > start or text.startswith(("\n", "\r")) or text.endswith(("\n", "\r"))


def _collides(change: Change, taken: list[Change]) -> bool:
    at = bisect_left(taken, change)
    return any(_overlap(*sorted((change, other))) for other in taken[max(at - 1, 0) : at + 1])


def _overlap(first: Change, second: Change) -> bool:
    """Whether two changes in order share a character or start at one place, where their order would be a guess."""
    return first[1] > second[0] or first[0] == second[0]
