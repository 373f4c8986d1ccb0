"""How far a repository's own settings may reach: to the project that they stand in, and no further.

The project is the enclosing git root, else the folder of the outermost settings file.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH118, PTH120

from __future__ import annotations

import os

CONFIG_NAMES = ("nanlint.toml", "pyproject.toml")


def project_root(folder: str) -> str:
    """The project that `folder` belongs to; empty where neither git nor a settings file tells."""
    outermost = ""
    folder = os.path.abspath(folder)
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        if any(os.path.lexists(os.path.join(folder, name)) for name in CONFIG_NAMES):
            outermost = folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return outermost
        folder = parent


def is_inside(path: str, root: str) -> bool:
    """Whether `path` is in `root` or below it once every link is followed."""
    top = os.path.realpath(root)
    return os.path.join(os.path.realpath(path), "").startswith(os.path.join(top, ""))
