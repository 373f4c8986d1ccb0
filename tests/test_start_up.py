"""What a run imports: a hook that finds nothing must not wait for libraries that only findings need."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from nanlint.engine.rules.cards import READY, cards_of, sizes
from nanlint.engine.rules.rulebook import rulebook, rules_folder
from nanlint.engine.rules.write_cards import code_of
from tests.checkout import ROOT
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

# What only runs import that have something to look into.
FOR_A_CLOSER_LOOK = {"rules", "nanlint.rule", "nanlint.ops.names", "nanlint.model.finding", "dataclasses", "inspect"}

# What no run on named files needs that has a cache.
FOR_OTHER_RUNS = {"hashlib", "zlib", "nanlint.source.gitignore"}

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
        return self.second(nn.functional.gelu(self.first(hidden)))
"""


MODEL = "import torch\nfrom torch import nn\n" + "".join(map(block, range(140)))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


def imported(project: Project, *words: str) -> tuple[int, set[str]]:
    """The exit code of a run in a fresh interpreter, and which of the heavy modules it imported."""
    code, names = imported_by(project, environment(), *words)
    return code, HEAVY & names


def imported_by(project: Project, environ: dict[str, str], *words: str) -> tuple[int, set[str]]:
    """The exit code of a run in a fresh interpreter, and all modules that it imported; every rule is `rules`."""
    command = [sys.executable, "-c", PROBE, "check", *words]
    done = subprocess.run(
        command, cwd=project.folder, env=environ, capture_output=True, text=True, check=True, timeout=120
    )
    code, *names = done.stderr.split()
    rules = {"rules" for name in names if name.startswith(("nanlint.rules.nan", "nanlint_local_rules"))}
    return int(code), {*names, *rules}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which nanlint is imported as from a wheel: rules inside the package, with their cards."""
    site = tmp_path_factory.mktemp("site")
    junk = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "nanlint", site / "nanlint", ignore=junk)
    shutil.copytree(ROOT / "rules", site / "nanlint" / "rules", ignore=junk)
    cards = code_of(cards_of(rulebook().rules.values()), sizes(rules_folder()))
    (site / "nanlint" / "rules" / READY).write_text(cards, encoding="utf-8")
    return environment({"PYTHONPATH": str(site)})


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


@pytest.mark.slow
def test_a_run_that_remembers_everything_imports_nothing_heavy_even_with_findings(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b.py", CLEAN)
    outcomes = [imported(project, "a.py", "b.py") for _ in range(3)]
    # The first run makes the cache folder, the second remembers the judged settings there, the third profits.
    assert (outcomes[0][1] >= {"pydantic", "rules"}, outcomes[2]) == (True, (1, set()))


def test_an_installed_run_in_which_nothing_is_kept_loads_no_rule(installed: dict[str, str], tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("model.py", MODEL)
    code, names = imported_by(project, installed, "model.py")
    assert (code, names & (HEAVY | FOR_A_CLOSER_LOOK | FOR_OTHER_RUNS)) == (0, set())
    assert "ast" in names


@pytest.mark.slow
def test_an_installed_run_loads_its_rules_when_there_is_something_to_find(
    installed: dict[str, str], tmp_path: Path
) -> None:
    project = Project(tmp_path)
    project.write("model.py", MODEL + "\n\ndef loss(x):\n    return torch.log(torch.softmax(x, dim=-1))\n")
    code, names = imported_by(project, installed, "model.py")
    assert (code, names & {"rules", "libcst"}) == (1, {"rules"})
