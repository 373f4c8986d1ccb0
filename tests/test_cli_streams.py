"""`nanlint` whose output goes to a full disk, or to nobody: one clear line at most, and an exit code that is true."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from nanlint.settings import OUTPUT_FORMATS
from tests.project import COMMAND, LOG, Project, environment

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


UNWRITTEN = "nanlint: the output could not be written: No space left on device\n"
NEEDS_FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no device that is always full")  # noqa: PTH110 - a device


@NEEDS_FULL
@pytest.mark.parametrize(
    "words", [*(f"check -f {form}" for form in OUTPUT_FORMATS), "check -q --diff", "check --help", "rules", "--version"]
)
def test_a_full_disk_is_one_line_and_exit_code_2(project: Project, words: str) -> None:
    project.write("a.py", LOG)
    assert _shell(project, f"{words} >/dev/full") == (2, UNWRITTEN)


@NEEDS_FULL
def test_a_full_disk_is_noticed_at_the_first_line_as_well(project: Project) -> None:
    project.write("a.py", LOG)
    assert _shell(project, "check >/dev/full", unbuffered="1") == (2, UNWRITTEN)


@NEEDS_FULL
@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param("check missing.py >/dev/null 2>/dev/full", 2, id="an error"),
        pytest.param("chekc 2>/dev/full", 2, id="a wrong command"),
        pytest.param("check --verbose a.py >/dev/null 2>/dev/full", 2, id="what was asked for"),
        pytest.param("check a.py >/dev/full 2>&1", 2, id="both streams"),
        pytest.param("check a.py >&- 2>&-", 1, id="both closed"),
        pytest.param("check missing.py 2>&- >/dev/null", 2, id="stderr closed"),
    ],
)
def test_stderr_that_cannot_be_written_changes_no_failure_into_a_finding(
    project: Project, line: str, code: int
) -> None:
    project.write("a.py", LOG)
    assert _shell(project, line) == (code, "")


@NEEDS_FULL
def test_an_output_file_on_a_full_disk_is_named(project: Project) -> None:
    project.write("a.py", LOG)
    told = "nanlint: --output-file /dev/full: No space left on device\n"
    assert _shell(project, "check -o /dev/full") == (2, told)


def _shell(project: Project, line: str, unbuffered: str = "") -> tuple[int, str]:
    """The exit code of `nanlint` in a shell, and what is left on stderr."""
    done = subprocess.run(
        ["sh", "-c", f"{' '.join(COMMAND)} {line}"], cwd=project.folder, capture_output=True, text=True, check=False,
        env=environment({"PYTHONUNBUFFERED": unbuffered}),
    )  # fmt: skip
    return done.returncode, done.stderr
