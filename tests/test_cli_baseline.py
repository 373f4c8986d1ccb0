"""`nanlint check --write-baseline` and `--baseline`: what is known stays known, and nothing is lost on the way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.project import BROKEN, CLEAN, EXP, LOG, SQRT, Project, codes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


def test_a_baseline_keeps_known_findings_quiet_and_lets_new_ones_through(project: Project) -> None:
    project.write("a.py", LOG)
    written = project.check("--write-baseline")
    assert (written.code, written.err) == (
        0,
        "Wrote 1 finding to nanlint-baseline.json; keep them quiet with --baseline nanlint-baseline.json\n",
    )
    project.write("a.py", "# moved\n" + LOG)
    project.write("b.py", SQRT)
    outcome = project.check("--baseline", "nanlint-baseline.json")
    assert (outcome.code, codes(outcome)) == (1, ["LOC201"])
    assert outcome.out.endswith("Kept quiet: 1 in the baseline.\n")


def test_the_baseline_may_be_a_setting(project: Project) -> None:
    project.configure('baseline = "known.json"\n')
    project.write("a.py", LOG)
    assert project.check("--write-baseline").err == "Wrote 1 finding to known.json\n"
    assert project.check() == (0, "All clear: 1 file checked. Kept quiet: 1 in the baseline.\n", "")


def test_write_baseline_takes_its_file(project: Project) -> None:
    project.write("src/a.py", LOG)
    project.write("b.py", LOG)
    written = project.check("--write-baseline", "known.json", "src/")
    assert (written.code, written.err) == (
        0,
        "Wrote 1 finding to known.json; keep them quiet with --baseline known.json\n",
    )
    assert _known(project, "known.json") == [("src/a.py", "LOC101")]


@pytest.mark.parametrize(
    "words", [["--write-baseline"], ["--write-baseline", "--strict"], ["a.py", "--write-baseline"]]
)
def test_without_a_file_the_baseline_of_the_settings_is_written(project: Project, words: list[str]) -> None:
    project.configure('baseline = "known.json"\n')
    project.write("a.py", LOG)
    assert project.check(*words).err == "Wrote 1 finding to known.json\n"


@pytest.mark.parametrize("path", ["src/", "src", "a.py", "missing", "nanlint.toml", "-", "src/*.py"])
def test_what_is_to_be_checked_is_not_taken_for_the_file_of_the_baseline(project: Project, path: str) -> None:
    project.write("src/b.py", LOG)
    project.write("a.py", LOG)
    before = project.read("nanlint.toml")
    outcome = project.check("--write-baseline", path)
    right = f"nanlint check {path} --write-baseline nanlint-baseline.json"
    assert (outcome.code, outcome.err) == (
        2,
        f"nanlint: --write-baseline {path}: a baseline is a .json file; to check {path}, write: {right}\n",
    )
    assert (project.read("nanlint.toml"), project.read("a.py")) == (before, LOG)
    assert not (project.folder / "nanlint-baseline.json").exists()


def test_a_json_file_that_is_no_baseline_is_not_overwritten(project: Project) -> None:
    project.write("train.json", '{"lr": 0.1}\n')
    outcome = project.check("--write-baseline", "train.json")
    assert (outcome.code, project.read("train.json")) == (2, '{"lr": 0.1}\n')
    assert "no baseline of nanlint" in outcome.err


@pytest.mark.parametrize("words", [["missing.py"], ["--strict", "."]])
def test_a_run_that_fails_writes_no_baseline(project: Project, words: list[str]) -> None:
    project.write("a.py", LOG)
    project.write("broken.py", BROKEN)
    outcome = project.check("--write-baseline", "known.json", *words)
    assert (outcome.code, (project.folder / "known.json").exists()) == (2, False)
    assert "known.json was not written, because the run failed" in outcome.err


def test_a_run_that_fails_leaves_the_old_baseline_as_it_is(project: Project) -> None:
    project.write("a.py", LOG)
    project.check("--write-baseline", "known.json")
    before = project.read("known.json")
    project.write("a.py", LOG + SQRT)
    outcome = project.check("--write-baseline", "known.json", ".", "missing.py")
    assert (outcome.code, codes(outcome), project.read("known.json")) == (2, ["LOC201"], before)


def test_a_baseline_tells_of_files_that_could_not_be_checked_and_keeps_what_it_knew_of_them(project: Project) -> None:
    project.write("a.py", LOG)
    project.check("--write-baseline", "known.json")
    project.write("a.py", BROKEN)
    outcome = project.check("--write-baseline", "known.json")
    change = "0 added, 0 removed, 1 kept, 1 of them not looked for in this run"
    assert outcome.err.splitlines() == [
        f"Wrote 1 finding to known.json ({change}); keep them quiet with --baseline known.json",
        "It lacks the findings of files that could not be checked: a.py",
    ]
    assert _known(project, "known.json") == [("a.py", "LOC101")]


def test_a_baseline_of_a_part_keeps_what_is_known_of_the_rest(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("src/b.py", LOG)
    project.check("--write-baseline", "known.json")
    project.write("src/b.py", SQRT)
    assert project.check("--write-baseline", "known.json", "src").err.startswith(
        "Wrote 2 findings to known.json (1 added, 1 removed, 1 kept, 1 of them not looked for in this run)"
    )
    assert _known(project, "known.json") == [("a.py", "LOC101"), ("src/b.py", "LOC201")]


def test_a_baseline_of_some_rules_keeps_what_others_found(project: Project) -> None:
    project.write("a.py", LOG + SQRT)
    project.check("--write-baseline", "known.json")
    project.check("--write-baseline", "known.json", "--select", "LOC201")
    assert _known(project, "known.json") == [("a.py", "LOC101"), ("a.py", "LOC201")]
    assert project.check("--baseline", "known.json", "--select", "LOC201").err == ""


def test_what_is_known_of_a_deleted_file_goes_when_its_folder_is_checked(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("src/b.py", LOG)
    project.check("--write-baseline", "known.json")
    (project.folder / "src/b.py").unlink()
    project.check("--write-baseline", "known.json", "a.py")
    part = _known(project, "known.json")
    project.check("--write-baseline", "known.json", "src")
    assert (part, _known(project, "known.json")) == (
        [("a.py", "LOC101"), ("src/b.py", "LOC101")],
        [("a.py", "LOC101")],
    )


@pytest.mark.parametrize("option", ["--fix", "--fix-only", "--diff", "--add-ignores", "--interactive"])
def test_a_baseline_is_not_written_while_files_are_changed(project: Project, option: str) -> None:
    project.write("a.py", LOG)
    outcome = project.check("--write-baseline", "known.json", option)
    assert (outcome.code, project.read("a.py")) == (2, LOG)
    assert outcome.err == f"nanlint: --write-baseline and {option}: choose one; the baseline comes last\n"


def test_two_names_for_the_baseline_are_one_too_many(project: Project) -> None:
    outcome = project.check("--write-baseline", "new.json", "--baseline", "old.json")
    assert outcome == (2, "", "nanlint: --write-baseline new.json and --baseline old.json: name one file\n")


def _known(project: Project, name: str) -> list[tuple[str, str]]:
    return [(row["path"], row["code"]) for row in json.loads(project.read(name))["findings"]]


def test_a_baseline_that_is_not_there_fails_the_run(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.check("--baseline", "none.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "nanlint: none.json: there is no baseline yet; write it with --write-baseline none.json\n"


def test_findings_that_are_gone_are_told(project: Project) -> None:
    project.write("a.py", LOG)
    project.check("--write-baseline")
    project.write("a.py", CLEAN)
    outcome = project.check("--baseline", "nanlint-baseline.json")
    gone = "nanlint-baseline.json: 1 known finding is gone; --write-baseline takes them out\n"
    assert (outcome.code, outcome.err) == (0, gone)


def test_findings_of_every_level_go_into_the_baseline(project: Project) -> None:
    project.write("a.py", EXP)
    project.check("--write-baseline", "known.json")
    assert _known(project, "known.json") == [("a.py", "LOC102")]
    assert project.check("--baseline", "known.json", "--severity", "info").code == 0


def test_a_known_finding_that_is_not_shown_is_not_gone(project: Project) -> None:
    project.write("a.py", EXP)
    project.check("--write-baseline", "known.json")
    project.write("b.py", EXP)
    outcome = project.check("--baseline", "known.json")
    assert (outcome.code, codes(outcome), outcome.err) == (0, [], "")


def test_fix_with_a_baseline_still_leaves_alone_what_is_not_shown(project: Project) -> None:
    project.configure('baseline = "known.json"\nseverity = "error"\n')
    project.write("a.py", CLEAN)
    project.check("--write-baseline")
    project.write("a.py", LOG)
    assert (project.check("--fix").code, project.read("a.py")) == (0, LOG)
