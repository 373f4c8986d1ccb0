"""What facts and rules cost, against the parse of the same code: CPU per file on the whole transformers tree.

    python benchmarks/facts_cost.py [--sample N] [--select CODES] [--package NAME] [--work DIR] [--wheels DIR]

One process, one file after the other, all default rules. *Facts and rules* is all the work on a file behind outline and prefilter:
sketches, facts, rules, and libcst on what they tell of. It is held against libcst's parse of the same file, and, beside that, of the
functions in it that the prefilter keeps; nanlint needs neither. Targets: facts and rules cost at most twice the parse of the file; no file
costs more than 20 times the median per line.
"""

from __future__ import annotations

import argparse
import ast
import gc
import random
import resource
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import libcst

from benchmarks.realcode import corpus
from nanlint.engine import check_file, run_rules
from nanlint.engine.checker import Checker, on_one_file
from nanlint.model import FileError
from nanlint.settings import Settings
from nanlint.source import outline
from nanlint.source.lines import split_lines
from nanlint.source.parse import parse_chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nanlint.engine.ruleset import Ruleset
    from nanlint.facts.module_facts import ModuleFacts
    from nanlint.source.outline import Chunk, Outline

MOST_TIMES_PARSE = 2.0
MOST_TIMES_MEDIAN = 20.0
# Below this a file's cost is mostly the cost of starting on it, and the clock's grain.
LEAST_LINES = 50
SHOWN_FILES = 10
# As in nanlint's own worker processes, which run without the collector.
FILES_PER_COLLECTION = 50

# Something to look at, of which nothing is measured.
FIRST = "import torch\n\n\ndef first(x):\n    return torch.log(torch.softmax(x, dim=-1)) / x.sum()\n"


@dataclass(slots=True)
class FileCost:
    """CPU seconds of one file by phase, and how much of it there is."""

    path: str
    lines: int
    kept_lines: int = 0
    outline: float = 0.0
    facts_and_rules: float = 0.0
    total: float = 0.0
    kept_parse: float = 0.0
    whole_parse: float = 0.0

    @property
    def per_line(self) -> float:
        """Seconds per line of the file, outline and prefilter included."""
        return self.total / self.lines


@dataclass(slots=True)
class Meter:
    """Counts CPU in nanlint's own functions, wrapped from outside; nanlint knows nothing of it."""

    cost: FileCost = field(default_factory=lambda: FileCost("", 1))
    kept: list[Chunk] = field(default_factory=list)

    def install(self) -> None:
        """Wrap the outline, and the rules on one file."""
        self._wrap_outline(check_file, outline.outline)
        self._wrap_run_rules(run_rules, run_rules.run_rules)

    def _wrap_outline(self, module: Any, original: Callable[..., Outline]) -> None:
        def timed(text: str, path: str) -> Outline:
            start = time.process_time()
            try:
                return original(text, path)
            finally:
                self.cost.outline += time.process_time() - start

        module.outline = timed

    def _wrap_run_rules(self, module: Any, original: Callable[..., Any]) -> None:
        def timed(names: Sequence[str], facts: ModuleFacts, path: str, ruleset: Ruleset) -> object:
            kept = [facts.outline.chunks[name] for name in names]
            self.kept = [chunk for chunk in kept if isinstance(chunk.node, (ast.FunctionDef, ast.AsyncFunctionDef))]
            self.cost.kept_lines = sum(chunk.last_line - chunk.first_line + 1 for chunk in self.kept)
            start = time.process_time()
            try:
                return original(names, facts, path, ruleset)
            finally:
                self.cost.facts_and_rules += time.process_time() - start

        module.run_rules = timed


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, measure, print; 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="N files chosen by chance (default: all)")
    parser.add_argument("--package", default="transformers", metavar="NAME", help="a package of packages.toml")
    parser.add_argument("--select", default="", metavar="CODES", help="these rules only: codes, prefixes, names")
    corpus.add_places(parser)
    options = parser.parse_args(arguments)
    packages = corpus.Corpus(options.work.expanduser().resolve(), options.wheels, frozenset({options.package}))
    if not packages.releases():
        sys.exit(f"--package {options.package}: not in packages.toml")
    tree = packages.tree(packages.releases()[0])
    files = sorted(tree.rglob("*.py"))
    if options.sample:
        # The same files every time, so that two runs compare.
        files = sorted(random.Random(0).sample(files, min(options.sample, len(files))))  # noqa: S311 - no secret
    costs = measure(files, tree, options.select)
    print("\n".join(report(costs, len(files))))
    return 0 if all(verdict for _, verdict in targets(costs)) else 1


