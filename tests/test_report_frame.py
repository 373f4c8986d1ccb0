"""Code frames: what is underlined stands right above the carets, whatever the line holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanlint.model import Label, Span
from nanlint.report.frame import WIDEST, change_rows, frame_rows
from nanlint.report.hunks import Hunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nanlint.report.frame import Row


def texts(rows: Iterable[Row]) -> list[str]:
    """Rows as `number sign text`, the number blank where there is none."""
    return [f"{row.number or '':>3} {row.sign} {''.join(text for text, _style in row.pieces)}".rstrip() for row in rows]


def frame(lines: Sequence[str], span: Span, *labels: Label) -> list[str]:
    return texts(frame_rows(lines, span, "red", labels))


UNDERLINES = {
    "plain": ("y = x / n", Span(1, 9, 1, 10), "y = x / n", "        ^"),
    "a tab": ("\ty = x\t/ n", Span(1, 10, 1, 11), "    y = x    / n", "               ^"),
    "wide characters": ("名 = 前 / n", Span(1, 5, 1, 6), "名 = 前 / n", "     ^^"),
    "a combining character": ("e\u0301 = x / n", Span(1, 10, 1, 11), "e\u0301 = x / n", "        ^"),
    "an emoji": ("s = '🔥' / n", Span(1, 10, 1, 11), "s = '🔥' / n", " " * 10 + "^"),
    "a control character": ("s = '\x1b' / n", Span(1, 11, 1, 12), "s = '\\x1b' / n", " " * 13 + "^"),
    "text that turns around": ("s = '\u202e' / n", Span(1, 11, 1, 12), "s = '\\u202e' / n", " " * 15 + "^"),
    "markup": ("y = x[red] / n[0]", Span(1, 14, 1, 18), "y = x[red] / n[0]", " " * 13 + "^^^^"),
    "an empty span": ("y = x", Span(1, 5, 1, 5), "y = x", "    ^"),
    "a span that ends before it begins": ("y = x", Span(1, 5, 1, 2), "y = x", "    ^"),
    "past the end of the line": ("y = x", Span(1, 9, 1, 12), "y = x", "     ^"),
    "an empty line": ("", Span(1, 1, 1, 1), "", "^"),
}


@pytest.mark.parametrize("case", UNDERLINES)
def test_the_span_is_underlined(case: str) -> None:
    line, span, shown, carets = UNDERLINES[case]
    assert frame([line], span) == [f"  1 | {shown}".rstrip(), f"    | {carets}"]


CODE = ["import torch", "", "def f(x):", "    n = x.sum()", "    y = x / n", "", "    return y"]


def test_two_lines_come_before_and_one_after() -> None:
    assert frame(CODE, Span(4, 9, 4, 16)) == [
        "  3 | def f(x):",
        "  4 |     n = x.sum()",
        "    |         ^^^^^^^",
        "  5 |     y = x / n",
    ]


def test_empty_lines_at_the_edge_are_left_out() -> None:
    assert frame(CODE, Span(5, 13, 5, 14)) == [
        "  3 | def f(x):",
        "  4 |     n = x.sum()",
        "  5 |     y = x / n",
        "    |             ^",
    ]


def test_the_first_and_the_last_line_have_what_context_there_is() -> None:
    assert frame(CODE, Span(1, 1, 1, 7)) == ["  1 | import torch", "    | ^^^^^^"]
    assert frame(CODE, Span(7, 5, 7, 11)) == ["  5 |     y = x / n", "  6 |", "  7 |     return y", "    |     ^^^^^^"]


@pytest.mark.parametrize("span", [Span(8, 1, 8, 2), Span(0, 1, 0, 2)], ids=["behind the end", "line 0"])
def test_a_place_outside_the_file_has_no_frame(span: Span) -> None:
    assert frame(CODE, span) == []


def test_a_span_that_takes_in_the_line_break_stays_on_its_line() -> None:
    assert frame(CODE, Span(3, 1, 4, 1))[-3:] == ["  3 | def f(x):", "    | ^^^^^^^^^", "  4 |     n = x.sum()"]


def test_a_span_that_runs_past_the_file_ends_with_it() -> None:
    assert frame(CODE, Span(7, 5, 9, 3)) == [
        "  5 |     y = x / n",
        "  6 |",
        "  7 |     return y",
        "    |     ^^^^^^^^",
    ]


def test_a_bracket_begins_and_ends_at_the_characters_of_the_span() -> None:
    assert frame(["y = f(", "\t名,", "", ") / n", "z"], Span(1, 5, 4, 2)) == [
        "  1 |   y = f(",
        "    |  _____^",
        "  2 | |     名,",
        "  3 | |",
        "  4 | | ) / n",
        "    | |_^",
        "  5 |   z",
    ]


def test_a_long_span_is_shown_by_its_head_and_its_tail() -> None:
    lines = ["x = (", *[f"    a{index} +" for index in range(10)], ")"]
    assert frame(lines, Span(1, 5, 12, 2)) == [
        "  1 |   x = (",
        "    |  _____^",
        "  2 | |     a0 +",
        "  3 | |     a1 +",
        "  4 | |     a2 +",
        "  5 | |     a3 +",
        "    | | ...",
        " 11 | |     a9 +",
        " 12 | | )",
        "    | |_^",
    ]


def test_a_span_is_never_cut_to_hide_a_single_line() -> None:
    lines = ["x = (", *["    a +"] * 6, ")"]
    assert "    | | ..." not in frame(lines, Span(1, 5, 8, 2))


def test_a_label_in_the_frame_is_underlined_there() -> None:
    assert frame(CODE, Span(5, 13, 5, 14), Label(Span(4, 9, 4, 16), "made\nhere")) == [
        "  3 | def f(x):",
        "  4 |     n = x.sum()",
        "    |         ------- made here",
        "  5 |     y = x / n",
        "    |             ^",
    ]


def test_a_label_on_the_line_itself_comes_below() -> None:
    assert frame(["y = x / n"], Span(1, 9, 1, 10), Label(Span(1, 5, 1, 6), "of this")) == [
        "  1 | y = x / n",
        "    |         ^",
        "    |     - of this",
    ]


def test_labels_elsewhere_come_in_the_order_of_the_file_with_dots_between() -> None:
    lines = [f"x{number} = {number}" for number in range(1, 21)]
    labels = [Label(Span(18, 1, 18, 4), "last"), Label(Span(6, 1, 6, 3), "close"), Label(Span(1, 1, 1, 3), "first")]
    assert frame(lines, Span(10, 1, 10, 4), *labels) == [
        "  1 | x1 = 1",
        "    | -- first",
        "    | ...",
        "  6 | x6 = 6",
        "    | -- close",
        "  7 | x7 = 7",
        "  8 | x8 = 8",
        "  9 | x9 = 9",
        " 10 | x10 = 10",
        "    | ^^^",
        " 11 | x11 = 11",
        "    | ...",
        " 18 | x18 = 18",
        "    | --- last",
    ]


def test_a_label_of_several_lines_is_underlined_on_its_first() -> None:
    assert frame(["f(", "    x", ")", "y"], Span(4, 1, 4, 2), Label(Span(1, 1, 3, 2), "the call"))[:2] == [
        "  1 | f(",
        "    | -- the call",
    ]


def test_a_label_outside_the_file_is_left_out() -> None:
    assert frame(["y = x"], Span(1, 5, 1, 6), Label(Span(9, 1, 9, 2), "gone")) == ["  1 | y = x", "    |     ^"]


def test_labels_keep_the_margin_of_a_bracket() -> None:
    lines = ["x = (", *[f"    a{index} +" for index in range(10)], ")", "", "z", "b"]
    labels = [Label(Span(8, 5, 8, 7), "inside"), Label(Span(12, 1, 12, 2), "end"), Label(Span(15, 1, 15, 2), "behind")]
    assert frame(lines, Span(1, 5, 12, 2), *labels) == [
        "  1 |   x = (",
        "    |  _____^",
        "  2 | |     a0 +",
        "  3 | |     a1 +",
        "  4 | |     a2 +",
        "  5 | |     a3 +",
        "    | | ...",
        "  8 | |     a6 +",
        "    | |     -- inside",
        "    | | ...",
        " 11 | |     a9 +",
        " 12 | | )",
        "    | |_^",
        "    |   - end",
        "    |   ...",
        " 15 |   b",
        "    |   - behind",
    ]


LONG = "a = [" + "1, " * 100 + "x / n" + ", 2" * 100 + "]"
AT = LONG.index("x / n") + 1


def test_a_long_line_is_cut_around_the_span() -> None:
    code, carets = frame([LONG], Span(1, AT, 1, AT + 5))
    column = carets.index("^")
    assert (code[column : column + 5], carets[column:], len(code)) == ("x / n", "^^^^^", WIDEST + 6)
    assert code.startswith("  1 | ...")
    assert code.endswith("...")


def test_a_long_line_is_cut_behind_a_span_near_its_start() -> None:
    code, carets = frame([LONG], Span(1, 1, 1, 2))
    assert (code, carets) == (f"  1 | {LONG[: WIDEST - 3]}...", "    | ^")


def test_a_span_longer_than_the_window_is_underlined_to_the_edge() -> None:
    code, carets = frame([LONG], Span(1, 5, 1, len(LONG) + 1))
    assert code.startswith("  1 | ...")
    assert carets.endswith("^")
    assert len(code) == len(carets)


def test_the_lines_around_a_cut_line_are_scrolled_with_it() -> None:
    before, code, _carets = frame(["short", LONG], Span(2, AT, 2, AT + 5))
    assert (before, code[:9]) == ("  1 | ...", "  2 | ...")


def test_a_change_shows_what_goes_and_what_comes() -> None:
    hunks = [Hunk(1, (), ("import torch",)), Hunk(7, ("\told", "older"), ("new",))]
    assert texts(change_rows(hunks)) == ["  1 + import torch", "  7 -     old", "  8 - older", "  7 + new"]


def test_a_long_change_is_cut() -> None:
    rows = texts(change_rows([Hunk(1, tuple("abcdefgh"), ())]))
    assert rows == ["  1 - a", "  2 - b", "  3 - c", "  4 - d", "  5 - e", "  6 - f", "    - ..."]


def test_a_change_in_a_long_line_shows_where_the_lines_differ() -> None:
    old, new = texts(change_rows([Hunk(1, (LONG,), (LONG.replace("x / n", "x / m"),))]))
    assert ("x / n" in old, "x / m" in new, len(old), len(new)) == (True, True, WIDEST + 6, WIDEST + 6)
