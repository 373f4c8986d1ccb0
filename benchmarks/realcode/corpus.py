"""The pinned packages, and what nanlint says of them: findings with the source line they stand on.

nanlint runs as its users run it, as a command in a process of its own, on the tree of one release at a time. Where it
is told `last`, the findings of the last run with the same selection are read back instead.
"""

from __future__ import annotations

import functools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.realcode.archives import DEFAULT_WORK, NotAvailable, Release, unpacked

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence


HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
PACKAGES = HERE / "packages.toml"
# Enough for the largest package on a busy machine; a hang is a result too, and must not stop the other packages.
TIMEOUT_SECONDS = 1800


@dataclass(frozen=True, slots=True)
class Found:
    """One finding in a release. `code` is the source line that it starts on: rules may move the span within it."""

    rule: str
    package: str
    version: str
    path: str
    line: int
    code: str
    function: str = ""
    severity: str = ""
    message: str = ""
    end_line: int = 0
    direction: str = ""
    column: int = 0

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What identifies it from one run to the next; line numbers do not."""
        return self.rule, self.package, self.path, self.code


@dataclass(slots=True)
class PackageResult:
    """What one run on one package gave. `failure` says why there is nothing, if there is nothing."""

    package: str
    version: str
    lines: int = 0
    seconds: float = 0.0
    findings: list[Found] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    failure: str = ""

    @property
    def crashes(self) -> int:
        """How often nanlint or a rule of it failed; the other errors are files that are no valid Python."""
        return sum(" failed " in error for error in self.errors)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Where the packages are unpacked, and which of them are meant."""

    work: Path
    wheels: Path | None = None
    only: frozenset[str] = frozenset()

    def releases(self) -> list[Release]:
        """The pinned releases, in the order of the data file."""
        return [release for release in pinned() if not self.only or release.name in self.only]

    def tree(self, release: Release) -> Path:
        """The folder with the files of `release`."""
        return unpacked(release, self.work, self.wheels)

    def results(self, select: str = "", *, last: bool = False) -> Iterator[PackageResult]:
        """What nanlint says of each package, one after the other; kept for those who ask for the `last` run."""
        for release in self.releases():
            stored = self.work / "findings" / (select or "default") / f"{release.folder}.json"
            if last and stored.is_file():
                yield _read(stored)
                continue
            result = self._checked(release, select)
            if not result.failure:
                _write(result, stored)
            yield result

    def _checked(self, release: Release, select: str) -> PackageResult:
        result = PackageResult(release.name, release.version)
        chosen = selection(select, release.rules)
        try:
            if chosen is not None:
                check_tree(self.tree(release), result, chosen)
        except (NotAvailable, NanlintFailed) as error:
            result.failure = str(error)
        return result


class NanlintFailed(Exception):  # noqa: N818 - it reads as the sentence it prints
    """nanlint gave no report."""


def document(path: Path = PACKAGES) -> dict[str, Any]:
    """The data file of packages."""
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return content


def pinned() -> list[Release]:
    """Every release of the data file."""
    return [
        Release(entry["name"], entry["version"], entry["kind"], entry.get("rules", ""))
        for entry in document()["package"]
    ]


def selection(select: str, rules: str) -> str | None:
    """What to select on a package that is there for `rules` only; None if nothing of `select` is measured there."""
    if not rules or not select:
        return select or rules
    chosen = [one for one in select.split(",") if one.startswith(tuple(rules.split(",")))]
    return ",".join(chosen) or None


