"""`nanlint check` as somebody would use it on the first day: exit codes, rules, files, settings, processes."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.project import (
    BROKEN,
    CLEAN,
    COMMAND,
    EXP,
    FOUND_ONE,
    LOG,
    LOG_FOUND,
    SQRT,
    TANH,
    Project,
    codes,
    environment,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


# -- what is found, and the exit code ----------------------------------------------------------------------------------


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


# -- which rules -------------------------------------------------------------------------------------------------------


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


# -- which files -------------------------------------------------------------------------------------------------------


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


def test_a_config_file_counts_if_it_is_named_or_something_is_found_in_it(project: Project) -> None:
    project.write("train.yaml", "loss: torch.log\n")
    assert project.check("train.yaml") == (0, "All clear: 1 file checked.\n", "")
    assert project.check() == (0, "No files were checked.\n", "")


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


# -- settings ----------------------------------------------------------------------------------------------------------


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


# -- how it runs -------------------------------------------------------------------------------------------------------


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
        assert (process.stderr.read(), process.wait()) == (b"", 141)


def test_a_reader_that_goes_away_before_a_short_report_ends_the_run_quietly(project: Project) -> None:
    project.write("a.py", LOG)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, "check", "--no-cache"], cwd=project.folder, env=environment(), stdout=writing,
        stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_closed_stdout_is_no_crash(project: Project) -> None:
    if os.name != "posix":
        pytest.skip("closing a descriptor is the shell's business on POSIX only")
    project.write("a.py", LOG)
    command = f"{' '.join(COMMAND)} check --no-cache >&-"
    done = subprocess.run(
        ["sh", "-c", command], cwd=project.folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
