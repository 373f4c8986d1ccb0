"""From what the user named to a report: discovery, cache, gate, worker processes.

The parent does what is cheap for all files (find, compare with the cache, look for words); only files in which a rule
could fire are outlined, and by several processes if they are many.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH109, PTH110, PTH112, PTH118, PTH120

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

from nanlint import model
from nanlint.engine.checker import Checker
from nanlint.engine.collector import without_collector
from nanlint.engine.file_result import FileResult
from nanlint.engine.memory import Memory
from nanlint.engine.rules.rulebook import RuleInfos
from nanlint.engine.source_lines import SourceLines
from nanlint.sealed import has_link_below
from nanlint.settings import SettingsFinder
from nanlint.settings.project import CONFIG_NAMES, project_root
from nanlint.settings.user import user_cache_folder
from nanlint.source.cache import FOLDER
from nanlint.source.discover import Discovery, FoundFile, discover

if TYPE_CHECKING:
    from nanlint.engine.in_project import InProject
    from nanlint.model import Finding, Report

__all__ = ["Checker", "Plan", "Progress", "Run"]

# About 150 ms of outlining and checking: below that, starting processes costs more than it saves.
_WORTH_A_PROCESS = 250_000

Progress = Callable[[int, int], None]
"""Told how many files are done and how many there are."""


class Plan(NamedTuple):
    """What the command line asks of a run, apart from settings."""

    paths: Sequence[str] = ()
    overrides: Mapping[str, object] = {}
    config: str | None = None
    isolated: bool = False
    jobs: int = 0
    """0 for as many as there are cores."""
    use_cache: bool = True
    gated: bool = True
    allow_local_rules: bool = False
    """Whether rules of the checked repository may run: that is code of somebody else's."""
    stdin: bytes | None = None
    stdin_filename: str = ""


class Run:
    """One run over one set of paths."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.finder = SettingsFinder(
            plan.overrides,
            config=plan.config,
            isolated=plan.isolated,
            memo_dir=_folder_for_memos(plan) if plan.use_cache else None,
            allow_local_rules=plan.allow_local_rules,
        )
        self.settings = self.finder.for_directory(os.getcwd())
        """Those of the working directory: what is printed, fixed and remembered is decided once for a run."""
        self.cache_folder = _named_folder(plan) or self.settings.cache_dir or os.path.join(self.settings.root, FOLDER)
        usable = plan.use_cache and _is_ours_to_use(self.cache_folder, plan)
        self.memory = Memory(self.cache_folder, variant="" if plan.gated else "-ungated") if usable else None
        self.checker = Checker(gated=plan.gated)
        self.contents: dict[str, bytes] = {}
        """What came through stdin, by its name, as it is now: fixes change it."""
        self._project: InProject | None = None
        self.fixed = 0
        """How many findings were fixed in the files."""

    def discover(self) -> Discovery:
        """The files of this run."""
        discovery = discover(self.plan.paths, self.finder, stdin_filename=self.plan.stdin_filename)
        self.contents = {file.path: self.plan.stdin or b"" for file in discovery.files if file.is_stdin}
        return discovery

    def check(self, discovery: Discovery, progress: Progress | None = None) -> dict[str, FileResult]:
        """What was found, by path. Every wrong selector or option in any settings is an error before anything runs."""
        for settings in {id(file.settings): file.settings for file in discovery.files}.values():
            if self.memory is None or not self.memory.knows(settings):
                self.checker.ruleset(settings)
        self.checker.forget()
        results: dict[str, FileResult] = {}
        total = len(discovery.files)
        for file, result in self._answers(discovery.files):
            results[file.path] = self._with_project(file, result)
            if progress is not None:
                progress(len(results), total)
        if self.memory is not None:
            self.memory.save()
        return results

    def _with_project(self, file: FoundFile, result: FileResult) -> FileResult:
        """The result with levels that know the project; what is remembered of a file does not depend on others."""
        found = [*result.findings, *result.hidden]
        if not found:
            return result
        from nanlint.engine.in_project import InProject  # noqa: PLC0415 - only where something was found

        self._project = self._project or InProject()
        judged, known = self._project.judged(found, file), copy(result)
        if judged != found:
            ruleset = self.checker.ruleset(file.settings)
            known.findings, known.hidden = ruleset.divided(ruleset.stamped(judged, file.path))
        return known

    def uses_half(self, path: str) -> bool:
        """Whether a file's project is known to use float16 or bfloat16, or nobody knows."""
        from nanlint.engine.in_project import InProject  # noqa: PLC0415 - for runs that confirm

        self._project = self._project or InProject()
        path = os.path.abspath(path)
        return self._project.uses_half(path, self.finder.for_path(path).formats)

    def _answers(self, files: Sequence[FoundFile]) -> Iterator[tuple[FoundFile, FileResult]]:
        left: list[FoundFile] = []
        for file in files:
            result = self._early_answer(file)
            if result is None:
                left.append(file)
            else:
                yield file, result
        for file, result in self._check_all(left):
            if self.memory is not None and not file.is_stdin:
                self.memory.remember(file, result)
            yield file, result

    def _early_answer(self, file: FoundFile) -> FileResult | None:
        """The result for a file that needs no check: it is remembered, or it lacks the words."""
        # What nobody named and is no training config is remembered as clean, broken or not.
        if file.is_stdin or (file.kind == "config" and file.is_named):
            return None
        if self.memory is not None and (known := self.memory.recall(file)) is not None:
            return known
        nothing = self.checker.has_nothing_for(file) if self.plan.gated else None
        if nothing is not None and self.memory is not None:
            self.memory.remember(file, nothing)
        return nothing

    def _check_all(self, files: list[FoundFile]) -> Iterator[tuple[FoundFile, FileResult]]:
        jobs = self._jobs(files)
        if jobs <= 1:
            with without_collector() as collect:
                for number, file in enumerate(files, 1):
                    stdin = self.contents.get(file.path)
                    yield file, self.checker(file) if stdin is None else self.checker.check_bytes(file, stdin)
                    collect(number)
            return
        from nanlint.engine.workers import run_in_workers  # noqa: PLC0415 - for large runs only

        # The largest first, so that no worker is left alone with one at the end.
        ordered = sorted(files, key=lambda file: -file.size)
        for file, answer in run_in_workers(
            ordered, self.checker, jobs=jobs, before_fork=lambda: self.checker.prepare(ordered)
        ):
            yield file, answer if answer is not None else _died(file)

    def _jobs(self, files: list[FoundFile]) -> int:
        if any(file.is_stdin for file in files) or len(files) < 2:
            return 1
        if self.plan.jobs:
            return min(self.plan.jobs, len(files))
        from nanlint.engine.workers import cores  # noqa: PLC0415 - for large runs only

        return min(cores(), len(files)) if sum(file.size for file in files) > _WORTH_A_PROCESS else 1

    def report(self, progress: Progress | None = None) -> Report:
        """Find, check and report: the whole run."""
        discovery = self.discover()
        return self.assemble(discovery, self.check(discovery, progress))

    def assemble(self, discovery: Discovery, results: Mapping[str, FileResult]) -> Report:
        """The report on `results`, findings and errors in reading order."""
        found = [results[file.path] for file in discovery.files]
        findings = [finding for result in found for finding in result.findings]
        hidden = [finding for result in found for finding in result.hidden]
        errors = [*discovery.errors, *(error for result in found for error in result.errors)]
        return model.Report(
            findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)),
            hidden=tuple(sorted(hidden, key=lambda finding: finding.sort_key)),
            errors=tuple(sorted(errors, key=lambda error: (error.path, error.line or 0))),
            summary=model.Summary(
                files=sum(_counts(file, results[file.path]) for file in discovery.files),
                fixed=self.fixed,
                suppressed=sum(result.quiet for result in found),
            ),
            rules=RuleInfos(_codes(findings), {file.settings.local_rules for file in discovery.files}),
            source_lines=SourceLines(self.contents),
        )


