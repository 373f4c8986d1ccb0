"""`nanlint check`, option by option, as somebody would use it on the first day."""

from __future__ import annotations

import json
import os
import subprocess
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from nanlint.settings import OUTPUT_FORMATS
from tests.project import (
    BROKEN,
    CLEAN,
    COMMAND,
    EXP,
    FIXED_LOG,
    LOG,
    LOG_FOUND,
    SQRT,
    TANH,
    Outcome,
    Project,
    environment,
)

if TYPE_CHECKING:
    from pathlib import Path

FOUND_ONE = "Found 1 problem (1 warning) in 1 of 1 file; 1 fixable with --fix.\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


def codes(outcome: Outcome) -> list[str]:
    """The codes in a concise report, in order."""
    lines = [line.split() for line in outcome.out.splitlines()]
    return [words[1] for words in lines if len(words) > 1 and words[1].startswith("LOC")]


# -- what is found, and the exit code -----------------------------------------------------------------------------


def test_a_clean_file_ends_in_exit_code_0(project: Project) -> None:
    project.write("a.py", CLEAN)
    assert project.check("a.py") == (0, "All clear: 1 file checked.\n", "")


def test_a_finding_ends_in_exit_code_1(project: Project) -> None:
    project.write("a.py", LOG)
    assert project.check("a.py") == (1, LOG_FOUND + FOUND_ONE, "")


def test_without_paths_the_working_directory_is_checked(project: Project) -> None:
    project.write("deep/er/a.py", LOG)
    assert codes(project.check()) == ["LOC101"]


def test_findings_come_in_the_order_of_paths_and_lines(project: Project) -> None:
    project.write("b.py", SQRT)
    project.write("a/z.py", LOG + "\n\ndef again(x):\n    return torch.sqrt(torch.log(x))\n")
    places = [line.split(": ")[0] for line in project.check("b.py", "a").out.splitlines()[:-1]]
    assert places == ["a/z.py:5:12", "a/z.py:9:12", "a/z.py:9:23", "b.py:5:12"]


def test_a_path_that_does_not_exist_is_an_error_and_the_others_are_checked(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.check("a.py", "aa.py")
    assert outcome.code == 2
    assert outcome.out.startswith(LOG_FOUND + 'aa.py: error: does not exist; did you mean "a.py"?\n')


def test_a_file_that_cannot_be_checked_fails_the_run_only_with_strict(project: Project) -> None:
    project.write("a.py", BROKEN)
    project.write("b.py", CLEAN)
    assert [project.check().code, project.check("--strict").code] == [0, 2]


def test_strict_alone_fails_no_run(project: Project) -> None:
    project.write("a.py", LOG)
    assert project.check("--strict").code == 1


def test_exit_zero_keeps_findings_from_failing_the_run(project: Project) -> None:
    project.write("a.py", LOG)
    assert project.check("--exit-zero") == (0, LOG_FOUND + FOUND_ONE, "")


def test_exit_zero_does_not_hide_that_the_run_failed(project: Project) -> None:
    assert project.check("--exit-zero", "nowhere.py").code == 2


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 1), ("info", 1)], ids=str)
def test_fail_on_is_the_mildest_severity_that_fails_the_run(project: Project, fail_on: str, code: int) -> None:
    project.write("a.py", LOG)
    assert project.check("--fail-on", fail_on) == (code, LOG_FOUND + FOUND_ONE, "")


def test_fail_on_looks_only_at_what_is_shown(project: Project) -> None:
    project.write("a.py", EXP)
    shown = project.check("--fail-on", "info", "--severity", "info").code
    assert [project.check("--fail-on", "info").code, shown] == [0, 1]


def test_files_of_which_all_are_excluded_end_in_exit_code_0(project: Project) -> None:
    project.write("build/a.py", LOG)
    assert project.check("--force-exclude", "build/a.py") == (0, "No files were checked.\n", "")


# -- which rules ------------------------------------------------------------------------------------------------


