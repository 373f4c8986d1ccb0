"""One found file with the rules of its settings. A border: what fails on one file is told of it, and the others go on."""

# pathlib is not imported on a clean run.

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

from nanlint import model
from nanlint.digest import digest_of
from nanlint.engine.check_file import check_bytes, check_path, syntax_error
from nanlint.engine.file_result import FileResult
from nanlint.engine.rules.rulebook import rulebook
from nanlint.engine.rules.ruleset import Ruleset
from nanlint.prefilter.torch_code import is_about_torch, may_use_torch
from nanlint.source.comments.mentions import mentions_suppression
from nanlint.source.configs.words import is_something_else, is_training_config, states_settings
from nanlint.source.read import UnreadableSource, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanlint.model import FileError
    from nanlint.settings import Settings
    from nanlint.source.discover import FoundFile

Outcome = TypeVar("Outcome")


def on_one_file(path: str, work: Callable[[], Outcome]) -> Outcome | FileError:
    """What `work` on the file gives; whatever fails becomes one line about it."""
    try:
        return work()
    except Exception as error:
        if os.environ.get("NANLINT_RAISE"):
            raise
        reason = f"{type(error).__name__}: {error}"
        return model.FileError(path, None, f"nanlint failed on this file ({reason}); please report it")


class Checker:
    """Checks one found file; knows the rules of every settings it meets. Pickled without them for a new interpreter."""

    def __init__(self, *, gated: bool) -> None:
        self.gated = gated
        self._rulesets: dict[int, tuple[Settings, Ruleset]] = {}
        self._narrowed: dict[tuple[int, frozenset[str]], Ruleset] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"gated": self.gated, "_rulesets": {}, "_narrowed": {}}

    def __call__(self, file: FoundFile) -> FileResult:
        """What is found in the file on disk."""
        return _result(
            on_one_file(file.path, lambda: check_path(file.path, self.ruleset_for(file), is_named=file.is_named))
        )

    def prepare(self, files: Sequence[FoundFile] = ()) -> int:
        """Load what the first file with something for the rules would load: the analysis, the project, and the rules, which are counted."""
        from nanlint.engine.hazard_rules import project_of  # noqa: PLC0415 - for large runs only

        for file in files:
            project_of(file.path)
        return sum(len(ruleset.rules) for _, ruleset in self._rulesets.values())

    def forget(self) -> None:
        """Let go of projects that were read before: their files may have changed."""
        import sys  # noqa: PLC0415 - a run that reads no project loads nothing for it

        loaded = sys.modules.get("nanlint.engine.hazard_rules")
        if loaded is not None:
            loaded.forget_projects()

    def check_bytes(self, file: FoundFile, data: bytes) -> FileResult:
        """What is found in `data`, which came through stdin under the file's name."""
        return _result(on_one_file(file.path, lambda: check_bytes(data, file.path, self.ruleset_for(file))))

    def has_nothing_for(self, file: FoundFile) -> FileResult | None:
        """The empty result, if the bytes of the file alone tell that nothing can be found in it; else None."""
        if file.kind == "notebook" or (file.kind == "config" and file.is_named):
            return None
        if file.kind == "config" and is_something_else(file.path, file.size):
            return FileResult()
        try:
            data = read_bytes(file.path)
        except UnreadableSource:
            return None
        if self._may_find_something(file, data):
            return None
        if file.kind != "config" and syntax_error(data, file.path) is not None:
            return None
        return FileResult(digest=digest_of(data))

    def _may_find_something(self, file: FoundFile, data: bytes) -> bool:
        if file.kind == "config":
            return self.ruleset_for(file).judges_settings and is_training_config(data)
        ruleset, is_torch = self.ruleset_for(file), is_about_torch(data)
        if may_use_torch(data) and ruleset.prefilter.admits(data):
            return True
        if mentions_suppression(data) or not _is_plain_text(data):
            return True
        return ruleset.judges_settings and states_settings(data, is_torch=is_torch)

    def ruleset(self, settings: Settings) -> Ruleset:
        """The rules that `settings` select, ready to run; wrong selectors and options are an error."""
        # All files of a folder share one settings object, so its identity will do.
        known = self._rulesets.get(id(settings))
        if known is None:
            selection = rulebook(settings.local_rules).select(settings)
            ruleset = Ruleset(selection, gated=self.gated, mildest=model.Severity(settings.severity))
            known = self._rulesets[id(settings)] = settings, ruleset
        return known[1]

    def ruleset_for(self, file: FoundFile) -> Ruleset:
        """The rules for one file: those of its settings, less what per-file-ignores switches off there."""
        ruleset = self.ruleset(file.settings)
        ignored = file.settings.ignored_for(file.path)
        if not ignored:
            return ruleset
        key = id(file.settings), rulebook(file.settings.local_rules).codes(ignored)
        if key not in self._narrowed:
            self._narrowed[key] = ruleset.without(key[1])
        return self._narrowed[key]


def _result(outcome: FileResult | FileError) -> FileResult:
    return outcome if isinstance(outcome, FileResult) else FileResult(errors=[outcome])


def _is_plain_text(data: bytes) -> bool:
    """Whether nothing about the bytes themselves is wrong; what is has to be reported by the full check."""
    if b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