def add_places(parser: argparse.ArgumentParser) -> None:
    """The options that say where releases come from and where they are put."""
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK, metavar="DIR", help="releases are unpacked here")
    parser.add_argument(
        "--wheels", type=Path, metavar="DIR", help="a folder of archives to take before the index is asked"
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that every command on the corpus has."""
    add_places(parser)
    parser.add_argument("--only", default="", metavar="NAME[,…]", help="these packages only")
    parser.add_argument("--last", action="store_true", help="read the findings of the last run instead of running")


def corpus_of(options: argparse.Namespace) -> Corpus:
    """The corpus that these options ask for."""
    known = [release.name for release in pinned()]
    only = frozenset(name for name in options.only.split(",") if name)
    if unknown := only.difference(known):
        sys.exit(f"--only {','.join(sorted(unknown))}: not in packages.toml, which has {', '.join(known)}")
    return Corpus(options.work.expanduser().resolve(), options.wheels, only)


def check_tree(tree: Path, result: PackageResult, select: str = "", further: Sequence[str] = ()) -> None:
    """Run nanlint on the whole tree, with `further` options, and put what it says into `result`."""
    excluded = ",".join(document()["exclude"])
    scope = ["--no-respect-gitignore", "--extend-exclude", excluded, "."]
    files = nanlint(["check", "--isolated", "--show-files", *scope], tree).splitlines()
    result.lines = sum(_line_count(tree / file) for file in files if file.endswith(".py"))
    chosen = ["--select", select] if select else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads(nanlint(["check", "--isolated", "--no-cache", "-f", "json", *chosen, *further, *scope], tree))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    result.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    result.findings = list(found_in(report["findings"], tree, result))
    result.errors = [f"{error['path']}:{error['line'] or 1}: {error['message']}" for error in report["errors"]]


def found_in(entries: Iterable[Mapping[str, Any]], tree: Path, result: PackageResult) -> Iterator[Found]:
    """The findings of a report on `tree`, each with its source line."""
    sources: dict[str, list[str]] = {}
    for entry in entries:
        path, line = entry["path"], entry["line"]
        lines = sources.setdefault(path, source_lines(tree / path))
        yield Found(
            rule=entry["code"],
            package=result.package,
            version=result.version,
            path=path.replace(os.sep, "/"),
            line=line,
            code=lines[line - 1].strip() if line <= len(lines) else "",
            function=entry["function"] or "",
            severity=entry["severity"],
            message=entry["message"],
            end_line=entry["end_line"],
            direction=entry["direction"],
            column=entry["column"],
        )


def source_lines(path: Path) -> list[str]:
    """The lines of a file as Python counts them; no other character ends a line."""
    return path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _line_count(path: Path) -> int:
    return path.read_bytes().count(b"\n")


@functools.cache
def _copy() -> tempfile.TemporaryDirectory[str]:
    """A copy of nanlint and its rules as they are now: a run takes minutes, and measures one state of the code."""
    copy = tempfile.TemporaryDirectory(prefix="nanlint-")
    for part in ("nanlint", "rules"):
        shutil.copytree(CHECKOUT / part, Path(copy.name) / part, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def nanlint(arguments: Sequence[str], folder: Path) -> str:
    """What this checkout's nanlint prints when it is run in `folder`; findings are no failure."""
    environment = {**os.environ, "PYTHONPATH": _copy().name, "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "nanlint", *arguments]
    try:
        run = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NanlintFailed(f"nanlint was stopped after {TIMEOUT_SECONDS} s") from error
    if run.returncode not in {0, 1} or not run.stdout:
        last = run.stderr.strip().splitlines()[-1:] or ["it printed nothing"]
        raise NanlintFailed(_without_place(f"nanlint failed with exit code {run.returncode}: {last[0]}"))
    return _without_place(run.stdout)


def _without_place(text: str) -> str:
    return text.replace(f"{_copy().name}{os.sep}", "")


def default_rules() -> dict[str, str]:
    """Code -> name of the rules that run unless somebody asks otherwise."""
    return {rule["code"]: rule["name"] for rule in _rules() if not rule["preview"]}


def preview_rules() -> frozenset[str]:
    """The codes of the rules that run only when they are asked for."""
    return frozenset(rule["code"] for rule in _rules() if rule["preview"])


def _rules() -> list[dict[str, Any]]:
    """Every rule as nanlint lists it. Ends the program when nanlint can't run."""
    try:
        rules: list[dict[str, Any]] = json.loads(nanlint(["rules", "--json"], HERE))
    except NanlintFailed as error:
        sys.exit(str(error))
    return rules


def _write(result: PackageResult, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Several people may run this at once; whoever reads sees one whole result or another.
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(json.dumps(asdict(result), ensure_ascii=False), encoding="utf-8")
    part.replace(path)


def _read(path: Path) -> PackageResult:
    entry = json.loads(path.read_text(encoding="utf-8"))
    entry["findings"] = [Found(**finding) for finding in entry["findings"]]
    return PackageResult(**entry)
