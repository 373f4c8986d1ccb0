"""The state of a project's Python files as one short text: it changes when one of them is written, comes or goes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nanlint.digest import digest_of
from nanlint.settings.resolved import DEFAULT_EXCLUDE

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERY_FILE = "/**/*.py"
"""What stands behind a folder that was looked at as a whole."""
_LARGEST_FILE = 1_000_000


def python_files(root: str, *, below: bool = True) -> Iterator[os.DirEntry[str]]:
    """Each Python file of a folder and, with `below`, of the folders in it; links and generated monsters are left out."""
    waiting = [root] if root else []
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if below and entry.name not in DEFAULT_EXCLUDE and not entry.name.startswith("."):
                    waiting.append(entry.path)
            elif entry.name.endswith(".py") and _is_readable(entry):
                yield entry


def _is_readable(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_size <= _LARGEST_FILE


def project_stamp(root: str) -> str:
    """Names, sizes and times of all Python files of a project."""
    known = [(entry.path, entry.stat(follow_symlinks=False)) for entry in python_files(root)]
    told = sorted(f"{path} {status.st_size} {status.st_mtime_ns}" for path, status in known)
    return digest_of("\n".join(told).encode("utf-8", "surrogatepass"))