def _counts(file: FoundFile, result: FileResult) -> bool:
    """Whether a file is one of those that were checked: of the config files, those that have something to do with it."""
    return file.kind != "config" or file.is_named or bool(result.findings or result.hidden or result.quiet)


def _codes(findings: Sequence[Finding]) -> list[str]:
    return sorted({finding.code for finding in findings})


def _died(file: FoundFile) -> FileResult:
    message = (
        "the process that checked this file died (out of memory, or a crash in a native library); it was not checked"
    )
    return FileResult(errors=[model.FileError(file.path, None, message)])


def _named_folder(plan: Plan) -> str:
    """The cache folder that the command line, the environment or the user's own settings name."""
    named = plan.overrides.get("cache_dir") or os.environ.get("NANLINT_CACHE_DIR") or user_cache_folder()
    return os.path.abspath(str(named)) if named else ""


def _folder_for_memos(plan: Plan) -> str | None:
    """Where judged settings may be remembered: the cache folder, if it is there already.

    Which folder that is, the settings decide, which are to be read; so it is looked for where it is by default.
    """
    folder, named = os.getcwd(), _named_folder(plan)
    if named:
        return named if os.path.isdir(named) else None
    while not os.path.isdir(os.path.join(folder, FOLDER)):
        parent = os.path.dirname(folder)
        if parent == folder or any(os.path.exists(os.path.join(folder, name)) for name in CONFIG_NAMES):
            return None
        folder = parent
    found = os.path.join(folder, FOLDER)
    return found if _is_ours_to_use(found, plan) else None


def _is_ours_to_use(folder: str, plan: Plan) -> bool:
    """Whether the user chose the folder, or no link between it and the project leads elsewhere."""
    above = os.path.dirname(folder)
    return bool(_named_folder(plan)) or not has_link_below(project_root(above) or above, folder)
