"""Nothing that the user gave us, or that we have to say, is lost in silence."""

from __future__ import annotations

import ast
import os
import random
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nanlint.engine.check_file import check_text
from nanlint.engine.check_paths import Checker
from nanlint.settings import Settings
from tests.project import COMMAND, LOG, LOG_FOUND, Project, environment

if TYPE_CHECKING:
    from collections.abc import Iterator

FIXTURES = sorted((Path(__file__).parent.parent / "fixtures").glob("*/bad*.py"))
FULL = Path("/dev/full")
NO_TORCH = "x = = 1\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


def with_form_feeds() -> Iterator[tuple[str, str, str]]:
    """Names of fixtures, their texts, and those with form feeds before some lines, as far as Python reads them."""
    draw = random.Random(7)  # noqa: S311 - lines, no secrets
    for path in FIXTURES:
        plain = path.read_text("utf-8")
        lines = plain.splitlines(keepends=True)
        feed = draw.choice(["\f", "\f\f", " \f", "\t\f"])
        for number in draw.sample(range(len(lines)), min(3, len(lines))):
            lines[number] = feed + lines[number]
        text = "".join(lines)
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        yield f"{path.parent.name}/{path.name}", plain, text


@pytest.mark.slow
def test_form_feeds_change_no_finding() -> None:
    ruleset = Checker(gated=True).ruleset(Settings(severity="info", preview=True))
    different = []
    for name, *texts in with_form_feeds():
        plain, fed = (check_text(each, "a.py", ruleset) for each in texts)
        places = [[(one.code, one.span.line) for one in each.findings] for each in (plain, fed)]
        if fed.errors != plain.errors or places[0] != places[1]:
            different.append(name)
    assert different == []


def test_a_fix_keeps_form_feeds(project: Project) -> None:
    method = "import torch\n\n\nclass A:\n\f    def entropy(self, x):\n\f        return torch.log(x)\n"
    project.write("a.py", method)
    project.check("--fix")
    assert (project.folder / "a.py").read_bytes() == method.replace("log(", "log1p(").encode()


@pytest.mark.parametrize("named", [True, False], ids=["named", "found"])
def test_a_file_without_torch_that_is_no_python_is_told(project: Project, named: bool) -> None:  # noqa: FBT001 - a parameter
    project.write("a.py", NO_TORCH)
    words = ["a.py"] if named else []
    runs = [project.check(*words), project.check(*words), project.check("--strict", *words)]
    said = "a.py:1: error: not valid Python"
    assert [(outcome.code, outcome.out.startswith(said)) for outcome in runs] == [(0, True), (0, True), (2, True)]


def test_a_file_of_another_kind_is_not_counted_as_checked(project: Project) -> None:
    project.write("notes.txt", LOG)
    project.write("script", LOG)
    assert "it was not checked" in project.check("notes.txt").out
    assert [project.check("notes.txt").code, project.check("script").code] == [2, 1]


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("form", ["concise", "full", "json", "sarif", "junit"])
def test_a_full_disk_is_one_clear_line(project: Project, form: str) -> None:
    project.write("a.py", LOG)
    with FULL.open("w") as full:
        done = subprocess.run(
            [*COMMAND, "check", "-f", form], cwd=project.folder, env=environment(), stdout=full,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "nanlint: the report could not be written: No space left on device\n")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
def test_a_disk_that_is_full_for_errors_too_is_told_by_the_exit_code(project: Project) -> None:
    project.write("a.py", LOG)
    with FULL.open("w") as full:
        done = subprocess.run(
            [*COMMAND, "check"], cwd=project.folder, env=environment(), stdout=full, stderr=full, check=False
        )
    assert done.returncode == 2


def test_a_draft_that_a_killed_run_left_is_cleaned_up(project: Project) -> None:
    ended = subprocess.Popen([*COMMAND, "--version"], stdout=subprocess.DEVNULL)
    ended.wait()
    left, running, other = (
        f".nanlint-{ended.pid}-{'0' * 16}.tmp",
        f".nanlint-{os.getpid()}-{'0' * 16}.tmp",
        ".nanlint-mine.tmp",
    )
    for name in (left, running, other):
        project.write(name, "")
    project.write("a.py", LOG)
    assert project.check("-q") == (1, LOG_FOUND, "")
    assert [(project.folder / name).exists() for name in (left, running, other)] == [False, True, True]
