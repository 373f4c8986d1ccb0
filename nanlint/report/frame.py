"""Code frames: the lines around a place with the place underlined, labelled lines elsewhere, and the lines a fix takes and gives.

Rows know their line number and their sign; the gutter is laid out by whoever prints them. Columns of the source are
characters, columns of the screen are cells: a tab is four, a wide character two, a combining one none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanlint.model import Span
from nanlint.report.paint import ADDED, FAINT, GUTTER, PLAIN, REMOVED, Piece
from nanlint.report.wording import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nanlint.model import Label
    from nanlint.report.hunks import Hunk

LINES_BEFORE, LINES_AFTER = 2, 1
WIDEST = 116  # with the gutter this fits the 120 columns code is commonly written for
LEAD = 24  # characters kept before the place when a line is cut
CUT = "..."
SPAN_HEAD, SPAN_TAIL = 4, 2  # lines shown of a long span
LONGEST_CHANGE = 6  # lines shown of each side of a fix


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the frame; `number` is None for rows that are no line of the file."""

    number: int | None
    sign: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class _View:
    """A window on long lines: all rows of a frame are scrolled alike, so that indentation still compares."""

    start: int

    @classmethod
    def around(cls, first: int, last: int) -> _View:
        """The window that shows the characters from `first` to `last`, unscrolled if it can."""
        if last <= WIDEST - len(CUT):
            return cls(0)
        return cls(max(0, min(first - len(CUT), max(first - LEAD, last + len(CUT) - WIDEST))))

    def text(self, line: str) -> str:
        """The part of `line` in the window; dots stand for what was cut on either side."""
        whole = printable(line)
        part = whole[self.start : self.start + WIDEST]
        if self.start:
            part = CUT + part[len(CUT) :] if part else CUT
        if len(whole) > self.start + WIDEST:
            part = part[: -len(CUT)] + CUT
        return part.rstrip()

    def cell(self, line: str, column: int) -> int:
        """The cell of the screen at which the character at `column` begins; the nearest one if it was cut."""
        index = len(printable(line[: column - 1])) - self.start
        return _cells(self.text(line)[: max(0, index)])


def frame_rows(lines: Sequence[str], span: Span, style: str, labels: Sequence[Label] = ()) -> list[Row]:
    """The code around `span`, which is underlined in `style`, and the line of each label with its text, in the order of the file.

    No rows when `lines` does not reach that far; a label outside of them is left out.
    """
    if not 1 <= span.line <= len(lines):
        return []
    span = _fitted(span, lines)
    view = _view_of(span, lines)
    before = [number for number in range(span.line - LINES_BEFORE, span.line) if number >= 1]
    after = [number for number in range(span.end_line + 1, span.end_line + 1 + LINES_AFTER) if number <= len(lines)]
    while before and not lines[before[0] - 1].strip():
        before.pop(0)
    while after and not lines[after[-1] - 1].strip():
        after.pop()
    marked = (
        _underlined(lines, span, view, style) if span.line == span.end_line else _bracketed(lines, span, view, style)
    )
    shown = {number: [_line(number, lines, span, view, style)] for number in before + after} | marked
    for label in sorted(labels, key=lambda label: label.span):
        if 1 <= (number := label.span.line) <= len(lines):
            rows = shown.setdefault(number, [_line(number, lines, span, view, style)])
            rows.append(_labelled(lines, label, view, _margin(number + 1, span, style)))
    return list(_joined(shown, lines, span, view, style))


def _joined(shown: Mapping[int, list[Row]], lines: Sequence[str], span: Span, view: _View, style: str) -> Iterator[Row]:
    """The rows in the order of the file; dots stand for two lines or more in between."""
    last = min(shown) - 1
    for number in sorted(shown):
        if number - last == 2:
            yield _line(last + 1, lines, span, view, style)
        elif number - last > 2:
            yield Row(None, "|", (*_margin(number, span, style), (CUT, FAINT)))
        yield from shown[number]
        last = number