@pytest.fixture
def all_sorts(project: Project) -> Project:
    for name, text in (("a", LOG), ("b", EXP), ("c", SQRT), ("d", TANH)):
        project.write(f"{name}.py", text)
    return project


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param(["--select", "LOC101"], ["LOC101"], id="a code"),
        pytest.param(["--select", "loc101"], ["LOC101"], id="a code in small letters"),
        pytest.param(["--select", "LOC2"], ["LOC201"], id="a prefix"),
        pytest.param(["--select", "bare-sqrt"], ["LOC201"], id="a name"),
        pytest.param(["--select", "Bare_Sqrt"], ["LOC201"], id="a name as Python writes it"),
        pytest.param(["--select", "LOC101,bare-sqrt"], ["LOC101", "LOC201"], id="a list"),
        pytest.param(["--select", "LOC101", "--select", "LOC201"], ["LOC101", "LOC201"], id="the option twice"),
        pytest.param(["--select", "LOC", "--ignore", "LOC2"], ["LOC101"], id="ignore a prefix"),
        pytest.param(["--ignore", "bare-log"], ["LOC201"], id="ignore a name"),
        pytest.param(["--select", "LOC201", "--ignore", "LOC2"], ["LOC201"], id="the closer selector wins"),
        pytest.param(["--ignore", "LOC"], [], id="ignore as much as is selected"),
        pytest.param(["--select", "ALL", "--ignore", "NAN,LOC1"], ["LOC201"], id="everything but two prefixes"),
        pytest.param(["--select", "LOC101", "--extend-select", "LOC201"], ["LOC101", "LOC201"], id="extend"),
        pytest.param(["--severity", "info"], ["LOC101", "LOC102", "LOC201"], id="info too"),
        pytest.param(["--severity", "error"], ["LOC201"], id="errors only"),
        pytest.param(["--preview"], ["LOC101", "LOC201", "LOC202"], id="preview"),
        pytest.param(["--extend-select", "LOC202"], ["LOC101", "LOC201", "LOC202"], id="a preview rule by its code"),
        pytest.param(["--select", "bare-tanh"], ["LOC202"], id="a preview rule by its name"),
        pytest.param(["--select", "LOC20"], ["LOC201"], id="no preview rule by a prefix"),
    ],
)
def test_rules_are_chosen_by_code_prefix_or_name(all_sorts: Project, words: list[str], found: list[str]) -> None:
    assert codes(all_sorts.check(*words)) == found


@pytest.mark.parametrize("option", ["--select", "--ignore", "--extend-select"])
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        pytest.param("LOC11", "LOC101", id="a digit lost"),
        pytest.param("bare-lgo", "bare-log", id="letters swapped"),
    ],
)
def test_a_wrong_selector_names_the_nearest_right_one(project: Project, option: str, wrong: str, right: str) -> None:
    message = f"nanlint: {option}: there is no rule {wrong}; did you mean {right}?\n"
    assert project.check(option, wrong) == (2, "", message)


def test_a_wrong_selector_in_a_settings_file_is_named_with_its_line(project: Project) -> None:
    project.configure('ignore = ["LOC101", "LOC11"]\n')
    message = "nanlint: nanlint.toml:3 ignore: there is no rule LOC11; did you mean LOC101?\n"
    project.write("a.py", CLEAN)
    assert project.check() == (2, "", message)


def test_a_wrong_selector_in_per_file_ignores_is_named_with_its_line(project: Project) -> None:
    project.configure('[per-file-ignores]\n"a.py" = ["bare-lgo"]\n')
    project.write("a.py", CLEAN)
    outcome = project.check()
    assert outcome.code == 2
    assert outcome.err.startswith("nanlint: nanlint.toml:4 ")
    assert outcome.err.endswith("there is no rule bare-lgo; did you mean bare-log?\n")


def test_per_file_ignores_hold_for_their_files_alone(project: Project) -> None:
    project.configure('[per-file-ignores]\n"tests/*" = ["LOC1"]\n')
    project.write("tests/a.py", LOG)
    project.write("b.py", LOG)
    assert [line.split(":")[0] for line in project.check().out.splitlines()[:-1]] == ["b.py"]


def test_a_rule_has_the_severity_that_the_settings_give_it(project: Project) -> None:
    project.configure('[rules.bare-log]\nseverity = "error"\n[rules.LOC201]\nseverity = "info"\n')
    project.write("a.py", LOG)
    project.write("b.py", SQRT)
    outcome = project.check()
    assert (codes(outcome), outcome.out.splitlines()[-1]) == (
        ["LOC101"],
        "Found 1 problem (1 error) in 1 of 2 files; 1 fixable with --fix.",
    )


