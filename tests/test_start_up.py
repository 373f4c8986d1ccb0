"""What a run imports: a hook that finds nothing must not wait for libraries that only findings need."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.project import CLEAN, LOG, Project, environment

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = {
    "libcst",
    "pydantic",
    "rich",
    "pathspec",
    "yaml",
    "torch",
    "numpy",
    "pathlib",
    "asyncio",
    "subprocess",
    "tempfile",
    "rules",
}

PROBE = """
import sys
from nanlint.cli.main import main

code = main(sys.argv[1:])
sys.stderr.write(f"{code} {' '.join(sys.modules)}")
"""


def block(number: int) -> str:
    """Ten lines of ordinary model code that holds the words of no rule."""
    return f"""

class Block{number}(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden + self.second(torch.relu(self.first(hidden)))
"""


MODEL = "import torch\nfrom torch import nn\n" + "".join(map(block, range(140)))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


def imported(project: Project, *words: str) -> tuple[int, set[str]]:
    """The exit code of a run in a fresh interpreter, and which of the heavy modules it imported."""
    command = [sys.executable, "-c", PROBE, "check", *words]
    done = subprocess.run(
        command, cwd=project.folder, env=environment(), capture_output=True, text=True, check=True, timeout=120
    )
    code, *names = done.stderr.split()
    rules = {"rules" for name in names if name.startswith(("nanlint.rules.", "nanlint_local_rules"))}
    return int(code), HEAVY & {*names, *rules}


def test_a_clean_run_imports_nothing_heavy(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("model.py", MODEL)
    assert MODEL.count("\n") > 1400
    assert imported(project, "--no-cache", "model.py") == (0, {"rules"})


def test_a_clean_file_with_the_words_of_a_rule_imports_nothing_heavy(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("model.py", MODEL.replace("nn.Linear(width, width)", "nn.Identity()  # log, softmax, isnan", 1))
    assert imported(project, "--no-cache", "model.py") == (0, {"rules"})


def test_a_clean_run_below_a_gitignore_that_ignores_nothing_here_imports_nothing_heavy(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(".gitignore", "*.pt\n")
    (tmp_path / ".git").mkdir()
    project.write("model.py", MODEL)
    assert imported(project, "--no-cache", ".") == (0, {"rules"})


def test_a_run_that_remembers_everything_imports_nothing_heavy_even_with_findings(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b.py", CLEAN)
    outcomes = [imported(project, "a.py", "b.py") for _ in range(3)]
    # The first run makes the cache folder, the second remembers the judged settings there, the third profits.
    assert (outcomes[0][1] >= {"libcst", "pydantic", "rules"}, outcomes[2]) == (True, (1, set()))
