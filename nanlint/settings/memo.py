"""Config files that were judged before: their values, kept until a byte of a file changes.

With a memo neither tomllib nor pydantic is imported, which is most of what a run on one small file would take. A memo
is sealed: one that is missing, broken or written by somebody else costs time and nothing else.
"""

# Paths are strings throughout the settings: pathlib is not imported on a clean run.
# ruff: noqa: PTH103, PTH118, PTH120, PTH123

from __future__ import annotations

import os
from contextlib import suppress
from json import dumps, loads
from typing import TYPE_CHECKING, Any

import nanlint
from nanlint.digest import digest_of
from nanlint.sealed import read_sealed, write_sealed
from nanlint.settings.resolved import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping


def memo_file(folder: str, config: str, root: str) -> str:
    """The memo of a config file; one for each file, so the folder does not grow with every edit."""
    key = f"{nanlint.__version__}\0{config}\0{root}"
    return os.path.join(folder, f"settings-{digest_of(os.fsencode(key))}.json")


def recall(memo: str, config: str, data: bytes) -> tuple[bool, dict[str, Any] | None]:
    """Whether the memo still holds, and the values in it (None: no `[tool.nanlint]` in the file)."""
    sealed = read_sealed(memo)
    if sealed is None:
        return False, None
    content = loads(sealed)
    files, values = content["files"], content["values"]
    try:
        if config not in files or any(digest_of(_bytes(path, config, data)) != seen for path, seen in files.items()):
            return False, None
    except OSError:
        return False, None
    # A checkout may change its fields without changing its version.
    if values is not None and not values.keys() <= set(Settings._fields):
        return False, None
    return True, values


def remember(memo: str, files: Mapping[str, bytes], values: Mapping[str, Any] | None) -> None:
    """Write the memo in one step; a disk that refuses is no reason to stop."""
    content = dumps({"files": {path: digest_of(data) for path, data in files.items()}, "values": values})
    with suppress(OSError):
        os.makedirs(os.path.dirname(memo), exist_ok=True)
        write_sealed(memo, content.encode())


def _bytes(path: str, config: str, data: bytes) -> bytes:
    if path == config:
        return data
    with open(path, "rb") as file:
        return file.read()
