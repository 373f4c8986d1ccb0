"""What a fix does to lines, change by change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanlint.model import Applicability, Edit, Fix, Span
from nanlint.report.hunks import Hunk, hunks

LINES = ["import torch", "", "y = x / n", "z = y", "w = z"]


def fix_of(*edits: tuple[Span, str]) -> Fix:
    return Fix("t", Applicability.SAFE, tuple(Edit(span, text) for span, text in edits))


CASES = {
    "within a line": (fix_of((Span(3, 9, 3, 10), "m")), (Hunk(3, ("y = x / n",), ("y = x / m",)),)),
    "two edits of a line": (
        fix_of((Span(3, 9, 3, 10), "m"), (Span(3, 1, 3, 2), "u")),
        (Hunk(3, ("y = x / n",), ("u = x / m",)),),
    ),
    "two insertions at one place": (
        fix_of((Span(4, 1, 4, 1), "a"), (Span(4, 1, 4, 1), "b")),
        (Hunk(4, ("z = y",), ("abz = y",)),),
    ),
    "neighbouring lines": (
        fix_of((Span(3, 1, 3, 2), "u"), (Span(4, 5, 4, 6), "u")),
        (Hunk(3, ("y = x / n", "z = y"), ("u = x / n", "z = u")),),
    ),
    "an import and a use": (
        fix_of((Span(3, 9, 3, 10), "m"), (Span(1, 13, 1, 13), "\nimport math")),
        (Hunk(2, (), ("import math",)), Hunk(3, ("y = x / n",), ("y = x / m",))),
    ),
    "a line inserted": (fix_of((Span(3, 1, 3, 1), "n = 1\n")), (Hunk(3, (), ("n = 1",)),)),
    "a line removed": (fix_of((Span(4, 1, 5, 1), "")), (Hunk(4, ("z = y",), ()),)),
    "the last line removed": (fix_of((Span(5, 1, 6, 1), "")), (Hunk(5, ("w = z",), ()),)),
    "a line at the end": (fix_of((Span(6, 1, 6, 1), "v = w\n")), (Hunk(6, (), ("v = w",)),)),
    "no change": (fix_of((Span(3, 9, 3, 10), "n")), ()),
    "no edits": (fix_of(), ()),
    "behind the end of a line": (fix_of((Span(3, 11, 3, 12), "n")), ()),
    "an end before its start": (fix_of((Span(4, 1, 3, 1), "n")), ()),
    "line ends of Windows": (fix_of((Span(3, 1, 3, 1), "n = 1\r\n")), (Hunk(3, (), ("n = 1",)),)),
    "behind the file": (fix_of((Span(9, 1, 9, 2), "n")), ()),
    "edits that overlap": (fix_of((Span(3, 1, 3, 6), "a"), (Span(3, 5, 3, 9), "b")), ()),
}


@pytest.mark.parametrize("case", CASES)
def test_a_fix_is_its_changed_lines(case: str) -> None:
    fix, expected = CASES[case]
    assert hunks(fix, LINES) == expected


@given(
    lines=st.lists(st.text("ab \t", max_size=6), min_size=1, max_size=8),
    cuts=st.lists(st.integers(0, 80), min_size=2, max_size=6, unique=True),
    texts=st.lists(st.text("xy\n", max_size=5), min_size=3, max_size=3),
)
def test_the_changes_together_are_the_fix(lines: list[str], cuts: list[int], texts: list[str]) -> None:
    whole = "\n".join(lines)
    cuts = sorted(cut for cut in cuts if cut <= len(whole))
    pairs = list(zip(cuts[::2], cuts[1::2], texts, strict=False))
    expected = whole
    for start, end, text in reversed(pairs):
        expected = expected[:start] + text + expected[end:]
    edits = [(Span(*_position(whole, start), *_position(whole, end)), text) for start, end, text in pairs]
    changed = list(lines)
    for hunk in reversed(hunks(fix_of(*edits), lines)):
        assert tuple(changed[hunk.line - 1 : hunk.line - 1 + len(hunk.old)]) == hunk.old
        changed[hunk.line - 1 : hunk.line - 1 + len(hunk.old)] = hunk.new
    assert "\n".join(changed) == expected


def _position(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
