"""`nanlint check` where it fixes on request: --fix-only, --show-fixes, --interactive, and the same fixes as codemods."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.project import EXP, FIXED_LOG, LOG, SQRT, Project, environment

if TYPE_CHECKING:
    from pathlib import Path

TWO_LOGS = LOG + LOG.partition("\n\n\n")[2].replace("entropy", "again").join(["\n\n", ""])
SOFTMAX = (
    "import torch\n\n\ndef loss(x: torch.Tensor) -> torch.Tensor:\n    return torch.log(torch.softmax(x, dim=-1))\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


def test_fix_only_fixes_and_does_not_fail_for_what_is_left(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b.py", SQRT)
    told = "Fixed 1 problem (1 remaining).\n"
    assert project.check("--fix-only") == (0, "", told)
    assert [project.read("a.py"), project.read("b.py")] == [FIXED_LOG, SQRT]


def test_show_fixes_lists_what_was_applied(project: Project) -> None:
    project.write("a.py", TWO_LOGS)
    outcome = project.check("--fix", "--show-fixes")
    assert outcome.err.splitlines()[:2] == ["Fixed in a.py:", "    2 x LOC101: Call `torch.log1p`"]


@pytest.mark.parametrize(
    ("answers", "count"),
    [("y\ny\n", 2), ("y\nn\n", 1), ("n\nn\n", 0), ("a\n", 2), ("q\n", 0), ("y\nq\n", 1), ("", 0), ("what\nn\na\n", 1)],
)
def test_interactive_applies_what_was_accepted(project: Project, answers: str, count: int) -> None:
    project.write("a.py", TWO_LOGS)
    outcome = project.check("--interactive", stdin=answers.encode())
    assert project.read("a.py").count("log1p") == count
    assert outcome.code == (0 if count == 2 else 1)


def test_interactive_shows_the_finding_and_its_diff(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.check("--interactive", stdin=b"n\n")
    assert "a.py:5:12: LOC101 `torch.log(x)` is a logarithm" in outcome.err
    assert "-    return torch.log(x)\n+    return torch.log1p(x)\n" in outcome.err
    assert "[y]es, [n]o, [a]ll that follow, [q]uit" in outcome.err


def test_interactive_offers_unsafe_fixes_only_when_they_are_asked_for(project: Project) -> None:
    project.write("a.py", EXP)
    project.check("--interactive", "--severity", "info", stdin=b"y\n")
    assert project.read("a.py") == EXP
    outcome = project.check("--interactive", "--unsafe-fixes", "--severity", "info", stdin=b"y\n")
    assert "(changes some results)" in outcome.err
    assert "expm1" in project.read("a.py")


def test_quitting_leaves_the_other_files_alone(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b.py", LOG)
    outcome = project.check("--interactive", stdin=b"q\ny\n")
    assert [project.read("a.py"), project.read("b.py")] == [LOG, LOG]
    assert outcome.err.count("Apply this fix?") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("--fix-only", "--diff"),
        ("--interactive", "--add-ignores"),
        ("--show-fixes", "--no-fix"),
        ("--interactive", "-"),
    ],
)
def test_options_that_contradict_each_other_are_refused(project: Project, words: tuple[str, ...]) -> None:
    outcome = project.check(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert words[0] in outcome.err


# -- codemods ----------------------------------------------------------------------------------------------------------


def codemod(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    options = [] if (folder / ".libcst.codemod.yaml").is_file() else ["--no-format", "-x"]
    command = [sys.executable, "-m", "libcst.tool", "codemod", *options, *words]
    return subprocess.run(command, cwd=folder, env=environment(None), check=False, capture_output=True, text=True)


@pytest.mark.slow
def test_a_rules_fix_runs_as_a_libcst_codemod(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(SOFTMAX.replace("\n", "\r\n").encode())
    done = codemod(tmp_path, "nanlint.codemods.LogOfSoftmax", "a.py")
    assert done.returncode == 0, done.stderr
    fixed = SOFTMAX.replace("torch.log(torch.softmax(x, dim=-1))", "torch.log_softmax(x, dim=-1)")
    assert path.read_bytes() == fixed.replace("\n", "\r\n").encode()


@pytest.mark.slow
def test_a_codemod_is_found_by_its_plain_name_in_a_configured_module(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(SOFTMAX, encoding="utf-8")
    # A formatter that changes nothing; those of projects are not installed here.
    formatter = [sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.read())"]
    config = {"modules": ["nanlint.libcst_tool"], "formatter": formatter}
    (tmp_path / ".libcst.codemod.yaml").write_text(json.dumps(config), encoding="utf-8")
    done = codemod(tmp_path, "nanlint.codemods.LogOfSoftmax", "a.py")
    assert done.returncode == 0, done.stderr
    assert path.read_text("utf-8") == SOFTMAX.replace(
        "torch.log(torch.softmax(x, dim=-1))", "torch.log_softmax(x, dim=-1)"
    )


@pytest.mark.slow
def test_a_codemod_takes_unsafe_fixes_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    text = "import torch\n\n\ndef mean(x: torch.Tensor, y: torch.Tensor):\n    hit = y > 0\n    return (x * hit).sum() / hit.sum()\n"
    path.write_text(text, encoding="utf-8")
    codemod(tmp_path, "nanlint.codemods.UnguardedDivision", "a.py")
    untouched = path.read_text(encoding="utf-8")
    codemod(tmp_path, "nanlint.codemods.UnguardedDivision", "--unsafe-fixes", "a.py")
    assert untouched == text
    assert path.read_text(encoding="utf-8") != text


def test_every_rule_that_offers_a_fix_has_a_codemod() -> None:
    from nanlint import codemods  # noqa: PLC0415 - libcst's codemods take a second to import
    from nanlint.engine.rules.rulebook import rulebook  # noqa: PLC0415 - beside it

    book = rulebook()
    fixing = {rule.__name__ for code, rule in book.rules.items() if book.info(code).fix.startswith(("Safe", "Unsafe"))}
    assert fixing
    assert set(codemods.commands()) == fixing
    assert all(issubclass(getattr(codemods, name), codemods.AllFixes) for name in fixing)
