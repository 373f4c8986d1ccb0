"""Every command but `check`, the command line itself, and what a terminal gets that a pipe does not."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import nanlint
from nanlint.cli.main import parser
from tests.project import LOG, Project, environment

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = ("check", "trace", "plot", "checkpoint", "confirm", "diagnose", "explain", "rules", "clean", "completion")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


# -- the command line itself --------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version_is_one_line(project: Project, option: str) -> None:
    assert project.run(option) == (0, f"nanlint {nanlint.__version__}\n", "")


def test_the_package_runs_as_a_module(project: Project) -> None:
    assert project.spawn("--version") == (0, f"nanlint {nanlint.__version__}\n", "")


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)], ids=["nothing", "--help", "-h"])
def test_help_lists_every_command_with_examples_and_exit_codes(project: Project, words: tuple[str, ...]) -> None:
    outcome = project.run(*words)
    assert (outcome.code, outcome.err) == (0, "")
    assert re.findall(r"^    (\w+) ", outcome.out, re.MULTILINE) == list(COMMANDS)
    assert "\nexamples:\n  nanlint check src/" in outcome.out
    assert "\nexit codes: 0 nothing found, 1 findings, 2 the run itself failed\n" in outcome.out


def test_help_before_a_command_is_the_help_of_all(project: Project) -> None:
    assert project.run("--help", "check").out == project.run("--help").out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(project: Project, command: str) -> None:
    outcome = project.run(command, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"usage: nanlint {command} ")
    assert "\nexamples:\n  " in outcome.out


def test_every_option_has_help(project: Project) -> None:
    del project
    for command in COMMANDS:
        (commands,) = (action for action in parser(command)._actions if action.dest == "command")  # noqa: SLF001 - argparse has no public way
        assert isinstance(commands.choices, dict)
        assert all(action.help for action in commands.choices[command]._actions)  # noqa: SLF001 - as above


def test_help_is_as_wide_as_the_terminal(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    widths = []
    for columns in ("60", "120"):
        monkeypatch.setenv("COLUMNS", columns)
        described = project.run("check", "--help").out.partition("which rules:\n")[2].partition("\nexamples:")[0]
        widths.append(max(map(len, described.splitlines())))
    assert widths[0] <= 60 < widths[1] <= 120


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        pytest.param(["chekc"], "there is no command `chekc`; did you mean check?", id="a near miss"),
        pytest.param(["zzz"], "there is no command `zzz`", id="no near one"),
        pytest.param(
            ["nanlint.toml"],
            "there is no command `nanlint.toml`; did you mean nanlint check nanlint.toml?",
            id="a path",
        ),
    ],
)
def test_a_wrong_command_is_one_line(project: Project, words: list[str], complaint: str) -> None:
    assert project.run(*words) == (2, "", f"nanlint: {complaint} (see nanlint --help)\n")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        pytest.param(["--sevrity", "error"], "unrecognized arguments: --sevrity; did you mean --severity?", id="typed wrong"),
        pytest.param(["--foo"], "unrecognized arguments: --foo", id="like no other"),
        pytest.param(["--sel", "LOC"], "unrecognized arguments: --sel; did you mean --select?", id="abbreviated"),
        pytest.param(["--select"], "argument --select: expected one argument", id="without its value"),
        pytest.param(["--jobs", "many"], "argument -j/--jobs: invalid int value: 'many'", id="no number"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_one_line(project: Project, words: list[str], complaint: str) -> None:
    outcome = project.run("check", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"nanlint: {complaint} (see nanlint check --help)\n"


def test_a_wrong_choice_lists_the_right_ones(project: Project) -> None:
    outcome = project.run("check", "--severity", "fatal")
    assert outcome.code == 2
    assert all(word in outcome.err for word in ("error", "warning", "info"))


def test_the_program_ends_at_once_but_not_before_what_was_registered_for_its_end(project: Project) -> None:
    program = (
        "import atexit, sys; from nanlint.cli.main import main; atexit.register(print, 'bye'); main(); print('no')"
    )
    command = [sys.executable, "-c", program, "--version"]
    done = subprocess.run(command, cwd=project.folder, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"nanlint {nanlint.__version__}\nbye\n", "")


def test_a_profiler_gets_the_interpreter_back(project: Project) -> None:
    command = [sys.executable, "-m", "cProfile", "-m", "nanlint", "--version"]
    done = subprocess.run(command, cwd=project.folder, env=environment(), capture_output=True, text=True, check=False)
    assert "function calls" in done.stdout


def test_a_crash_ends_in_exit_code_2_and_asks_for_a_report(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nanlint.cli.rules.rulebook", lambda _folders: 1 // 0)
    outcome = project.run("rules")
    assert (outcome.code, outcome.out) == (2, "")
    assert "ZeroDivisionError" in outcome.err
    assert outcome.err.endswith(
        f"nanlint: crashed; please report the lines above, with nanlint {nanlint.__version__}\n"
    )


# -- rules and explain --------------------------------------------------------------------------------------------


def test_rules_lists_local_and_shipped_rules(project: Project) -> None:
    lines = project.run("rules").out.splitlines()
    assert "LOC101  bare-log: A logarithm is taken." in lines
    assert "LOC202  bare-tanh (preview): A hyperbolic tangent is taken." in lines
    assert any(line.startswith("NAN110  ") for line in lines)
    assert lines == sorted(lines)


def test_rules_as_json_is_one_object_per_rule(project: Project) -> None:
    rows = {row["code"]: row for row in json.loads(project.run("rules", "--json").out)}
    assert rows["LOC101"] | {"docs": ""} == {
        "code": "LOC101",
        "name": "bare-log",
        "severity": "warning",
        "summary": "A logarithm is taken.",
        "why": "It does not: the tests need rules that are easy to wake.",
        "docs": "",
        "url": "",
        "fix": "Safe, for the sake of the tests: `log1p`.",
        "preview": False,
    }
    assert rows["NAN110"]["url"].endswith("/NAN110.md")


def test_rules_is_a_table_in_colour_when_asked(project: Project) -> None:
    printed = project.run("rules", "--color", "always").out
    assert "\x1b[" in printed
    assert "what it finds" in printed


@pytest.mark.parametrize("name", ["LOC101", "loc101", "bare-log", "Bare_Log"])
def test_explain_takes_codes_and_names(project: Project, name: str) -> None:
    outcome = project.run("explain", name)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == project.run("explain", "LOC101").out
    assert "A logarithm is taken." in outcome.out
    assert "torch.log(x)" in outcome.out


def test_explain_prints_several_pages(project: Project) -> None:
    printed = project.run("explain", "LOC101", "LOC201").out
    assert 0 < printed.index("A logarithm is taken.") < printed.index("A root is taken.")


def test_explain_renders_the_page_in_colour_when_asked(project: Project) -> None:
    assert "\x1b[" in project.run("explain", "LOC101", "--color", "always").out


def test_explain_names_the_nearest_rule(project: Project) -> None:
    assert project.run("explain", "bare-lgo") == (2, "", "nanlint: there is no rule bare-lgo; did you mean bare-log?\n")


# -- completion ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shell", "check"), [("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"]), ("tcsh", ["-n"])], ids=str
)
def test_completion_is_a_script_that_the_shell_can_read(project: Project, shell: str, check: list[str]) -> None:
    script = project.run("completion", shell)
    assert (script.code, script.err) == (0, "")
    assert "explain" in script.out
    if shutil.which(shell):
        path = project.write("script", script.out)
        done = subprocess.run([shell, *check, str(path)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        pytest.param(["ex"], "explain", id="a command"),
        pytest.param(["check", "--unsafe"], "--unsafe-fixes", id="an option"),
        pytest.param(["check", "--fail-on", "w"], "warning", id="a choice"),
        pytest.param(["check", "nan"], "nanlint.toml", id="a file"),
    ],
)
def test_bash_completes_commands_options_choices_and_files(project: Project, words: list[str], offered: str) -> None:
    project.write("script", project.run("completion", "bash").out)
    line = ["nanlint", *words]
    program = (
        "source ./script; "
        f"COMP_WORDS=({' '.join(line)}); COMP_CWORD={len(line) - 1}; "
        '"$(complete -p nanlint | sed "s/.*-F \\([^ ]*\\).*/\\1/")" nanlint "${COMP_WORDS[COMP_CWORD]}"; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", program], cwd=project.folder, capture_output=True, text=True, check=False)
    assert offered in done.stdout.split()


# -- clean --------------------------------------------------------------------------------------------------------


def test_clean_deletes_the_cache(project: Project) -> None:
    project.write("a.py", LOG)
    project.run("check")
    assert (project.folder / ".nanlint_cache").is_dir()
    assert project.run("clean") == (0, "Deleted .nanlint_cache\n", "")
    assert not (project.folder / ".nanlint_cache").exists()


def test_clean_without_a_cache_has_nothing_to_do(project: Project) -> None:
    assert project.run("clean") == (0, "No cache to delete.\n", "")


@pytest.mark.parametrize(
    "tag",
    [
        pytest.param(None, id="no tag"),
        pytest.param("Signature: 8a477f597d28d172789f06886806bc55\n# made by another tool\n", id="another tool's tag"),
    ],
)
def test_clean_refuses_a_folder_that_is_not_ours(project: Project, tag: str | None) -> None:
    project.configure('cache-dir = "precious"\n')
    project.write("precious/thesis.tex", "")
    if tag is not None:
        project.write("precious/CACHEDIR.TAG", tag)
    complaint = "nanlint: precious was not made by nanlint; delete it by hand if you mean it\n"
    assert project.run("clean") == (2, "", complaint)
    assert (project.folder / "precious/thesis.tex").exists()


def test_a_folder_of_others_does_not_become_ours_by_caching_in_it(project: Project) -> None:
    project.configure('cache-dir = "."\n')
    project.write("a.py", LOG)
    project.run("check")
    assert project.run("clean").code == 2
    assert not (project.folder / ".gitignore").exists()
    assert project.read("a.py") == LOG
