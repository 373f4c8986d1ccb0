"""This checkout, and copies of the part of it that gets installed."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = ("nanlint", "rules", "hatch_build.py", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")


def copy_checkout(target: Path) -> Path:
    """Copy what pip and pre-commit read, as it is on disk now, committed or not."""
    target.mkdir(parents=True)
    for name in INSTALLED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target / name)
    return target
