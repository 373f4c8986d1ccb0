"""A project as bytes: packed where it lies, unpacked on another machine, and the paths in jobs and answers moved with it.

Only regular files are packed, no links and nothing hidden; code first, and of other files the small ones while they fit.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
PATHS = ("path", "root", "project")
"""What a target says of places on the disk."""
MEGABYTE = 1 << 20
LARGEST_FILE = 4 * MEGABYTE
LARGEST_PROJECT = 128 * MEGABYTE
_CODE = (".py", ".pyi", ".ipynb", ".toml", ".cfg", ".ini", ".yaml", ".yml", ".json")
_NOT_PACKED = frozenset({"__pycache__", "node_modules", "site-packages", "wandb"})


@dataclass(frozen=True)
class Project:
    """A folder and what is in it, with a name for this content."""

    folder: str
    packed: bytes
    digest: str


def folder_of(job: Json) -> str:
    """The folder that a job needs: the project, and above it what modules are imported from."""
    target = job["target"]
    return str(os.path.commonpath([target["root"], target["project"]]))


def packed(folder: str) -> Project:
    """The project of a folder."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz", compresslevel=1) as archive:
        for path in _chosen(folder):
            archive.add(path, os.path.relpath(path, folder), recursive=False)
    content = data.getvalue()
    return Project(folder, content, hashlib.sha256(content).hexdigest()[:16])


def _chosen(folder: str) -> Iterator[str]:
    left = LARGEST_PROJECT
    for _, size, path in sorted(_files(folder)):
        if size <= left:
            left -= size
            yield path


def _files(folder: str) -> Iterator[tuple[bool, int, str]]:
    """Whether it is something else than code, its size and its path, for each file that may be packed."""
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _NOT_PACKED]
        for name in names:
            path = os.path.join(here, name)  # noqa: PTH118 - strings, as os.walk gives them
            if name.startswith(".") or os.path.islink(path) or not os.path.isfile(path):  # noqa: PTH113, PTH114 - same
                continue
            size = os.path.getsize(path)  # noqa: PTH202 - same
            if size <= LARGEST_FILE:
                yield not name.endswith(_CODE), size, path


def unpack(content: bytes, folder: str) -> None:
    """Write a project into a new folder; nothing of it goes anywhere else."""
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        for member in archive:
            inside = not os.path.isabs(member.name) and ".." not in member.name.split("/")  # noqa: PTH117 - a string
            source = archive.extractfile(member) if member.isreg() and inside else None
            if source is None:
                continue
            path = os.path.join(folder, member.name)  # noqa: PTH118 - same
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - same
            with open(path, "wb") as file:  # noqa: PTH123 - same
                file.write(source.read())


def moved(value: Any, old: str, new: str) -> Any:
    """A job with its places in another folder."""
    if isinstance(value, dict):
        return {key: moved(part, old, new) for key, part in value.items()}
    if isinstance(value, list):
        return [moved(part, old, new) for part in value]
    is_place = isinstance(value, str) and (value == old or value.startswith(old.rstrip(os.sep) + os.sep))
    return new + value[len(old.rstrip(os.sep)) :] if is_place else value


def told_of(answer: Json, old: str, new: str) -> Json:
    """An answer whose words name another folder: they may name it anywhere."""
    inner, outer = (json.dumps(path.rstrip(os.sep))[1:-1] for path in (old, new))
    told: Json = json.loads(json.dumps(answer).replace(inner, outer))
    return told
