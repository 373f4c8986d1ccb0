"""The table of counts per rule."""

from __future__ import annotations

import dataclasses
import io
import re
from typing import TYPE_CHECKING

from nanlint.report import render_statistics
from tests.report_samples import IN_NOTEBOOK, MULTI_LINE, ODD_MESSAGE, ODD_PATH, WITH_FIX, report_of

if TYPE_CHECKING:
    from nanlint.model import Report


def statistics(report: Report, *, colour: bool = False) -> str:
    out = io.StringIO()
    render_statistics(report, out, colour=colour)
    return out.getvalue()


def test_nothing_found_gives_no_table() -> None:
    assert statistics(report_of()) == ""


MANY = report_of(
    *[WITH_FIX] * 10,
    dataclasses.replace(WITH_FIX, fix=None),
    IN_NOTEBOOK,
    IN_NOTEBOOK,
    MULTI_LINE,
    ODD_PATH,
    ODD_MESSAGE,
)


def test_rules_are_listed_by_count_then_code_and_marked_when_fixable() -> None:
    assert statistics(MANY) == (
        "11  NAN110  log-of-softmax        [-]\n"
        " 2  NAN101  unguarded-division\n"
        " 2  NAN404  nan-check-misses-inf  [*]\n"
        " 1  NAN201  exp-overflow\n"
        "[*] fixable with --fix  [-] some of them fixable with --fix\n"
    )


def test_a_table_without_markers_explains_none() -> None:
    assert statistics(report_of(ODD_PATH)) == "1  NAN101  unguarded-division\n"


def test_colours_change_no_character() -> None:
    painted = statistics(MANY, colour=True)
    assert "\x1b[1m" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == statistics(MANY)
