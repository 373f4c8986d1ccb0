"""Findings remembered between runs: one JSON file per rule set, keyed by what could change its findings.

A file is known by its time and size, else by the hash of its bytes. Writing goes through a temporary file and a
rename, so a run that is killed leaves the old cache or the new one, and runs side by side cost each other at most a
re-check. A cache that cannot be read or written, or that somebody else wrote (`nanlint.sealed`), is no cache, and no
error. Only files with names that we give, in a folder with our tag, are ever deleted.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH103, PTH106, PTH108, PTH110, PTH112, PTH114, PTH116, PTH118, PTH120, PTH208

from __future__ import annotations

import os
import re
import sys
import time
from contextlib import suppress
from typing import Any

import nanlint
from nanlint.digest import digest_of
from nanlint.sealed import read_regular, read_sealed, write_new, write_sealed
from nanlint.source.read import UnreadableSource, read_bytes
from nanlint.word_sets import word_set

FOLDER = ".nanlint_cache"

# A file written this shortly before it was checked may change again within the same tick of the clock.
_SETTLED_NS = 2_000_000_000

# What nobody wrote for so long belongs to settings or versions that are gone, or to a run that was killed.
_STALE_SECONDS = 30 * 24 * 3600

_TAG = "CACHEDIR.TAG"
_TAG_TEXT = b"Signature: 8a477f597d28d172789f06886806bc55\n# Written by nanlint; safe to delete.\n"

_OUR_NAME = re.compile(r"(?:[0-9a-f]{32}-[0-9a-f]{32}(?:-ungated)?|settings-[0-9a-f]{32})\.json(?:\.\d+)?")

# Folders of nanlint without a say in what is found.
_NO_MATTER = word_set("__pycache__ confirm trace checkpoint report cli")

Entry = list[Any]
"""[time of last change, size, hash of the bytes, what was found]: the first three as of when it was checked."""


def engine_stamp(rule_folders: tuple[str, ...]) -> str:
    """Changes when nanlint, the rules in `rule_folders` or the Python grammar change."""
    package = os.path.dirname(os.path.abspath(nanlint.__file__))
    parts = [f"{nanlint.__version__} {sys.version_info[:2]}"]
    waiting = [package, *rule_folders]
    while waiting:
        for entry in _entries(waiting.pop()):
            if entry.name.endswith(".py"):
                status = entry.stat()
                parts.append(f"{entry.name} {status.st_mtime_ns} {status.st_size}")
            elif entry.name not in _NO_MATTER and entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
    return digest_of("\n".join(parts).encode("utf-8", "surrogatepass"))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listed:
            return sorted(listed, key=lambda entry: entry.name)
    except OSError:  # a folder that is not there is told of where its rules are read
        return []


class Cache:
    """What earlier runs found with the same rules, settings and version. Paths are absolute."""

    def __init__(self, folder: str, key: str) -> None:
        self._folder = folder
        self._path = os.path.join(folder, nanlint.__version__, f"{key}.json")
        self._entries = _load(self._path)
        self._changed: dict[str, Entry] = {}
        self._seen: set[str] = set()

    def __len__(self) -> int:
        return len(self._entries)

    def look_up(self, path: str, mtime_ns: int, size: int) -> Any:
        """What was found in the file when it last was as it is now; None if that is not known."""
        self._seen.add(path)
        entry = self._entries.get(path)
        if entry is None or entry[1] != size:
            return None
        if entry[0] != mtime_ns:
            if digest_at(path) != entry[2]:
                return None
            self._changed[path] = [settled(mtime_ns), *entry[1:]]
        return entry[3]

    def digest_at(self, path: str) -> str:
        """The hash of any file as it is now; one that was checked with this time and size is not read for it."""
        entry = self._entries.get(path)
        if entry is not None and _is_unchanged(path, entry):
            return str(entry[2])
        return digest_at(path)

    def store(self, path: str, mtime_ns: int, size: int, found: tuple[str, Any]) -> None:
        """Remember the hash of the bytes that were checked and what was found in them.

        A file that is no longer what it was when the run found it is left for the next run.
        """
        try:
            now = os.stat(path)
        except OSError:
            return
        if (now.st_mtime_ns, now.st_size) == (mtime_ns, size):
            self._changed[path] = [settled(mtime_ns), size, *found]

    def save(self) -> None:
        """Write what is new, on top of what other runs have written meanwhile; vanished files are dropped."""
        if not self._changed:
            return
        from json import dumps  # noqa: PLC0415 - a run without a cache need not load it

        entries = {**_load(self._path), **self._changed}
        kept = {path: entry for path, entry in entries.items() if path in self._seen or os.path.exists(path)}
        data = dumps({"files": kept}, separators=(",", ":")).encode("utf-8", "surrogatepass")
        with suppress(OSError):
            _prepare(self._folder, os.path.dirname(self._path))
            write_sealed(self._path, data)


def made_by_us(folder: str) -> bool:
    """Whether the folder is a cache that nanlint made, and so may be deleted."""
    try:
        return read_regular(os.path.join(folder, _TAG), largest=len(_TAG_TEXT), follow=False) == _TAG_TEXT
    except OSError:
        return False


def settled(mtime_ns: int) -> int:
    """The time by which the file may be recognised; -1, which no file has, while it is too fresh to trust."""
    return mtime_ns if time.time_ns() - mtime_ns > _SETTLED_NS else -1


def _load(path: str) -> dict[str, Any]:
    data = read_sealed(path)
    if data is None:
        return {}
    from json import loads  # noqa: PLC0415 - without a cache there is nothing to read

    entries: dict[str, Any] = loads(data.decode("utf-8", "surrogatepass"))["files"]
    return entries


def _is_unchanged(path: str, entry: Entry) -> bool:
    try:
        now = os.stat(path)
    except OSError:
        return False
    return entry[:2] == [now.st_mtime_ns, now.st_size]


def digest_at(path: str) -> str:
    """The hash of the file as it is now; empty if there is none."""
    try:
        return digest_of(read_bytes(path))
    except UnreadableSource:
        return ""


def _prepare(folder: str, inner: str) -> None:
    """Make the folder, tell git to ignore it and backup tools to skip it; clear what is stale.

    A folder that was there before, with things of others in it, is used but not marked: it is not ours to delete.
    """
    os.makedirs(folder, exist_ok=True)
    if not os.listdir(folder):
        for name, text in ((_TAG, _TAG_TEXT), (".gitignore", b"*\n")):
            write_new(os.path.join(folder, name), text)
    os.makedirs(inner, exist_ok=True)
    if os.path.islink(inner):
        raise NotADirectoryError(inner)
    if made_by_us(folder):
        for each in (folder, inner):
            _clear_stale(each)


def _clear_stale(folder: str) -> None:
    """Delete files that nobody wrote for long; nothing but regular files with names of ours."""
    now = time.time()
    with os.scandir(folder) as entries:
        ours = [entry for entry in entries if _OUR_NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)]
    for entry in ours:
        with suppress(OSError):  # another run may be clearing, too
            if now - entry.stat(follow_symlinks=False).st_mtime > _STALE_SECONDS:
                os.unlink(entry.path)


def delete_ours(folder: str) -> None:
    """Delete a cache that nanlint made: its own files, then the folders if nothing of others is left in them."""
    inner = os.path.join(folder, nanlint.__version__)
    for each in (inner, folder):
        if os.path.islink(each) or not os.path.isdir(each):
            continue
        with os.scandir(each) as entries:
            ours = [entry.path for entry in entries if _is_ours(entry)]
        for path in ours:
            os.unlink(path)
        if not os.listdir(each):
            os.rmdir(each)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    known = entry.name in {_TAG, ".gitignore"} or _OUR_NAME.fullmatch(entry.name) is not None
    return known and entry.is_file(follow_symlinks=False)
