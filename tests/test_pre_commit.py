"""The hooks under the real pre-commit: a scratch repository, a bad file, and a commit that is stopped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.checkout import ROOT, copy_checkout

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("pre_commit", reason="pre-commit is not installed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]

BAD = "import torch\n\n\ndef loss(x: torch.Tensor) -> torch.Tensor:\n    return torch.log(torch.softmax(x, dim=-1))\n"
GOOD = BAD.replace("torch.log(torch.softmax(x, dim=-1))", "torch.log_softmax(x, dim=-1)")
CONFIG = """\
repos:
- repo: {hooks}
  rev: {revision}
  hooks:
  - id: nanlint
  - id: nanlint-fix
    stages: [manual]
  - id: nanlint-confirm
"""
SETTINGS = '[tool.nanlint]\nextend-exclude = ["vendored"]\n'


class Repository:
    """A git repository with the hooks installed, and commands run in it."""

    def __init__(self, folder: Path, pre_commit_home: Path) -> None:
        self.folder = folder
        # A hook may itself be running these tests: git's variables would point at its repository.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self._environment = {
            **inherited,
            "PRE_COMMIT_HOME": str(pre_commit_home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            **{f"GIT_{who}_{what}": "nobody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """What `command` did; both streams in `stdout`, since pre-commit uses both."""
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )

    def must(self, *command: str) -> str:
        done = self.run(*command)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout.strip()

    def pre_commit(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "pre_commit", *arguments)

    def stage(self, path: str, text: str) -> Path:
        file = self.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self.must("git", "add", path)
        return file

    def commit(self) -> subprocess.CompletedProcess[str]:
        return self.run("git", "commit", "--quiet", "-m", "a change")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environment it builds from the hooks repository: once for this module."""
    return tmp_path_factory.mktemp("pre-commit-home")


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Repository:
    """This checkout as it is on disk now, committed to a repository of its own."""
    repository = Repository(copy_checkout(tmp_path_factory.mktemp("hooks") / "nanlint"), home)
    repository.must("git", "init", "--quiet")
    repository.must("git", "add", "--all")
    repository.must("git", "commit", "--quiet", "-m", "the hooks")
    return repository


@pytest.fixture
def project(tmp_path: Path, hooks: Repository, home: Path) -> Repository:
    """A user's repository with our hooks installed."""
    repository = Repository(tmp_path, home)
    repository.must("git", "init", "--quiet")
    config = CONFIG.format(hooks=hooks.folder.as_posix(), revision=hooks.must("git", "rev-parse", "HEAD"))
    repository.stage(".pre-commit-config.yaml", config)
    repository.stage("pyproject.toml", SETTINGS)
    repository.must(sys.executable, "-m", "pre_commit", "install")
    return repository


def test_a_good_file_is_committed(project: Repository) -> None:
    project.stage("model.py", GOOD)
    done = project.commit()
    assert done.returncode == 0, done.stdout


def test_a_bad_file_is_stopped_with_its_finding(project: Repository) -> None:
    project.stage("model.py", BAD)
    done = project.commit()
    assert done.returncode == 1
    assert "model.py:5:12: NAN110" in done.stdout


def test_a_bad_file_passes_after_the_fix(project: Repository) -> None:
    file = project.stage("model.py", BAD)
    fixing = project.pre_commit("run", "nanlint-fix", "--hook-stage", "manual")
    assert "files were modified by this hook" in fixing.stdout
    assert file.read_text(encoding="utf-8") == GOOD
    project.must("git", "add", "model.py")
    done = project.commit()
    assert done.returncode == 0, done.stdout


def test_an_excluded_file_is_left_alone_though_pre_commit_names_it(project: Repository) -> None:
    project.stage("vendored/model.py", BAD)
    done = project.commit()
    assert done.returncode == 0, done.stdout


def test_the_manual_hook_does_not_run_on_commit(project: Repository) -> None:
    project.stage("model.py", GOOD)
    assert "run what was found" not in project.commit().stdout


def test_the_manifest_is_valid(home: Path) -> None:
    checkout = Repository(ROOT, home)
    checkout.must(sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml")
