"""Whether the prefilter drops only what no rule would have found: `python benchmarks/prefilter.py [WHEEL or FOLDER ...]`.

Two questions about the pinned packages and whatever else is named. Findings: does a run find exactly what a
run with --no-gate finds, with all rules? Operations: does each operation that some rule watches stand in a chunk that is kept for that
rule, whether the rule finds something there or not? Exits with 1 if not.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import Pool
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.packages import DEFAULT_WORK, PACKAGES, Package, Source, Workshop
from benchmarks.table import table
from nanlint.analysis.op_graph import name_of
from nanlint.analysis.project.whole import WholeProject
from nanlint.engine.check_file import check_text
from nanlint.engine.checker import Checker
from nanlint.engine.rules.rulebook import rulebook
from nanlint.prefilter.of_rules import trigger_of
from nanlint.prefilter.torch_code import may_use_torch
from nanlint.prefilter.triggers import Prefilter, Trigger
from nanlint.settings import Settings
from nanlint.source.read import UnreadableSource, read_source
from nanlint.source.syntax.outline import outline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.source.syntax.outline import Outline

EVERY_RULE = Settings(select=("ALL",), preview=True, severity="info")


@dataclass
class Comparison:
    """What gated and ungated runs made of some files."""

    files: int = 0
    lines: int = 0
    findings: int = 0
    calls: int = 0
    differences: list[str] = field(default_factory=list)

    def add(self, other: Comparison) -> None:
        """Count `other` in."""
        self.files += other.files
        self.lines += other.lines
        self.findings += other.findings
        self.calls += other.calls
        self.differences += other.differences


def compare(path: Path) -> Comparison:
    """One file, both questions. A file that is no Python 3 source, or no PyTorch code, has nothing to compare."""
    try:
        text = read_source(path).text
    except UnreadableSource:
        return Comparison()
    result = Comparison(1, text.count("\n"))
    if not may_use_torch(text.encode("utf-8", "surrogatepass")):
        return result
    try:
        result.findings, result.differences = compare_findings(text, str(path))
        seen, overlooked = compare_calls(text)
    except Exception as error:  # noqa: BLE001 - a file on which nanlint fails is told like a difference
        result.differences = [f"{path}: {type(error).__name__}: {error}"]
        return result
    result.calls = seen.total()
    result.differences += [f"{path}: {entry}" for entry in overlooked]
    return result


def compare_findings(text: str, path: str, settings: Settings = EVERY_RULE) -> tuple[int, list[str]]:
    """How many findings an ungated run has, and each that only one of the two runs has."""
    gated, ungated = (
        Counter(
            f"{path}:{finding.span.line}:{finding.span.column} {finding.code} {finding.message} {finding.fix}"
            for finding in check_text(text, path, Checker(gated=gated).ruleset(settings)).findings
        )
        for gated in (True, False)
    )
    lost = [f"lost by the prefilter: {entry}" for entry in (ungated - gated).elements()]
    added = [f"only with the prefilter: {entry}" for entry in (gated - ungated).elements()]
    return ungated.total(), lost + added


def compare_calls(text: str) -> tuple[Counter[str], list[str]]:
    """The watched operations that the analysis sees, and each that a rule would not be shown."""
    file = WholeProject("", is_project=False).file("compared.py", text)
    if file is None:
        return Counter(), []
    plan = outline(text)
    watching = _watching()
    kept: dict[str, frozenset[str]] = {}
    seen: Counter[str] = Counter()
    overlooked = []
    for op in (op for function in file.functions for op in function.ops if op.copy_of is None):
        name = name_of(op)
        if name not in watching:
            continue
        seen[name] += 1
        if name not in kept:
            kept[name] = frozenset.intersection(*(frozenset(each.chunks(plan)) for each in watching[name]))
        line = getattr(op.node, "lineno", 1)
        chunk = _chunk_at(line, plan)
        if chunk not in kept[name]:
            overlooked.append(f"{name} in {chunk} (line {line})")
    return seen, overlooked


def _chunk_at(line: int, plan: Outline) -> str:
    """The name of the innermost chunk that holds a line."""
    around = {name: chunk for name, chunk in plan.chunks.items() if chunk.first_line <= line <= chunk.last_line}
    return min(around, key=lambda name: around[name].last_line - around[name].first_line)


@cache
def _watching() -> dict[str, list[Prefilter]]:
    """Operation -> what is kept for each rule that watches it, whatever else its file has to hold."""
    found: dict[str, list[Prefilter]] = {}
    for rule in rulebook().rules.values():
        for operation in rule.operations():
            found.setdefault(operation, []).append(Prefilter([Trigger(trigger_of(rule).words)]))
    return found


def sources(workshop: Workshop, named: Iterable[Path]) -> list[Source]:
    """The pinned packages and what the user named."""
    found = [workshop.source(package) for package in PACKAGES]
    for path in named:
        package = Package(path.name.partition("-")[0], path.suffix.strip(".") or "folder", ".")
        found.append(Source(package, path) if path.is_dir() else workshop.unpack(path, package))
    return found


def main() -> int:
    """Compare every file, print what differs and how much was compared."""
    options = _options()
    rows, differs = [], False
    for source in sources(Workshop(options.work, options.wheels), options.paths):
        total = Comparison()
        with Pool() as pool:
            for result in pool.imap_unordered(compare, source.files()[:: options.every], chunksize=4):
                total.add(result)
        print(*sorted(total.differences), sep="\n", end="\n" if total.differences else "")
        counts = (total.files, total.lines, total.findings, total.calls, len(total.differences))
        rows.append((source.package.name, *(f"{count:,}" for count in counts)))
        differs = differs or bool(total.differences)
    print(*table(("package", "files", "lines", "findings", "calls", "differences"), rows), sep="\n")
    return int(differs)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, help="further wheels or folders")
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK, help=f"the working folder (default: {DEFAULT_WORK})")
    parser.add_argument("--wheels", type=Path, help="a folder that holds the wheels of the packages already")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="compare one file of N, for a first look")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