def measure(files: Sequence[Path], tree: Path, select: str) -> list[FileCost]:
    """The cost of every file that rules look at."""
    settings = Settings(select=tuple(select.split(","))) if select else Settings()
    ruleset = Checker(gated=True).ruleset(settings)
    # What the first file with something to look at would load, which is no cost of that file.
    check(FIRST, ruleset, FileCost("", 1))
    meter = Meter()
    meter.install()
    gc.disable()
    costs = []
    for number, file in enumerate(files):
        meter.cost = FileCost(str(file.relative_to(tree)), 1)
        text = file.read_text(encoding="utf-8", errors="replace")
        failure = check(text, ruleset, meter.cost)
        if failure is not None:
            print(f"left out: {failure.path}: {failure.message}", file=sys.stderr)
        elif meter.cost.facts_and_rules:
            parse_for_comparison(text, meter)
            costs.append(meter.cost)
        if number % FILES_PER_COLLECTION == 0:
            gc.collect()
    return costs


def check(text: str, ruleset: Ruleset, cost: FileCost) -> FileError | None:
    """Check one file, and note in `cost` what that took; the error, if nanlint fails on the file."""
    cost.lines = max(text.count("\n"), 1)
    start = time.process_time()
    outcome = on_one_file(cost.path, lambda: check_file.check_text(text, cost.path, ruleset))
    cost.total = time.process_time() - start
    return outcome if isinstance(outcome, FileError) else None


def parse_for_comparison(text: str, meter: Meter) -> None:
    """Note what libcst needs for the whole file, and for the functions that the prefilter keeps."""
    start = time.process_time()
    libcst.parse_module(text)
    meter.cost.whole_parse = time.process_time() - start
    lines = split_lines(text)
    start = time.process_time()
    for chunk in meter.kept:
        parse_chunk(chunk, lines)
    meter.cost.kept_parse = time.process_time() - start


def report(costs: Sequence[FileCost], files: int) -> Iterator[str]:
    """The sums, the worst files, and the targets."""
    if not costs:
        yield f"{files} files, none of them looked at by rules."
        return
    kept, lines = sum(cost.kept_lines for cost in costs), sum(cost.lines for cost in costs)
    yield f"{files} files, rules looked at {len(costs)} of them: {lines:,} lines, {kept:,} in kept functions."
    yield ""
    yield "| phase | CPU s | ms per 1,000 lines of these files | times the parse |"
    yield "|---|--:|--:|--:|"
    whole = sum(cost.whole_parse for cost in costs)
    rows = {
        "ast and outline": sum(cost.outline for cost in costs),
        "facts and rules": sum(cost.facts_and_rules for cost in costs),
        "for comparison: libcst's parse of these files": whole,
        "for comparison: libcst's parse of the kept functions": sum(cost.kept_parse for cost in costs),
    }
    for name, seconds in rows.items():
        yield f"| {name} | {seconds:.2f} | {1e6 * seconds / lines:.1f} | {seconds / whole:.2f} |"
    yield ""
    median = _median(costs)
    yield "| costliest files per line | lines | CPU s | ms per 1,000 lines | times the median | facts and rules / parse |"
    yield "|---|--:|--:|--:|--:|--:|"
    for cost in sorted(_judged(costs), key=lambda cost: -cost.per_line)[:SHOWN_FILES]:
        ratio = cost.facts_and_rules / cost.whole_parse
        yield f"| {cost.path} | {cost.lines} | {cost.total:.3f} | {1e6 * cost.per_line:.1f} | {cost.per_line / median:.1f} | {ratio:.2f} |"
    yield ""
    yield f"Median file: {1e6 * median:.1f} ms per 1,000 lines. Peak memory: {_peak_megabytes():.0f} MB in one process."
    yield ""
    for sentence, verdict in targets(costs):
        yield f"{sentence}: {'reached' if verdict else 'missed'}"


def targets(costs: Sequence[FileCost]) -> Iterator[tuple[str, bool]]:
    """The two targets in words, and whether each is reached."""
    if not costs:
        yield "no file was looked at by rules", False
        return
    ratio = sum(cost.facts_and_rules for cost in costs) / sum(cost.whole_parse for cost in costs)
    yield (
        f"facts and rules cost {ratio:.2f} times the parse of the same files, target {MOST_TIMES_PARSE:g}",
        ratio <= MOST_TIMES_PARSE,
    )
    worst = max((cost.per_line for cost in _judged(costs)), default=0.0) / _median(costs)
    yield (
        f"the costliest file costs {worst:.1f} times the median per line, target {MOST_TIMES_MEDIAN:g}",
        worst <= MOST_TIMES_MEDIAN,
    )


def _judged(costs: Sequence[FileCost]) -> list[FileCost]:
    return [cost for cost in costs if cost.lines >= LEAST_LINES]


def _median(costs: Sequence[FileCost]) -> float:
    return statistics.median([cost.per_line for cost in _judged(costs)] or [1.0])


def _peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


if __name__ == "__main__":
    sys.exit(main())
