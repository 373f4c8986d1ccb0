"""Fingerprints: the same for the same finding, different for different ones."""

from __future__ import annotations

import dataclasses

from nanlint.model import Report, Span
from nanlint.report.for_programs.fingerprint import digest, fingerprints
from tests.report_samples import SOURCES, WITH_FIX, report_of

MOVED = dataclasses.replace(WITH_FIX, span=Span(8, 23, 8, 34))


def test_lines_added_above_leave_a_fingerprint_as_it_is() -> None:
    lines = ["# new", "# lines", *SOURCES["src/train.py"]]
    below = Report((MOVED,), source_lines=lambda _path, _cell: lines)
    assert fingerprints(below) == fingerprints(report_of(WITH_FIX))


def test_indentation_leaves_a_fingerprint_as_it_is() -> None:
    lines = [f"    {line}" for line in SOURCES["src/train.py"]]
    deeper = Report((WITH_FIX,), source_lines=lambda _path, _cell: lines)
    assert fingerprints(deeper) == fingerprints(report_of(WITH_FIX))


def test_equal_findings_of_a_file_have_different_fingerprints() -> None:
    report = Report((WITH_FIX, MOVED, WITH_FIX))
    assert len(set(fingerprints(report))) == 3


def test_the_first_of_equal_findings_keeps_its_fingerprint_when_another_comes() -> None:
    assert fingerprints(Report((WITH_FIX, MOVED)))[0] == fingerprints(Report((WITH_FIX,)))[0]


def test_path_code_function_message_and_code_line_all_count() -> None:
    others = [
        report_of(WITH_FIX),
        Report((WITH_FIX,)),
        report_of(dataclasses.replace(WITH_FIX, path="other.py")),
        report_of(dataclasses.replace(WITH_FIX, code="NAN102")),
        report_of(dataclasses.replace(WITH_FIX, function="other")),
        report_of(dataclasses.replace(WITH_FIX, message="other")),
    ]
    assert len({fingerprints(report)[0] for report in others}) == len(others)


def test_a_digest_knows_where_one_part_ends() -> None:
    assert digest("ab", "c") != digest("a", "bc")
