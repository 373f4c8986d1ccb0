"""From what the user named to a report: discovery, cache, gate, worker processes.

The parent does what is cheap for all files (find, compare with the cache, look for words); only files in which a rule could
fire are outlined, and by several processes if they are many.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nanlint.engine.check_file import FileResult, Ruleset, check_path, check_stdin
from nanlint.engine.rulebook import rulebook
from nanlint.model import FileError, Finding, Report, Severity, Summary
from nanlint.settings import Settings, SettingsFinder
from nanlint.source.cache import FOLDER, Cache, engine_stamp
from nanlint.source.discover import Discovery, FoundFile, discover
from nanlint.source.gate import TORCH_AND_KIN
from nanlint.source.lines import split_lines
from nanlint.source.mentions import mentions_suppression

if TYPE_CHECKING:
    from nanlint.model import RuleInfo

# About 150 ms of outlining and checking: below that, starting processes costs more than it saves.
_WORTH_A_PROCESS = 250_000

Progress = Callable[[int, int], None]
"""Told how many files are done and how many there are."""


@dataclass(frozen=True)
class Plan:
    """What the command line asks of a run, apart from settings."""

    paths: Sequence[str] = ()
    overrides: Mapping[str, object] = field(default_factory=dict)
    config: str | None = None
    isolated: bool = False
    jobs: int = 0
    """0 for as many as there are cores."""
    use_cache: bool = True
    gated: bool = True
    stdin: str | None = None
    stdin_filename: str = ""


class Run:
    """One run over one set of paths."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        folder = os.environ.get("NANLINT_CACHE_DIR") or ""
        memo_dir = (folder or os.path.join(os.getcwd(), FOLDER)) if plan.use_cache else None
        self.finder = SettingsFinder(
            plan.overrides,
            config=plan.config,
            isolated=plan.isolated,
            memo_dir=memo_dir if memo_dir and os.path.isdir(memo_dir) else None,
        )
        self.settings = self.finder.for_directory(os.getcwd())
        self.cache_folder = folder or self.settings.cache_dir or os.path.join(self.settings.root or os.getcwd(), FOLDER)
        self.checker = Checker(gated=plan.gated)
        self.recalled = 0
        """How many files the cache knew."""
        self.fixed = 0
        """How many findings were fixed or suppressed in the files."""
        self._caches: dict[str, Cache] = {}
        self._stamp = ""

    def discover(self) -> Discovery:
        """The files of this run."""
        return discover(self.plan.paths, self.finder, stdin_filename=self.plan.stdin_filename)

    def check(self, discovery: Discovery, progress: Progress | None = None) -> dict[str, FileResult]:
        """What was found, by path. Every wrong selector or option in any settings is an error before anything runs."""
        results: dict[str, FileResult] = {}
        for settings in {id(file.settings): file.settings for file in discovery.files}.values():
            self.checker.ruleset(settings)
        open_files = [file for file in discovery.files if not self._answered_early(file, results)]
        total = len(discovery.files)
        for file, result in self._check_all(open_files):
            results[file.path] = result
            self._remember(file, result)
            if progress is not None:
                progress(len(results), total)
        for cache in self._caches.values():
            cache.save()
        return results

    def _answered_early(self, file: FoundFile, results: dict[str, FileResult]) -> bool:
        """Whether the file needs no check: nothing reads its kind, or the cache knows it, or no rule's word is in it."""
        if file.is_stdin:
            return False
        if file.kind == "config":
            results[file.path] = FileResult()
            return True
        known = self._recall(file)
        if known is not None:
            results[file.path] = known
            self.recalled += 1
            return True
        if self.plan.gated and self.checker.has_nothing_for(file):
            results[file.path] = FileResult()
            self._remember(file, results[file.path])
            return True
        return False

    def _check_all(self, files: list[FoundFile]) -> Iterator[tuple[FoundFile, FileResult]]:
        jobs = self._jobs(files)
        if jobs <= 1:
            for file in files:
                yield file, self.checker(file) if not file.is_stdin else self._check_stdin(file)
            return
        from nanlint.engine.workers import run_in_workers  # noqa: PLC0415 - for large runs only

        # The largest first, so that no worker is left alone with one at the end.
        ordered = sorted(files, key=lambda file: -file.size)
        for file, answer in run_in_workers(ordered, self.checker, jobs=jobs):
            yield file, answer if answer is not None else _died(file)

    def _jobs(self, files: list[FoundFile]) -> int:
        if any(file.is_stdin for file in files) or len(files) < 2:
            return 1
        if self.plan.jobs:
            return min(self.plan.jobs, len(files))
        from nanlint.engine.workers import cores  # noqa: PLC0415 - for large runs only

        return min(cores(), len(files)) if sum(file.size for file in files) > _WORTH_A_PROCESS else 1

    def _check_stdin(self, file: FoundFile) -> FileResult:
        return check_stdin(self.plan.stdin or "", file.path, self.checker.ruleset_for(file))

    def _cache_for(self, settings: Settings) -> Cache:
        key = f"{settings.fingerprint()}{'' if self.plan.gated else '-ungated'}"
        if key not in self._caches:
            self._stamp = self._stamp or engine_stamp(settings.local_rules)
            self._caches[key] = Cache(self.cache_folder, f"{self._stamp}-{key}")
        return self._caches[key]

    def _recall(self, file: FoundFile) -> FileResult | None:
        if not self.plan.use_cache:
            return None
        known = self._cache_for(file.settings).look_up(os.path.abspath(file.path), file.mtime_ns, file.size)
        return None if known is None else _thawed(known, file.path)

    def _remember(self, file: FoundFile, result: FileResult) -> None:
        if self.plan.use_cache and not file.is_stdin:
            self._cache_for(file.settings).store(os.path.abspath(file.path), file.mtime_ns, file.size, _frozen(result))

    def forget(self, file: FoundFile) -> None:
        """Do not trust the cache about a file that this run has rewritten."""
        if self.plan.use_cache and not file.is_stdin:
            self._cache_for(file.settings).drop(os.path.abspath(file.path))

    def report(self, progress: Progress | None = None) -> Report:
        """Find, check and report: the whole run."""
        discovery = self.discover()
        return self.assemble(discovery, self.check(discovery, progress))

    def assemble(self, discovery: Discovery, results: Mapping[str, FileResult]) -> Report:
        """The report on `results`: what the settings of each file show, in reading order."""
        findings: list[Finding] = []
        errors: list[FileError] = [*discovery.errors]
        quiet = 0
        for file in discovery.files:
            result = results[file.path]
            mildest = Severity(file.settings.severity).rank
            findings += [finding for finding in result.findings if finding.severity.rank >= mildest]
            errors += result.errors
            quiet += result.quiet
        return Report(
            findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)),
            errors=tuple(errors),
            summary=Summary(files=len(discovery.files), fixed=self.fixed, suppressed=quiet),
            rules=self.rule_infos(findings),
            source_lines=SourceLines({file.path: self.plan.stdin or "" for file in discovery.files if file.is_stdin}),
        )

    def rule_infos(self, findings: Sequence[Finding]) -> dict[str, RuleInfo]:
        """What readers may want to know about the rules behind `findings`."""
        book = rulebook(self.settings.local_rules)
        return {code: book.info(code) for code in sorted({finding.code for finding in findings}) if code in book.rules}


