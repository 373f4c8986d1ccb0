"""`nanlint check` on what is no plain file: odd layouts, stdin and notebooks."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from nanlint.engine.check_file import check_text
from nanlint.engine.checker import Checker
from nanlint.settings import Settings
from tests.project import CHECKOUT, CLEAN, COMMAND, FIXED_LOG, FOUND_ONE, LOG, LOG_FOUND, Project, codes, environment

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


# -- Python that is written in odd ways --------------------------------------------------------------------------------


ODD = {
    "form feed before a block": LOG.replace("    return", "\f    return"),
    "form feed behind blanks": LOG.replace("    return", "  \f    return"),
    "backslash before a statement": LOG.replace("    return", "    \\\n    return"),
    "old line ends": LOG.replace("\n", "\r"),
    "windows line ends": LOG.replace("\n", "\r\n"),
    "mark of UTF-8": "\ufeff" + LOG,
    "no line end": LOG.rstrip("\n"),
    "backslash at the end": LOG.rstrip("\n") + " \\\n\n",
    "form feed at the end": LOG + "\f",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_what_python_reads_is_checked_and_fixed_to_the_byte(project: Project, text: str) -> None:
    project.write("a.py", text.encode())
    outcome = project.check("-q", "--strict")
    assert (outcome.code, codes(outcome), outcome.err) == (1, ["LOC101"], "")
    project.check("--fix")
    assert (project.folder / "a.py").read_bytes() == text.replace("torch.log(", "torch.log1p(").encode()


def test_a_form_feed_in_a_training_loop_is_no_internal_error() -> None:
    text = (CHECKOUT / "fixtures/NAN412_check_too_late/bad.py").read_text(encoding="utf-8")
    ruleset = Checker(gated=True).ruleset(Settings())
    before = check_text(text, "a.py", ruleset)
    after = check_text(text.replace(":\n    ", ":\n\f    "), "a.py", ruleset)
    assert (
        [(finding.code, finding.span.line) for finding in after.findings]
        == [(finding.code, finding.span.line) for finding in before.findings]
        != []
    )
    assert after.errors == []


# -- what cannot be checked is told -------------------------------------------------------------------------------------

NO_PYTHON = "error: not valid Python"
WRONG = "x = = 1\n"
NOTEBOOK = '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": ["x = = 1"]}], "metadata": {}}'


@pytest.mark.parametrize("words", [[], ["a.py"], ["--no-gate"], ["--jobs", "2"], ["--no-cache"]])
def test_a_syntax_error_is_told_though_nothing_in_the_file_is_about_torch(project: Project, words: list[str]) -> None:
    project.write("a.py", WRONG)
    for _ in range(2):  # what the cache keeps must not hide it
        outcome = project.check(*words)
        assert (outcome.code, "a.py:1: " + NO_PYTHON in outcome.out, "All clear" in outcome.out) == (0, True, False)
        assert project.check("--strict", *words).code == 2


@pytest.mark.parametrize(("name", "text"), [("a.pyi", WRONG), ("a.ipynb", NOTEBOOK), ("script", WRONG)])
def test_a_syntax_error_is_told_in_every_kind_of_python(project: Project, name: str, text: str) -> None:
    project.write(name, text)
    assert project.check("--strict", name).code == 2


def test_a_syntax_error_in_stdin_is_told(project: Project) -> None:
    assert project.check("--strict", "-", stdin=WRONG.encode()).code == 2


@pytest.mark.parametrize("text", ["# coding: latin-1\nx = 'é'\n", "x = '\\d'\n", "x = 1 is 1\n", "", "\n\\\n\n"])
def test_what_python_reads_without_torch_is_all_clear(project: Project, text: str) -> None:
    project.write("a.py", text.encode("latin-1"))
    assert project.check("--strict") == (0, "All clear: 1 file checked.\n", "")


PASSED_OVER = "notes.txt: error: not checked: neither Python nor a notebook nor a config file, by its suffix\n"


def test_a_text_that_is_named_is_not_checked_and_that_is_told(project: Project) -> None:
    project.write("notes.txt", "import torch\n")
    assert project.check("notes.txt") == (2, PASSED_OVER + "1 file could not be fully checked.\n", "")


def test_a_text_among_other_files_fails_the_run_only_with_strict(project: Project) -> None:
    project.write("notes.txt", "import torch\n")
    project.write("a.py", CLEAN)
    told = PASSED_OVER + "Found nothing in 1 file. 1 file could not be fully checked.\n"
    assert project.check("notes.txt", "a.py") == (0, told, "")
    assert project.check("notes.txt", "a.py", "--strict").code == 2


def test_a_suffix_that_is_included_is_checked(project: Project) -> None:
    project.write("a.txt", LOG)
    assert codes(project.check("a.txt", "--include", "*.txt")) == ["LOC101"]


# -- stdin -------------------------------------------------------------------------------------------------------------


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
    assert outcome == (0, "All clear: 1 file checked.\n", "")


def test_closed_stdin_is_an_error(project: Project) -> None:
    if os.name != "posix":
        pytest.skip("closing a descriptor is the shell's business on POSIX only")
    command = f"{' '.join(COMMAND)} check - <&-"
    done = subprocess.run(
        ["sh", "-c", command], cwd=project.folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, "nanlint: `-` means stdin, which is closed\n")


# -- notebooks ---------------------------------------------------------------------------------------------------------


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


def test_a_cell_that_is_no_python_is_told_of_and_the_others_are_checked_and_fixed(project: Project) -> None:
    before = notebook("import torch", "for x in range(3):\n", "y = torch.log(x)", "print(((")
    project.write("a.ipynb", before)
    lines = project.check("-q").out.splitlines()
    assert [line.partition(" not valid Python ")[0] for line in lines] == [
        "a.ipynb:cell 3:1:5: LOC101 [*] `torch.log(x)` is a logarithm [bare-log]",
        "a.ipynb: error: cell 2, line 1:",
        "a.ipynb: error: cell 4, line 1:",
    ]
    assert project.check("--fix").code == 0
    assert project.read("a.ipynb") == before.replace("torch.log(", "torch.log1p(")


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
