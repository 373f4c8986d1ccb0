"""The state of a project's Python files as one short text: it changes when one of them is written, comes or goes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nanlint.digest import digest_of
from nanlint.settings.resolved import DEFAULT_EXCLUDE
from nanlint.source.cache import digest_at

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERY_FILE = "/**/*.py"
"""What stands behind a folder that was looked at as a whole."""
LARGEST_PROJECT = 12_000_000
"""A project with more bytes of Python is read file by file."""
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
    """Names and contents of all Python files of a project; empty for one that is not read as a whole."""
    found = list(python_files(root))
    if sum(entry.stat(follow_symlinks=False).st_size for entry in found) > LARGEST_PROJECT:
        return ""
    told = sorted(f"{entry.path} {digest_at(entry.path)}" for entry in found)
    return digest_of("\n".join(told).encode("utf-8", "surrogatepass"))
