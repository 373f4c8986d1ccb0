"""Every command in the README and the docs is run as it stands, in a small project; every settings block is loaded.

A block that is not run says why in the line above it: `<!-- not run: reason -->`.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import struct
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

from nanlint.settings import SettingsFinder
from tests.checkout import ROOT
from tests.project import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# What installs things is run by CI itself (`first` and `test`), in a clone.
BY_CI = re.compile(r"python3 -m venv")

MODEL = (
    "import torch\n\n\ndef loss(values, mask):\n    return (values * mask).sum() / mask.sum()\n"
    + "\n" * 35
    + ("\n\ndef entropy(scores):\n    return -torch.log(torch.softmax(scores, -1)).mean()\n")
)
SCRIPT = """import argparse

import torch

options = argparse.ArgumentParser()
options.add_argument("--epochs", type=int, default=1)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(options.parse_args().epochs):
    loss = model(torch.ones(3, 2)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


class Block(NamedTuple):
    """A fenced block of a page."""

    place: str
    language: str
    text: str
    excuse: str


def blocks() -> list[Block]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in re.finditer(r"(?:<!-- not run: (.*?) -->\n)?^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, match.start(2)) + 1
            found.append(Block(f"{page.name}:{line}", match[2], match[3], match[1] or ""))
    return found


BLOCKS = blocks()
SHOWN = [
    (block.place, line)
    for block in BLOCKS
    if block.language == "sh" and not block.excuse and not BY_CI.search(block.text)
    for line in block.text.splitlines()
    if line.strip()
]
# The same command on two pages is run once, under the name of the first; comments are no part of it.
COMMANDS = {
    tuple(words): pytest.param(line, id=f"{place} {' '.join(words)}")
    for place, line in reversed(SHOWN)
    if (words := shlex.split(line, comments=True))
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, torch_python: str) -> Path:
    """A folder with the `nanlint` command of this checkout in `bin`."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "bin").mkdir()
    command = folder / "bin/nanlint"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={CHECKOUT} exec {torch_python} -m nanlint "$@"\n')
    command.chmod(0o755)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What the commands speak of: src/, train.py, notebooks, checkpoints, a config, a baseline."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for name in ("src", "notebooks", "runs", "project", ".git"):
        (tmp_path / name).mkdir()
    (tmp_path / "src/model.py").write_text(MODEL)
    for name in ("train.py", "project/train.py", "project/__init__.py"):
        (tmp_path / name).write_text(SCRIPT if name.endswith("train.py") else "")
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": part} for part in ("x = 1", "y = 2", MODEL)]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    for name in ("notebooks/a.ipynb", "train.ipynb"):
        (tmp_path / name).write_text(notebook)
    for name in ("runs/step-1.pt", "last.pt"):
        torch.save({"model": {"w": torch.ones(2)}, "step": 1}, tmp_path / name)
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<2f", 1, 2))
    (tmp_path / "config.yaml").write_text("learning_rate: 0.1\n")
    (tmp_path / "nanlint-baseline.json").write_text('{\n  "version": 1,\n  "findings": []\n}\n')
    return tmp_path


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the docs show a POSIX shell")
@pytest.mark.parametrize("line", COMMANDS.values())
def test_a_command_does_what_the_page_says(line: str, project: Path, home: Path) -> None:
    environment = {**os.environ, "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-c", line], cwd=project, env=environment, input=MODEL, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode in {0, 1}, "Traceback" in done.stderr) == (True, False), f"{done.returncode}\n{done.stderr}"


SETTINGS = [
    block for block in BLOCKS if block.language == "toml" and not block.excuse and "tool.ruff" not in block.text
]


@pytest.mark.parametrize("block", SETTINGS, ids=lambda block: block.place)
def test_a_settings_block_is_loaded_and_switches_nothing_off(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "pyproject.toml" if "[tool.nanlint" in block.text else "nanlint.toml"
    (tmp_path / name).write_text(block.text)
    settings = SettingsFinder().for_directory(".")
    default = SettingsFinder(isolated=True).for_directory(".")
    assert (bool(settings.config), settings.include) == (True, default.include)


def test_what_is_not_run_says_why() -> None:
    excused = {block.place.partition(":")[0]: block.excuse for block in BLOCKS if block.excuse}
    assert excused == {
        "security.md": "the user's own settings, which are read from the user's own folder",
        "confirm.md": "it needs a cluster elsewhere",
    }


def test_there_are_commands_to_run() -> None:
    assert len(SHOWN) > 25
    assert len(SETTINGS) > 1