def test_a_rule_has_the_options_that_the_settings_give_it(project: Project) -> None:
    project.configure('[rules.LOC201]\nnoun = "radix"\n[rules.bare-sqrt]\nshout = true\n')
    project.write("a.py", SQRT)
    assert project.check("-q").out == "a.py:5:12: LOC201 `torch.sqrt(x)` is a RADIX [bare-sqrt]\n"


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        pytest.param(
            '[rules.LOC201]\nnuon = "x"\n',
            "nanlint.toml:4 [rules.LOC201] nuon: LOC201 has no such option; did you mean noun?",
            id="a near miss",
        ),
        pytest.param(
            "[rules.LOC101]\nnoun = 1\n",
            "nanlint.toml:4 [rules.LOC101] noun: LOC101 has no such option; it has none",
            id="a rule without options",
        ),
        pytest.param(
            "[rules.LOC201]\nnoun = 1\n",
            "nanlint.toml:4 [rules.LOC201] noun: LOC201 takes a text here, not 1",
            id="a number for a text",
        ),
        pytest.param(
            '[rules.LOC201]\nshout = "yes"\n',
            "nanlint.toml:4 [rules.LOC201] shout: LOC201 takes true or false here, not 'yes'",
            id="a text for a switch",
        ),
        pytest.param(
            "[rules.LOC201]\ncount = 1.5\n",
            "nanlint.toml:4 [rules.LOC201] count: LOC201 takes a whole number here, not 1.5",
            id="a fraction for a whole number",
        ),
        pytest.param(
            "[rules.LOC2]\nshout = true\n",
            "nanlint.toml:3 [rules] LOC2: there is no rule LOC2; did you mean LOC202?",
            id="a prefix",
        ),
    ],
)
def test_a_wrong_option_of_a_rule_is_named_with_its_line(project: Project, table: str, complaint: str) -> None:
    project.configure(table)
    project.write("a.py", CLEAN)
    assert project.check() == (2, "", f"nanlint: {complaint}\n")


def test_a_whole_number_will_do_where_a_rule_takes_any_number(project: Project) -> None:
    project.configure("[rules.LOC201]\nlimit = 2\n")
    project.write("a.py", CLEAN)
    assert project.check().code == 0


# -- which files ------------------------------------------------------------------------------------------------


def test_globs_are_ours_to_expand(project: Project) -> None:
    project.write("src/a.py", LOG)
    project.write("src/deep/b.py", LOG)
    project.write("other/c.py", LOG)
    shown = project.run("check", "--show-files", "src/**/*.py").out
    assert shown == "src/a.py\nsrc/deep/b.py\n"


def test_a_glob_that_matches_nothing_is_an_error(project: Project) -> None:
    outcome = project.check("src/*.py")
    assert outcome.code == 2
    assert "src/*.py: error:" in outcome.out


def test_show_files_lists_what_would_be_checked_and_checks_nothing(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b.pyi", CLEAN)
    project.write("c.ipynb", "{}")
    project.write("d.yaml", "")
    project.write("e.txt", "")
    assert project.run("check", "--show-files") == (0, "a.py\nb.pyi\nc.ipynb\nd.yaml\nnanlint.toml\n", "")


def test_show_files_fails_for_a_path_that_does_not_exist(project: Project) -> None:
    project.write("a.py", LOG)
    assert project.run("check", "--show-files", "a.py", "b/c.py") == (2, "a.py\n", "b/c.py: does not exist\n")


def test_include_and_exclude_on_the_command_line(project: Project) -> None:
    for name in ("a.py", "b.py", "c.pyi", "d.pyx"):
        project.write(name, LOG)
    outcome = project.run("check", "--show-files", "--include", "*.py,*.pyx", "--extend-exclude", "b*")
    assert outcome.out == "a.py\nd.pyx\n"


def test_exclude_replaces_the_default_and_extend_exclude_adds_to_it(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("build/b.py", LOG)
    only = project.run("check", "--show-files", "--include", "*.py", "--exclude", "a.py").out
    both = project.run("check", "--show-files", "--include", "*.py", "--extend-exclude", "a.py").out
    assert [only, both] == ["build/b.py\n", ""]


def test_a_named_file_is_checked_though_excluded_unless_exclusion_is_forced(project: Project) -> None:
    project.write("build/a.py", LOG)
    named = project.check("build/a.py")
    forced = project.check("--force-exclude", "build/a.py")
    assert [codes(named), codes(forced)] == [["LOC101"], []]


def test_what_git_ignores_is_left_out_unless_told_otherwise(project: Project) -> None:
    project.write(".gitignore", "scratch/\n")
    (project.folder / ".git").mkdir()
    project.write("scratch/a.py", LOG)
    assert [codes(project.check()), codes(project.check("--no-respect-gitignore"))] == [[], ["LOC101"]]


def test_config_files_are_found_and_not_counted_while_no_rule_reads_them(project: Project) -> None:
    project.write("train.yaml", "loss: torch.log\n")
    assert project.check("train.yaml") == (0, "No files were checked.\n", "")


def test_stub_files_are_checked(project: Project) -> None:
    project.write("a.pyi", LOG)
    assert project.check("-q").out == LOG_FOUND.replace("a.py", "a.pyi")


def test_a_named_file_without_suffix_is_taken_for_python(project: Project) -> None:
    project.write("train", LOG)
    assert codes(project.check("train")) == ["LOC101"]


def test_a_path_that_begins_with_a_dash_goes_behind_two(project: Project) -> None:
    project.write("-a.py", LOG)
    assert project.check("-q", "--", "-a.py").out == f"-{LOG_FOUND}"


def test_the_nearest_settings_file_holds_for_each_file(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b/c.py", LOG)
    project.write("b/nanlint.toml", 'extend = "../nanlint.toml"\nignore = ["LOC101"]\n')
    assert [line.split(":")[0] for line in project.check().out.splitlines()[:-1]] == ["a.py"]


def test_isolated_reads_no_settings_files(project: Project) -> None:
    project.write("nanlint.toml", "this is no TOML")
    project.write("a.py", CLEAN)
    assert [project.check().code, project.check("--isolated").code] == [2, 0]


def test_config_names_the_settings_file_for_all_files(project: Project) -> None:
    project.write("b/c.py", LOG)
    project.write("b/nanlint.toml", "")
    (project.folder / "nanlint.toml").rename(project.folder / "other.toml")
    assert codes(project.check("--config", "other.toml", "b")) == ["LOC101"]


# -- stdin ------------------------------------------------------------------------------------------------------


def test_stdin_is_checked_under_the_name_it_is_given(project: Project) -> None:
    outcome = project.check("-", "--stdin-filename", "a.py", stdin=LOG.encode())
    assert outcome == (1, LOG_FOUND + FOUND_ONE, "")


def test_stdin_without_a_name_is_called_dash(project: Project) -> None:
    assert project.check("-q", "-", stdin=LOG.encode()).out == LOG_FOUND.replace("a.py", "-")


def test_the_frame_of_a_finding_shows_what_came_through_stdin(project: Project) -> None:
    project.write("a.py", "other = 1\n")
    outcome = project.check("-", "--stdin-filename", "a.py", "-f", "full", stdin=LOG.encode())
    assert "5 |     return torch.log(x)\n  |            ^^^^^^^^^^^^\n" in outcome.out


@pytest.mark.parametrize("option", ["--fix", "--add-ignores"])
def test_changed_stdin_goes_to_stdout_and_the_report_to_stderr(project: Project, option: str) -> None:
    changed = {"--fix": FIXED_LOG, "--add-ignores": LOG[:-1] + "  # nanlint: ignore[LOC101]\n"}[option]
    outcome = project.check("-", "--stdin-filename", "a.py", option, stdin=LOG.encode())
    assert (outcome.code, outcome.out) == (0, changed)
    assert "All clear: 1 file checked." in outcome.err


def test_stdin_that_needs_no_fix_is_printed_as_it_came(project: Project) -> None:
    source = b"\xef\xbb\xbfx = 1\r\ny = '\xc3\xa9'\r\n"
    assert project.check("-", "--fix", stdin=source).out.encode() == source


def test_stdin_that_is_excluded_is_printed_as_it_came(project: Project) -> None:
    words = ("-", "--fix", "--force-exclude", "--stdin-filename", "build/a.py")
    assert project.check(*words, stdin=LOG.encode()).out == LOG


def test_the_setting_fix_prints_changed_stdin_too(project: Project) -> None:
    project.configure("fix = true\n")
    assert project.check("-", stdin=LOG.encode()).out == FIXED_LOG


def test_the_diff_of_stdin_goes_to_stdout(project: Project) -> None:
    outcome = project.check("-", "--stdin-filename", "a.py", "--diff", stdin=LOG.encode())
    assert (outcome.code, outcome.out.splitlines()[-2:]) == (
        1,
        ["-    return torch.log(x)", "+    return torch.log1p(x)"],
    )


def test_stdin_is_not_combined_with_paths(project: Project) -> None:
    message = "nanlint: `-` (stdin) cannot be combined with other paths\n"
    assert project.check("-", "a.py") == (2, "", message)


def test_a_name_for_stdin_needs_stdin(project: Project) -> None:
    assert project.check("--stdin-filename", "a.py").code == 2


def test_stdin_that_is_a_config_file_is_not_taken_for_python(project: Project) -> None:
    outcome = project.check("-", "--stdin-filename", "a.yaml", stdin=b"loss: torch.log(\n")
    assert outcome == (0, "No files were checked.\n", "")


def test_closed_stdin_is_an_error(project: Project) -> None:
    if os.name != "posix":
        pytest.skip("closing a descriptor is the shell's business on POSIX only")
    command = f"{' '.join(COMMAND)} check - <&-"
    done = subprocess.run(
        ["sh", "-c", command], cwd=project.folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, "nanlint: `-` means stdin, which is closed\n")


# -- notebooks --------------------------------------------------------------------------------------------------


def notebook(*sources: str) -> str:
    cells = [
        {"outputs": [{"text": ["1\n"]}], "cell_type": "code", "execution_count": 7, "metadata": {}, "source": source}
        for source in sources
    ]
    document = {"nbformat_minor": 5, "nbformat": 4, "cells": cells, "metadata": {"b": 1, "a": 2}}
    return json.dumps(document, indent=3) + "\n\n"


def test_a_finding_in_a_notebook_is_told_by_cell_and_line(project: Project) -> None:
    project.write("a.ipynb", notebook("import torch", "x = torch.ones(1)\ny = torch.log(x)"))
    found = "a.ipynb:cell 2:2:5: LOC101 [*] `torch.log(x)` is a logarithm [bare-log]\n"
    assert project.check("-q") == (1, found, "")


def test_a_fix_in_a_notebook_changes_the_source_of_its_cell_alone(project: Project) -> None:
    before = notebook("%matplotlib inline\nimport torch", "x = torch.ones(1)\ny = torch.log(x)")
    project.write("a.ipynb", before)
    assert project.check("--fix").code == 0
    assert project.read("a.ipynb") == before.replace("torch.log(", "torch.log1p(")


def test_a_syntax_error_in_a_notebook_is_told_by_cell_and_line(project: Project) -> None:
    project.write("a.ipynb", notebook("import torch", "x = 1\ntorch.log(("))
    outcome = project.check("-q")
    assert outcome.out.startswith("a.ipynb: error: cell 2, line 2: not valid Python")


def test_the_frame_of_a_finding_in_a_notebook_shows_its_cell(project: Project) -> None:
    project.write("a.ipynb", notebook("import torch", "x = torch.ones(1)\ny = torch.log(x)"))
    assert "2 | y = torch.log(x)\n  |     ^^^^^^^^^^^^\n" in project.check("-f", "full").out


def test_a_notebook_comes_through_stdin(project: Project) -> None:
    before = notebook("import torch", "x = torch.ones(1)\ny = torch.log(x)")
    words = ("-", "--stdin-filename", "a.ipynb")
    frame = project.check(*words, "-f", "full", stdin=before.encode()).out
    fixed = project.check(*words, "--fix", stdin=before.encode()).out
    assert "2 | y = torch.log(x)\n" in frame
    assert fixed == before.replace("torch.log(", "torch.log1p(")


def test_the_suffix_of_a_notebook_may_be_in_capitals(project: Project) -> None:
    project.write("a.IPYNB", notebook("import torch\nx = torch.log(torch.ones(1))"))
    assert codes(project.check("a.IPYNB")) == []
    assert "cell 1:2:5: LOC101" in project.check("a.IPYNB").out


# -- changing files ---------------------------------------------------------------------------------------------


def test_fix_applies_safe_fixes_and_reports_the_rest(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b.py", SQRT)
    outcome = project.check("--fix")
    assert (outcome.code, outcome.out.splitlines()[-1]) == (
        1,
        "Found 1 problem (1 error) in 1 of 2 files. Fixed 1 problem.",
    )
    assert [project.read("a.py"), project.read("b.py")] == [FIXED_LOG, SQRT]


def test_a_run_that_fixed_everything_ends_in_exit_code_0(project: Project) -> None:
    project.write("a.py", LOG)
    assert project.check("--fix") == (0, "All clear: 1 file checked. Fixed 1 problem.\n", "")


def test_fixing_twice_changes_nothing_more(project: Project) -> None:
    project.write("a.py", LOG)
    outcomes = [project.run("check", "--fix") for _ in range(2)]
    assert outcomes[1] == (0, "All clear: 1 file checked.\n", "")


def test_unsafe_fixes_are_applied_when_asked_for(project: Project) -> None:
    project.write("a.py", EXP)
    before = project.check("--fix", "--severity", "info").code
    after = project.check("--fix", "--unsafe-fixes", "--severity", "info").code
    assert [before, after, project.read("a.py")] == [1, 0, EXP.replace("torch.exp(", "torch.expm1(")]


def test_what_is_not_shown_is_not_fixed(project: Project) -> None:
    project.write("a.py", EXP)
    project.check("--fix", "--unsafe-fixes")
    assert project.read("a.py") == EXP


def test_no_fix_on_the_command_line_overrules_the_setting(project: Project) -> None:
    project.configure("fix = true\n")
    project.write("a.py", LOG)
    assert (project.check("--no-fix").code, project.read("a.py")) == (1, LOG)


def test_diff_shows_what_fix_would_change_and_writes_nothing(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.check("--diff")
    expected = [
        "--- a.py",
        "+++ a.py",
        "@@ -2,4 +2,4 @@",
        " ",
        " ",
        " def entropy(x):",
        "-    return torch.log(x)",
        "+    return torch.log1p(x)",
    ]
    assert (outcome.code, outcome.out.splitlines(), outcome.err) == (1, expected, "Would fix 1 finding.\n")
    assert project.read("a.py") == LOG


def test_diff_ends_in_exit_code_0_when_nothing_would_change(project: Project) -> None:
    project.write("a.py", SQRT)
    assert project.check("--diff") == (0, "", "")


def test_diff_tells_what_could_not_be_checked(project: Project) -> None:
    project.write("a.py", BROKEN)
    outcome = project.check("--diff")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.startswith("a.py:4: not valid Python")


def test_diff_and_add_ignores_show_the_suppressions(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.check("--diff", "--add-ignores")
    assert outcome.out.splitlines()[-1] == "+    return torch.log(x)  # nanlint: ignore[LOC101]"
    assert (outcome.err, project.read("a.py")) == ("Would suppress 1 finding.\n", LOG)


def test_add_ignores_silences_everything_that_is_found(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b/c.py", SQRT)
    outcome = project.check("--add-ignores", "--reason", "since 2019", "a.py", "b")
    assert (outcome.code, outcome.err) == (0, "Suppressed 2 findings.\n")
    assert project.read("b/c.py") == SQRT[:-1] + "  # nanlint: ignore[LOC201] since 2019\n"
    assert project.check() == (0, "All clear: 2 files checked. Kept quiet: 2 suppressed.\n", "")


def test_add_ignores_suppresses_only_what_is_shown(project: Project) -> None:
    project.write("a.py", EXP)
    project.check("--add-ignores")
    assert project.read("a.py") == EXP


def test_fix_and_add_ignores_are_one_too_many(project: Project) -> None:
    outcome = project.check("--fix", "--add-ignores")
    assert (outcome.code, outcome.err) == (
        2,
        "nanlint: --fix and --add-ignores: choose one; fix first, then suppress what is left\n",
    )


def test_a_reason_needs_add_ignores(project: Project) -> None:
    assert project.check("--reason", "since 2019").code == 2


def test_a_file_that_cannot_be_written_keeps_its_findings(project: Project) -> None:
    path = project.write("a.py", LOG)
    path.chmod(0o444)
    outcome = project.check("--fix")
    assert outcome.code == 1
    assert outcome.out.startswith(
        LOG_FOUND + "a.py: error: not changed: the file is read-only; make it writable (chmod u+w) or exclude it\n"
    )


# -- baseline ---------------------------------------------------------------------------------------------------


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


def test_write_baseline_takes_no_path_for_its_file(project: Project) -> None:
    project.write("src/a.py", LOG)
    project.check("--write-baseline", "src/")
    assert (project.folder / "nanlint-baseline.json").is_file()


def test_a_baseline_that_is_not_there_fails_the_run(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.check("--baseline", "none.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "nanlint: none.json: there is no baseline yet; write it with --write-baseline\n"


def test_findings_that_are_gone_are_told(project: Project) -> None:
    project.write("a.py", LOG)
    project.check("--write-baseline")
    project.write("a.py", CLEAN)
    outcome = project.check("--baseline", "nanlint-baseline.json")
    gone = "nanlint-baseline.json: 1 known finding is gone; --write-baseline takes them out\n"
    assert (outcome.code, outcome.err) == (0, gone)


def test_only_what_is_shown_goes_into_the_baseline(project: Project) -> None:
    project.write("a.py", EXP)
    assert project.check("--write-baseline").err.startswith("Wrote 0 findings")


# -- what is printed --------------------------------------------------------------------------------------------


def test_quiet_leaves_findings_only(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b.py", CLEAN)
    assert [project.check("-q"), project.check("-q", "b.py")] == [(1, LOG_FOUND, ""), (0, "", "")]


def test_verbose_tells_settings_rules_files_and_cache_on_stderr(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.run("check", "-v")
    assert (outcome.out, outcome.err.splitlines()) == (
        LOG_FOUND + FOUND_ONE,
        [
            "settings: nanlint.toml",
            "rules: LOC101, LOC102, LOC201",
            "files: 2 files, 0 of them from the cache in .nanlint_cache",
        ],
    )


def test_statistics_count_by_rule_instead_of_listing(project: Project) -> None:
    project.write("a.py", LOG + LOG)
    project.write("b.py", SQRT)
    assert project.check("--statistics").out.splitlines() == [
        "2  LOC101  bare-log   [*]",
        "1  LOC201  bare-sqrt",
        "[*] fixable with --fix",
        "Found 3 problems (1 error, 2 warnings) in 2 of 2 files; 2 fixable with --fix.",
    ]


def test_statistics_do_not_hide_what_could_not_be_checked(project: Project) -> None:
    project.write("a.py", BROKEN)
    assert project.check("--statistics").out.startswith("a.py:4: error: not valid Python")


def test_statistics_beside_a_report_for_programs_go_to_stderr(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.check("--statistics", "-f", "json")
    assert len(json.loads(outcome.out)["findings"]) == 1
    assert outcome.err.startswith("1  LOC101  bare-log  [*]\n")


def test_the_output_format_may_be_a_setting(project: Project) -> None:
    project.configure('output-format = "json"\n')
    project.write("a.py", LOG)
    assert json.loads(project.check().out)["findings"][0]["code"] == "LOC101"


@pytest.mark.parametrize("format_name", OUTPUT_FORMATS)
def test_every_format_goes_to_a_file_as_it_goes_to_stdout(project: Project, format_name: str) -> None:
    project.write("a.py", LOG)
    printed = project.check("-f", format_name)
    written = project.check("-f", format_name, "-o", "report.txt")
    assert project.read("report.txt") == printed.out
    assert written == (1, FOUND_ONE, "")


def test_json_on_stdout_is_the_contract_and_nothing_else(project: Project) -> None:
    project.write("a.py", LOG)
    document = json.loads(project.check("-f", "json", "a.py", "b.py").out)
    place = {key: document["findings"][0][key] for key in ("code", "path", "line", "column", "function")}
    assert place == {"code": "LOC101", "path": "a.py", "line": 5, "column": 12, "function": "entropy"}
    assert document["errors"] == [{"path": "b.py", "line": None, "message": "does not exist"}]


def test_junit_on_stdout_is_xml(project: Project) -> None:
    project.write("a.py", LOG)
    assert ET.fromstring(project.check("-f", "junit").out).tag == "testsuites"  # noqa: S314 - our own output


def test_a_report_file_in_a_folder_that_is_not_there_is_an_error(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.check("-o", "reports/out.txt")
    assert (outcome.code, outcome.err) == (
        2,
        "nanlint: --output-file reports/out.txt: cannot be written: No such file or directory\n",
    )


def test_a_report_goes_to_a_device(project: Project) -> None:
    project.write("a.py", LOG)
    assert project.check("-o", os.devnull) == (1, FOUND_ONE, "")


def test_colour_comes_when_asked_for_and_changes_no_character(project: Project) -> None:
    project.write("a.py", LOG)
    plain, painted = (project.check("-f", "full", "--color", choice).out for choice in ("never", "always"))
    assert "\x1b[" in painted
    assert "".join(part.partition("m")[2] for part in ("m" + painted).split("\x1b[")) == plain


def test_what_a_terminal_cannot_print_is_escaped(project: Project) -> None:
    project.write("a.py", LOG.replace("x", "größe"))
    outcome = project.spawn("check", "--no-cache", "-q", environ={"PYTHONIOENCODING": "ascii"})
    assert outcome == (1, LOG_FOUND.replace("(x)", "(gr\\xf6\\xdfe)"), "")


def test_what_programs_read_is_utf8_whatever_the_terminal_speaks(project: Project) -> None:
    project.write("a.py", LOG.replace("x", "größe"))
    environ = {"PYTHONIOENCODING": "latin-1"}
    outcome = project.spawn("check", "--no-cache", "-f", "json", environ=environ, encoding="utf-8")
    assert "größe" in json.loads(outcome.out)["findings"][0]["message"]


# -- settings ---------------------------------------------------------------------------------------------------


def test_show_settings_prints_those_of_the_first_path(project: Project) -> None:
    project.write("b/c.py", LOG)
    project.write("b/nanlint.toml", 'select = ["LOC201"]\n')
    for path in ("b", "b/c.py", "b/new.py"):
        shown = project.run("check", "--show-settings", path).out
        assert 'select = ["LOC201"]  # b/nanlint.toml:1' in shown.splitlines()


def test_show_settings_tells_what_the_command_line_adds(project: Project) -> None:
    shown = project.run("check", "--show-settings", "--severity", "error").out
    assert 'severity = "error"  # command line' in shown.splitlines()


def test_a_settings_file_that_is_wrong_fails_the_run_with_one_line(project: Project) -> None:
    project.write("nanlint.toml", 'selct = ["LOC"]\n')
    outcome = project.check()
    assert outcome == (2, "", 'nanlint: nanlint.toml:1 selct: no such setting; did you mean "select"?\n')


# -- how it runs ------------------------------------------------------------------------------------------------


def test_no_gate_finds_the_same(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b.py", CLEAN)
    assert project.check("--no-gate") == project.check()


@pytest.mark.parametrize("jobs", ["0", "1", "2", "5"])
def test_the_number_of_processes_changes_no_finding(project: Project, jobs: str) -> None:
    for number in range(4):
        project.write(f"{number}.py", LOG)
    places = [line.split(":")[0] for line in project.check("-q", "--jobs", jobs).out.splitlines()]
    assert places == ["0.py", "1.py", "2.py", "3.py"]


def test_a_negative_number_of_processes_is_an_error(project: Project) -> None:
    assert project.check("--jobs", "-1").code == 2


def test_a_reader_that_goes_away_ends_the_run_quietly(project: Project) -> None:
    for number in range(200):
        project.write(f"{number}.py", LOG * 20)
    words = [*COMMAND, "check", "--no-cache", "--jobs", "1"]
    with subprocess.Popen(
        words, cwd=project.folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 2)


def test_a_reader_that_goes_away_before_a_short_report_ends_the_run_quietly(project: Project) -> None:
    project.write("a.py", LOG)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, "check", "--no-cache"], cwd=project.folder, env=environment(), stdout=writing,
        stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (2, b"")


def test_closed_stdout_is_no_crash(project: Project) -> None:
    if os.name != "posix":
        pytest.skip("closing a descriptor is the shell's business on POSIX only")
    project.write("a.py", LOG)
    command = f"{' '.join(COMMAND)} check --no-cache >&-"
    done = subprocess.run(
        ["sh", "-c", command], cwd=project.folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")


# -- noqa beside ruff -------------------------------------------------------------------------------------------

NAN_RULE = '''
from nanlint.rule import Rule, Severity


class Marked(Rule):
    """A logarithm with a code of our own kind."""

    code = "NAN990"
    name = "marked-log"
    severity = Severity.WARNING
    calls = frozenset({"torch.log"})

    def check_call(self, call, facts):
        yield self.finding(facts.span_of(call.node), "a logarithm")
'''
WARNING = 'warning: {}: ruff takes `# noqa: NAN…` for a mistake of yours; add {} = ["NAN"]\n'


@pytest.fixture
def with_noqa(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write("rules/marked.py", NAN_RULE)
    project.write("nanlint.toml", 'local-rules = ["rules"]\nselect = ["NAN990"]\n')
    project.write("a.py", LOG[:-1] + "  # noqa: NAN990\n")
    return project


@pytest.mark.parametrize(
    ("name", "text", "key"),
    [
        pytest.param("ruff.toml", "line-length = 99\n", "lint.external", id="ruff.toml"),
        pytest.param(".ruff.toml", "", "lint.external", id="an empty .ruff.toml"),
        pytest.param("pyproject.toml", "[tool.ruff]\n", "tool.ruff.lint.external", id="pyproject.toml"),
        pytest.param("ruff.toml", 'lint.external = ["ABC"]\n', "lint.external", id="others only"),
    ],
)
def test_noqa_beside_ruff_is_warned_about_once(with_noqa: Project, name: str, text: str, key: str) -> None:
    with_noqa.write(name, text)
    with_noqa.write("b.py", with_noqa.read("a.py"))
    outcomes = [with_noqa.run("check") for _ in range(2)]
    closing = "All clear: 3 files checked. Kept quiet: 2 suppressed.\n"
    assert outcomes == [(0, closing, WARNING.format(name, key))] * 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("ruff.toml", 'lint.external = ["NAN"]\n', id="told by prefix"),
        pytest.param("ruff.toml", 'external = ["NAN990"]\n', id="told by code, in the old place"),
        pytest.param("pyproject.toml", '[tool.ruff.lint]\nexternal = ["NAN"]\n', id="told in pyproject.toml"),
        pytest.param("ruff.toml", 'extend = "rules/base.toml"\n', id="told in a file that it extends"),
        pytest.param("pyproject.toml", "[tool.black]\n", id="no ruff"),
        pytest.param("ruff.toml", "broken", id="a file that ruff cannot read either"),
    ],
)
def test_noqa_is_not_warned_about_where_ruff_knows_or_is_not_used(with_noqa: Project, name: str, text: str) -> None:
    with_noqa.write("rules/base.toml", 'lint.external = ["NAN"]\n')
    with_noqa.write(name, text)
    assert with_noqa.check().err == ""


def test_our_own_comment_is_not_warned_about(with_noqa: Project) -> None:
    with_noqa.write("ruff.toml", "")
    with_noqa.write("a.py", LOG[:-1] + "  # nanlint: ignore[NAN990]\n")
    assert with_noqa.check().err == ""


def test_quiet_does_not_warn(with_noqa: Project) -> None:
    with_noqa.write("ruff.toml", "")
    assert with_noqa.check("-q") == (0, "", "")
