"""Findings remembered between runs: one JSON file per rule set, keyed by what could change its findings.

A file is known by its time and size, else by the hash of its bytes. Writing goes through a temporary file and a rename, so a run that is
killed leaves the old cache or the new one, and runs side by side cost each other at most a re-check. A cache that cannot be read or
written is no cache, and no error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from hashlib import blake2b
from typing import Any

import nanlint

FOLDER = ".nanlint_cache"

# A file written this shortly before it was checked may change again within the same tick of the clock.
_SETTLED_NS = 2_000_000_000

Entry = list[Any]
"""[time of last change, size, hash of the bytes, what was found]: the first three as of when it was checked."""


def engine_stamp(folders: tuple[str, ...] = ()) -> str:
    """Changes when nanlint, its rules, the user's own rules in `folders` or the Python grammar change."""
    package = os.path.dirname(os.path.abspath(nanlint.__file__))
    stamp = blake2b(f"{nanlint.__version__} {sys.version_info[:2]}".encode(), digest_size=16)
    for top in (package, os.path.join(os.path.dirname(package), "rules"), *folders):
        for path, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                if name.endswith(".py"):
                    status = os.stat(os.path.join(path, name))
                    stamp.update(f"{name} {status.st_mtime_ns} {status.st_size}".encode("utf-8", "surrogatepass"))
    return stamp.hexdigest()


class Cache:
    """What earlier runs found with the same rules, settings and version."""

    def __init__(self, folder: str, key: str) -> None:
        self._path = os.path.join(folder, nanlint.__version__, f"{key}.json")
        self._folder = folder
        self._entries = _load(self._path)
        self._changed: dict[str, Entry] = {}

    def look_up(self, path: str, mtime_ns: int, size: int) -> Any:
        """What was found in the file when it last was as it is now; None if that is not known."""
        entry = self._entries.get(path)
        if entry is None or entry[1] != size:
            return None
        if entry[0] == mtime_ns:
            return entry[3]
        if _hash_of(path) != entry[2]:
            return None
        self._note(path, [_settled(mtime_ns), size, entry[2], entry[3]])
        return entry[3]

    def store(self, path: str, mtime_ns: int, size: int, found: Any) -> None:
        """Remember what was found in the file."""
        digest = _hash_of(path)
        if digest:
            self._note(path, [_settled(mtime_ns), size, digest, found])

    def _note(self, path: str, entry: Entry) -> None:
        self._changed[path] = entry

    def drop(self, path: str) -> None:
        """Forget a file that has just been rewritten; its old entry could match by time and size."""
        self._note(path, [0, -1, "", 0])

    def save(self) -> None:
        """Write what is new, on top of what other runs have written meanwhile; vanished files are dropped."""
        if not self._changed:
            return
        entries = {**_load(self._path), **self._changed}
        kept = {path: entry for path, entry in entries.items() if path in self._entries or os.path.exists(path)}
        try:
            _prepare(self._folder, os.path.dirname(self._path))
            temporary = f"{self._path}.{os.getpid()}"
            with open(temporary, "w", encoding="utf-8", errors="surrogatepass") as out:
                out.write(json.dumps({"files": kept}, separators=(",", ":")))
            os.replace(temporary, self._path)
        except OSError:
            return


def _settled(mtime_ns: int) -> int:
    """The time by which the file may be recognised; 0, which no file has, while it is too fresh to trust."""
    return mtime_ns if time.time_ns() - mtime_ns > _SETTLED_NS else 0


def _load(path: str) -> dict[str, Entry]:
    try:
        with open(path, encoding="utf-8", errors="surrogatepass") as source:
            entries = json.load(source)["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _hash_of(path: str) -> str:
    try:
        with open(path, "rb") as source:
            return blake2b(source.read(), digest_size=16).hexdigest()
    except OSError:
        return ""


def _prepare(folder: str, inner: str) -> None:
    """Make the folder, tell git to ignore it and backup tools to skip it."""
    os.makedirs(inner, exist_ok=True)
    for name, text in (
        (".gitignore", "*\n"),
        ("CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# Written by nanlint; safe to delete.\n"),
    ):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
