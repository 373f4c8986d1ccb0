"""What earlier runs found, asked by file: one cache for each set of settings that a run meets.

A result with errors is not remembered: what kept a file from being checked (a permission, a rule's crash) may be gone
next time without the file having changed.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH109, PTH117, PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from nanlint import model
from nanlint.engine.file_result import FileResult
from nanlint.engine.rules.rulebook import rules_folder
from nanlint.source.cache import Cache, engine_stamp
from nanlint.source.projects.stamp import EVERY_FILE, project_stamp

if TYPE_CHECKING:
    from nanlint.settings import Settings
    from nanlint.source.discover import FoundFile


class Memory:
    """The caches in one folder. `variant` keeps runs apart that could find different things with the same settings."""

    def __init__(self, folder: str, *, variant: str = "") -> None:
        self.folder = folder
        self.recalled = 0
        """How many files needed no check."""
        self._variant = variant
        self._here = os.path.join(os.getcwd(), "")
        self._caches: dict[str, Cache] = {}
        self._by_settings: dict[int, tuple[Settings, Cache]] = {}
        self._stamps: dict[tuple[str, ...], str] = {}
        self._digests: dict[str, str] = {}

    def knows(self, settings: Settings) -> bool:
        """Whether an earlier run used the very same settings and rules, and so found them right."""
        return len(self._cache(settings)) > 0

    def recall(self, file: FoundFile) -> FileResult | None:
        """What was found in the file as it is now; None if that is not known."""
        cache = self._cache(file.settings)
        found = cache.look_up(self._absolute(file), file.mtime_ns, file.size)
        result = None if found is None else self._thawed(found, file.path, cache)
        self.recalled += result is not None
        return result

    def remember(self, file: FoundFile, result: FileResult) -> None:
        """Keep what was found for the next run."""
        if result.digest and not result.errors:
            found = (result.digest, _frozen(result))
            self._cache(file.settings).store(self._absolute(file), file.mtime_ns, file.size, found)

    def save(self) -> None:
        """Write what is new."""
        for cache in self._caches.values():
            cache.save()

    def _absolute(self, file: FoundFile) -> str:
        # A shown path is absolute, or relative to the working directory and free of dots.
        return file.path if os.path.isabs(file.path) else self._here + file.path

    def _cache(self, settings: Settings) -> Cache:
        # All files of a folder share one settings object, and its fingerprint costs more than the look-up.
        known = self._by_settings.get(id(settings))
        if known is None:
            key = f"{self._stamp(settings.local_rules)}-{settings.fingerprint()}{self._variant}"
            if key not in self._caches:
                self._caches[key] = Cache(self.folder, key)
            known = self._by_settings[id(settings)] = settings, self._caches[key]
        return known[1]

    def _stamp(self, local_rules: tuple[str, ...]) -> str:
        if local_rules not in self._stamps:
            self._stamps[local_rules] = engine_stamp((rules_folder(), *local_rules))
        return self._stamps[local_rules]

    def _thawed(self, found: Any, path: str, cache: Cache) -> FileResult | None:
        """The inverse of `_frozen`; None for what rests on other files that have changed since.

        `path` is how the file is called this time.
        """
        if found == 0:
            return FileResult()
        findings, hidden, quiet, noqa, consulted = found
        if any(self._digest_at(other, cache) != digest for other, digest in consulted.items()):
            return None
        result = FileResult(_findings(findings, path), quiet=quiet, noqa=noqa)
        result.hidden = _findings(hidden, path)
        return result

    def _digest_at(self, path: str, cache: Cache) -> str:
        # Many files import from one.
        if path not in self._digests:
            is_folder = path.endswith(EVERY_FILE)
            self._digests[path] = project_stamp(path.removesuffix(EVERY_FILE)) if is_folder else cache.digest_at(path)
        return self._digests[path]


def _findings(entries: list[Any], path: str) -> list[model.Finding]:
    return [model.Finding.from_json({**entry, "path": path}) for entry in entries]


def _frozen(result: FileResult) -> Any:
    """The result as the cache stores it: 0 for nothing at all, which is what most files come to."""
    if not (result.findings or result.hidden or result.quiet or result.consulted):
        return 0
    findings, hidden = ([finding.to_json() for finding in each] for each in (result.findings, result.hidden))
    return [findings, hidden, result.quiet, result.noqa, result.consulted]