class Checker:
    """Checks one found file; knows the rules of every settings it meets. Pickled without them for a new interpreter."""

    def __init__(self, *, gated: bool) -> None:
        self.gated = gated
        self._rulesets: dict[str, Ruleset] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"gated": self.gated, "_rulesets": {}}

    def __call__(self, file: FoundFile) -> FileResult:
        """What is found in `file`. A border: whatever fails here is told of this file, and the others go on."""
        try:
            return check_path(file.path, file.path, self.ruleset_for(file))
        except Exception as error:  # noqa: BLE001 - the border: one file
            if os.environ.get("NANLINT_RAISE"):
                raise
            message = f"nanlint failed on this file ({type(error).__name__}: {error}); please report it"
            return FileResult(errors=[FileError(file.path, None, message)])

    def has_nothing_for(self, file: FoundFile) -> bool:
        """Whether the bytes of `file` alone tell that nothing can be found in it."""
        try:
            with open(file.path, "rb") as source:
                data = source.read()
        except OSError:
            return False
        if mentions_suppression(data) or file.kind == "notebook":
            return False
        return not (TORCH_AND_KIN.search(data) and self.ruleset_for(file).gate.admits(data)) and _is_plain_text(data)

    def ruleset(self, settings: Settings) -> Ruleset:
        """The rules that `settings` select, ready to run."""
        key = settings.fingerprint()
        if key not in self._rulesets:
            book = rulebook(settings.local_rules)
            self._rulesets[key] = Ruleset(
                book.select(settings), known=book.names, gated=self.gated, severities=book.severities(settings)
            )
        return self._rulesets[key]

    def ruleset_for(self, file: FoundFile) -> Ruleset:
        """The rules for one file: those of its settings, less what per-file-ignores switches off there."""
        ruleset = self.ruleset(file.settings)
        ignored = file.settings.ignored_for(file.path)
        return ruleset.without(rulebook(file.settings.local_rules).codes(ignored)) if ignored else ruleset


