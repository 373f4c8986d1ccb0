"""`python -m tests`: what it runs, and that its property tests give the same answer every time."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.__main__ import LINTERS, PYTEST, steps
from tests.checkout import ROOT

if TYPE_CHECKING:
    from pathlib import Path

DRAWS = """
import sys
from hypothesis import given, strategies as st

sys.path.insert(0, "{folder}")
{imports}

@given(st.lists(st.integers()))
def test_draws(numbers):
    print(numbers)
"""
FAILS = """
from hypothesis import given, strategies as st

@given(st.integers())
def test_fails(number):
    assert number < 1000
"""


def run(path: Path, *words: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "tests.conftest", "-c", "/dev/null", *words, str(path)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def test_everything_is_run_and_the_slowest_tests_are_shown() -> None:
    assert steps([]) == [*LINTERS, PYTEST]
    assert "--durations=30" in PYTEST


def test_quick_leaves_out_what_is_slow() -> None:
    assert steps(["--quick"]) == [*LINTERS, (*PYTEST, "-m", "not slow")]


def test_exploring_runs_property_tests_alone_with_new_examples() -> None:
    assert steps(["--explore"]) == [(*PYTEST, "-m", "hypothesis", "--hypothesis-profile=explore")]


def test_other_arguments_go_to_pytest() -> None:
    assert steps(["--quick", "-k", "suppress"])[-1] == (*PYTEST, "-m", "not slow", "-k", "suppress")


def test_no_property_test_depends_on_chance_or_on_earlier_runs() -> None:
    profile = settings.get_profile("repeatable")
    assert (profile.derandomize, profile.database, profile.deadline, profile.print_blob) == (True, None, None, True)


@pytest.mark.slow
def test_the_same_examples_are_drawn_whatever_else_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "constants.py").write_text(f"NUMBERS = {[7919 * number for number in range(200)]}\n", "utf-8")
    drawn = []
    for imports in ("", "import constants"):
        path = tmp_path / "test_draws.py"
        path.write_text(DRAWS.format(folder=tmp_path, imports=imports), encoding="utf-8")
        drawn.append([line for line in run(path).splitlines() if line.startswith("[")])
    assert len(drawn[0]) >= 100
    assert drawn[0] == drawn[1]


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--hypothesis-profile=explore",)], ids=["as always", "exploring"])
def test_a_failure_says_how_to_replay_it(tmp_path: Path, words: tuple[str, ...]) -> None:
    path = tmp_path / "test_fails.py"
    path.write_text(FAILS, encoding="utf-8")
    out = run(path, *words)
    assert "@reproduce_failure(" in out
