"""The closing line: every count in it, singular and plural."""

from __future__ import annotations

import dataclasses

import pytest

from nanlint.model import Report, Summary
from nanlint.report.closing import closing_line
from tests.report_samples import ERRORS, IN_NOTEBOOK, MULTI_LINE, ODD_PATH, WITH_FIX, report_of

WITHOUT_FIX = dataclasses.replace(WITH_FIX, fix=None)

CASES = {
    "all clear": (report_of(), "All clear: 41 files checked."),
    "all clear, one file": (report_of(files=1), "All clear: 1 file checked."),
    "no files": (report_of(files=0), "No files were checked."),
    "one problem": (report_of(WITHOUT_FIX, files=1), "Found 1 problem (1 error) in 1 of 1 file."),
    "three problems": (
        report_of(WITH_FIX, MULTI_LINE, dataclasses.replace(ODD_PATH, fix=None)),
        "Found 3 problems (1 error, 2 warnings) in 2 of 41 files; 1 fixable with --fix, 1 more with --unsafe-fixes.",
    ),
    "unsafe fixes only": (
        report_of(MULTI_LINE, ODD_PATH),
        "Found 2 problems (2 warnings) in 2 of 41 files; 2 fixable with --unsafe-fixes.",
    ),
    "information only": (
        report_of(IN_NOTEBOOK, IN_NOTEBOOK),
        "Found 2 problems (2 info) in 1 of 41 files; 2 fixable with --fix.",
    ),
    "files not counted by the caller": (Report((WITHOUT_FIX,)), "Found 1 problem (1 error) in 1 of 1 file."),
    "one file unchecked": (
        report_of(errors=ERRORS[:1]),
        "Found nothing in 41 files. 1 file could not be fully checked.",
    ),
    "two errors in one file": (
        report_of(errors=(ERRORS[0], ERRORS[0])),
        "Found nothing in 41 files. 1 file could not be fully checked.",
    ),
    "nothing but errors": (report_of(errors=ERRORS, files=0), "2 files could not be fully checked."),
    "fixed and quiet": (
        Report(summary=Summary(files=41, fixed=2, suppressed=3, known=4)),
        "All clear: 41 files checked. Fixed 2 problems. Kept quiet: 3 suppressed, 4 in the baseline.",
    ),
    "nothing confirmed": (
        Report(summary=Summary(files=2, unconfirmed=1)),
        "Nothing confirmed in 2 files. Kept quiet: 1 not confirmed.",
    ),
    "fixed one": (
        Report((WITHOUT_FIX,), summary=Summary(files=2, fixed=1)),
        "Found 1 problem (1 error) in 1 of 2 files. Fixed 1 problem.",
    ),
    "a baseline only": (
        Report(summary=Summary(files=2, known=1)),
        "All clear: 2 files checked. Kept quiet: 1 in the baseline.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_closing_line_counts_right(case: str) -> None:
    report, line = CASES[case]
    assert closing_line(report) == line