@dataclass(frozen=True)
class SourceLines:
    """Lines of a path, or of one cell of a notebook, for code frames and baselines; read once each."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """What was read from stdin, by the name it goes under."""
    _known: dict[tuple[str, int | None], Sequence[str]] = field(default_factory=dict)

    def __call__(self, path: str, cell: int | None) -> Sequence[str]:
        """Without line ends; empty if the file can't be read any more."""
        if (path, cell) not in self._known:
            self._known[path, cell] = self._read(path, cell)
        return self._known[path, cell]

    def _read(self, path: str, cell: int | None) -> Sequence[str]:
        from nanlint.source.read import UnreadableSource, read_source  # noqa: PLC0415 - only findings need lines

        try:
            if path in self.texts:
                text = self.texts[path]
            elif cell is None:
                text = read_source(path).text
            else:
                return _cell_lines(path, cell)
        except UnreadableSource:
            return ()
        return [line.rstrip("\r\n") for line in split_lines(text)]


def _cell_lines(path: str, cell: int) -> Sequence[str]:
    from nanlint.source.notebook import Notebook  # noqa: PLC0415 - few runs meet a notebook
    from nanlint.source.read import UnreadableSource  # noqa: PLC0415 - as above

    try:
        with open(path, "rb") as source:
            return Notebook.parse(source.read(), path).lines(cell)
    except OSError as error:
        raise UnreadableSource(str(error)) from None


def _is_plain_text(data: bytes) -> bool:
    """Whether nothing about the bytes themselves is wrong; what is has to be reported by the full check."""
    if b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _died(file: FoundFile) -> FileResult:
    message = "the process that checked this file died (out of memory, or a crash in a native library); it was not checked"
    return FileResult(errors=[FileError(file.path, None, message)])


def _frozen(result: FileResult) -> Any:
    """The result as the cache stores it: 0 for nothing at all, which is what most files come to."""
    if not result.findings and not result.errors and not result.quiet:
        return 0
    return [
        [finding.to_json() for finding in result.findings],
        [error.to_json() for error in result.errors],
        result.quiet,
    ]


def _thawed(known: Any, path: str) -> FileResult:
    """The inverse of `_frozen`; `path` is how the file is called this time."""
    if known == 0:
        return FileResult()
    findings, errors, quiet = known
    return FileResult(
        [replace(Finding.from_json(entry), path=path) for entry in findings],
        [replace(FileError.from_json(entry), path=path) for entry in errors],
        quiet,
    )