def change_rows(hunks: Sequence[Hunk]) -> Iterator[Row]:
    """The lines that go and the lines that come, change by change."""
    for hunk in hunks:
        view = _view_of_change(hunk)
        for sign, side, style in (("-", hunk.old, REMOVED), ("+", hunk.new, ADDED)):
            for offset, line in enumerate(side[:LONGEST_CHANGE]):
                yield Row(hunk.line + offset, sign, ((view.text(line), style),))
            if len(side) > LONGEST_CHANGE:
                yield Row(None, sign, ((CUT, FAINT),))


def _fitted(span: Span, lines: Sequence[str]) -> Span:
    """`span` inside `lines`, and not past a line's end merely to take in the line break."""
    end_line, end_column = span.end_line, span.end_column
    if end_line > len(lines) or (end_column == 1 and end_line > span.line):
        end_line = min(end_line - 1, len(lines))
        end_column = len(lines[end_line - 1]) + 1
    return max(Span(span.line, span.column, end_line, end_column), Span(span.line, span.column, span.line, span.column))


def _view_of(span: Span, lines: Sequence[str]) -> _View:
    line = lines[span.line - 1]
    first = len(printable(line[: span.column - 1]))
    last = len(printable(line[: span.end_column - 1])) if span.line == span.end_line else first + 1
    return _View.around(first, last)


def _view_of_change(hunk: Hunk) -> _View:
    """The window on the first character that differs."""
    if not (hunk.old and hunk.new):
        return _View(0)
    old, new = printable(hunk.old[0]), printable(hunk.new[0])
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    longest = max(len(line) for line in (old, new))
    return _View(0) if longest <= WIDEST else _View.around(same, same + LEAD)


def _underlined(lines: Sequence[str], span: Span, view: _View, style: str) -> dict[int, list[Row]]:
    line = lines[span.line - 1]
    start, end = view.cell(line, span.column), view.cell(line, span.end_column)
    carets = "^" * max(1, end - start)
    return {
        span.line: [
            _line(span.line, lines, span, view, style),
            Row(None, "|", ((" " * start, PLAIN), (carets, style))),
        ]
    }


def _labelled(lines: Sequence[str], label: Label, view: _View, margin: tuple[Piece, ...]) -> Row:
    """The row under the line of a label; of several lines the first is underlined to its end."""
    line, span = lines[label.span.line - 1], label.span
    last = span.end_column if span.line == span.end_line else len(line) + 1
    start, end = view.cell(line, span.column), view.cell(line, last)
    text = f"{'-' * max(1, end - start)} {one_line(label.text)}"
    return Row(None, "|", (*margin, (" " * start, PLAIN), (text, GUTTER)))


def _bracketed(lines: Sequence[str], span: Span, view: _View, style: str) -> dict[int, list[Row]]:
    """A span of several lines, held by a bracket that begins and ends at its first and last character."""
    start = view.cell(lines[span.line - 1], span.column)
    end = view.cell(lines[span.end_line - 1], span.end_column)
    inner = range(span.line + 1, span.end_line + 1)
    shown = {
        number: [_line(number, lines, span, view, style)]
        for number in (span.line, *inner[:SPAN_HEAD], *inner[-SPAN_TAIL:])
    }
    shown[span.line].append(Row(None, "|", ((" " + "_" * (start + 1) + "^", style),)))
    shown[span.end_line].append(Row(None, "|", (("|" + "_" * max(1, end) + "^", style),)))
    return shown


def _line(number: int, lines: Sequence[str], span: Span, view: _View, style: str) -> Row:
    """A line of the file behind the margin that the bracket of a long `span` needs."""
    text = view.text(lines[number - 1])
    margin = _margin(number, span, style)
    is_held = span.line < number <= span.end_line
    return Row(number, "|", (*margin, (text, PLAIN)) if text or is_held else ())


def _margin(number: int, span: Span, style: str) -> tuple[Piece, ...]:
    """What stands before a line, or before a row that is followed by it."""
    if span.line == span.end_line:
        return ()
    return (("| ", style),) if span.line < number <= span.end_line else (("  ", PLAIN),)


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - only lines that are not ASCII need it

    return cell_len(text)
