"""CONTRIBUTING's walk through a new operation and its rule, done word for word in a copy of the checkout."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.checkout import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch", reason="the walk measures danger zones and runs fixtures in torch")

BEGIN = "## A new operation and its rule, from nothing to green"
STEP = re.compile(
    r"(?:<!-- (?P<what>file|insert): (?P<path>\S+)(?: before (?P<place>.*?))? -->\n)?```\w+\n(?P<text>.*?)```",
    re.DOTALL,
)
NEEDED = ("nanlint", "rules", "fixtures", "tests", "docs", "benchmarks", "examples")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    checkout = tmp_path / "checkout"
    for name in NEEDED:
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.glob("*.*"):
        if path.is_file():
            shutil.copy(path, checkout)
    return checkout


@pytest.mark.slow
def test_the_walk_ends_with_the_finding(copy: Path) -> None:
    walk = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition(BEGIN)[2].partition("\n## ")[0]
    printed = ""
    for step in STEP.finditer(walk):
        if step["what"] == "file":
            (copy / step["path"]).parent.mkdir(exist_ok=True)
            (copy / step["path"]).write_text(step["text"], "utf-8")
        elif step["what"] == "insert":
            before = (copy / step["path"]).read_text("utf-8")
            assert before.count(f"\n{step['place']}") == 1
            after = before.replace(f"\n{step['place']}", f"\n{step['text']}{step['place']}")
            (copy / step["path"]).write_text(after, "utf-8")
        else:
            for line in step["text"].strip().splitlines():
                printed = run(line, copy)
    assert "bad.py:8:12: NAN199 `distance` can be 0: modified_bessel_k0(0) is inf [bessel-at-zero]" in printed


def run(line: str, folder: Path) -> str:
    command = line.replace(".venv/bin/python", sys.executable)
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout
