"""The benchmark of confirm on real packages: which findings are taken, and what its table counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.confirm_real import Tally, chosen_of, how_of, level_of, line_of, page, reason_of, summary
from benchmarks.realcode.reviews import FIELDS
from nanlint.model.verdict import Verdict, VerdictKind
from tests.confirm_projects import MEAN, finding_at, written

if TYPE_CHECKING:
    from nanlint.model import Finding


def findings_with(folder: Path, codes: list[str], paths: list[str]) -> list[Finding]:
    """A finding of every code in every file."""
    one = finding_at(written(folder, MEAN))
    return [replace(one, code=code, path=path) for code in codes for path in paths]


def judged(finding: Finding, kind: VerdictKind, level: str | None, reason: str) -> Finding:
    return replace(finding, verdict=Verdict(kind, level=level, reason=reason))


def test_the_rules_and_the_files_of_a_package_take_turns(tmp_path: Path) -> None:
    found = findings_with(tmp_path, ["NAN101", "NAN102"], ["a.py", "b.py", "c.py"])
    chosen = [(one.code, one.path) for one in chosen_of(found, 4)]
    assert chosen == [("NAN101", "a.py"), ("NAN102", "a.py"), ("NAN101", "b.py"), ("NAN102", "b.py")]


def test_a_second_finding_in_a_file_comes_after_the_first_ones_of_all_files(tmp_path: Path) -> None:
    one, other = findings_with(tmp_path, ["NAN101"], ["a.py", "b.py"])
    again = replace(one, span=replace(one.span, line=one.span.line + 1, end_line=one.span.end_line + 1))
    assert chosen_of([one, again, other], 2) == [one, other]


def test_a_finding_that_was_not_run_has_no_level_and_a_reason(tmp_path: Path) -> None:
    one = finding_at(written(tmp_path, MEAN))
    missed = judged(one, VerdictKind.NOT_RUNNABLE, "function", "no arguments were found: TypeError")
    assert (level_of(missed), reason_of(missed)) == ("none", "no arguments were found with which it runs")


def test_a_shell_is_counted_as_one(tmp_path: Path) -> None:
    one = finding_at(written(tmp_path, MEAN))
    on_shell = judged(one, VerdictKind.REACHABLE, "function", "fails if x (`Trainer` was not constructed: ...)")
    assert how_of(on_shell).startswith("the method ran on an object that was not constructed")


def test_a_confirmed_finding_is_one_line_with_its_code(tmp_path: Path) -> None:
    one = finding_at(written(tmp_path, MEAN))
    line = line_of("package-1.0", judged(one, VerdictKind.CONFIRMED, "function", "`masked_mean(mask=[0])` gives NaN"))
    assert "`return (values * mask).sum() / mask.sum() # here` `masked_mean(mask=[0])` gives NaN" in line
    assert "\n" not in line


def test_the_page_counts_levels_verdicts_and_packages(tmp_path: Path) -> None:
    one = finding_at(written(tmp_path, MEAN))
    tally = Tally()
    tally.add("first-1.0", [judged(one, VerdictKind.CONFIRMED, "module", "it fails")])
    tally.add("second-2.0", [judged(one, VerdictKind.REACHABLE, "slice", "no arguments were found: x")])
    lines = page(tally, "the command").splitlines()
    assert next(summary(tally)) == "2 findings: run at some level 2 (100%), whole function or module 1 (50%)"
    assert "| first-1.0 | 1 | 1 | 0 | 0 | 0 | 1 |" in lines
    assert "| no arguments were found with which it runs | 1 | 0 |" in lines


def test_every_confirmed_finding_that_was_reviewed_is_right_or_breaks_a_precondition() -> None:
    path = Path(__file__).parents[1] / "benchmarks" / "realcode" / "reviewed" / "confirmed.jsonl"
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    odd = [
        entry
        for entry in entries
        if tuple(entry) != FIELDS or entry["verdict"] not in {"right", "precondition"} or not entry["reason"].strip()
    ]
    assert (odd, len(entries) >= 30) == ([], True)
