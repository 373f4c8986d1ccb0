"""What facts and rules cost, against the parse of the same code: CPU per file on the whole transformers tree.

    python benchmarks/facts_cost.py [--sample N] [--select CODES] [--package NAME] [--work DIR] [--wheels DIR]

One process, one file after the other, all default rules. *Parse* is libcst on the chunks that the gate keeps; *facts and
rules* is all the rest of the work on those chunks, further chunks that facts had to parse included. Targets: facts and rules
cost at most twice the parse; no file costs more than 20 times the median per line.
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
from nanlint.source import outline, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nanlint.engine.ruleset import Ruleset
    from nanlint.source.outline import Chunk, Outline
    from nanlint.source.parse import ParsedChunk

MOST_TIMES_PARSE = 2.0
MOST_TIMES_MEDIAN = 20.0
# Below this a file's cost is mostly the cost of starting on it, and the clock's grain.
LEAST_LINES = 50
SHOWN_FILES = 10
# As in nanlint's own worker processes, which run without the collector.
FILES_PER_COLLECTION = 50


@dataclass(slots=True)
class FileCost:
    """CPU seconds of one file by phase, and how much of it there is."""

    path: str
    lines: int
    kept_lines: int = 0
    outline: float = 0.0
    parse: float = 0.0
    further_parse: float = 0.0
    run_rules: float = 0.0
    total: float = 0.0
    whole_parse: float = 0.0

    @property
    def facts_and_rules(self) -> float:
        """All the work on kept chunks but their parse."""
        return self.run_rules - self.parse

    @property
    def per_line(self) -> float:
        """Seconds per line of the file, outline and gate included."""
        return self.total / self.lines


@dataclass(slots=True)
class Meter:
    """Counts CPU in nanlint's own functions, wrapped from outside; nanlint knows nothing of it."""

    cost: FileCost = field(default_factory=lambda: FileCost("", 1))
    _kept: set[int] = field(default_factory=set)

    def install(self) -> None:
        """Wrap the outline, the rules on one file, and the parse of a chunk."""
        self._wrap_outline(check_file, outline.outline)
        self._wrap_run_rules(run_rules, run_rules.run_rules)
        original = parse.parse_chunk
        wrapped = self._timed_parse(original)
        for name, module in list(sys.modules.items()):
            if name.startswith("nanlint.") and getattr(module, "parse_chunk", None) is original:
                module.parse_chunk = wrapped  # type: ignore[attr-defined]

    def _wrap_outline(self, module: Any, original: Callable[..., Outline]) -> None:
        def timed(text: str, path: str) -> Outline:
            start = time.process_time()
            try:
                return original(text, path)
            finally:
                self.cost.outline += time.process_time() - start

        module.outline = timed

    def _wrap_run_rules(self, module: Any, original: Callable[..., Any]) -> None:
        def timed(names: Sequence[str], plan: Outline, text: str, path: str, ruleset: Ruleset) -> object:
            kept = [plan.chunks[name] for name in names]
            self._kept = {id(chunk) for chunk in kept}
            functions = [chunk for chunk in kept if isinstance(chunk.node, (ast.FunctionDef, ast.AsyncFunctionDef))]
            self.cost.kept_lines = sum(chunk.last_line - chunk.first_line + 1 for chunk in functions)
            start = time.process_time()
            try:
                return original(names, plan, text, path, ruleset)
            finally:
                self.cost.run_rules += time.process_time() - start

        module.run_rules = timed

    def _timed_parse(self, original: Callable[[Chunk, list[str]], ParsedChunk]) -> Callable[..., ParsedChunk]:
        def timed(chunk: Chunk, lines: list[str]) -> ParsedChunk:
            start = time.process_time()
            try:
                return original(chunk, lines)
            finally:
                spent = time.process_time() - start
                if id(chunk) in self._kept:
                    self.cost.parse += spent
                else:
                    self.cost.further_parse += spent

        return timed


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, measure, print; 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="N files chosen by chance (default: all)")
    parser.add_argument("--package", default="transformers", metavar="NAME", help="a package of packages.toml")
    parser.add_argument("--select", default="", metavar="CODES", help="these rules only: codes, prefixes, names")
    parser.add_argument("--whole", action="store_true", help="time libcst on the whole files, too; slow")
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
    if options.whole:
        parse_whole(costs, tree)
    print("\n".join(report(costs, len(files))))
    return 0 if all(verdict for _, verdict in targets(costs)) else 1


def measure(files: Sequence[Path], tree: Path, select: str) -> list[FileCost]:
    """The cost of every file that libcst gets to see."""
    settings = Settings(select=tuple(select.split(","))) if select else Settings()
    ruleset = Checker(gated=True).ruleset(settings)
    meter = Meter()
    meter.install()
    gc.disable()
    costs = []
    for number, file in enumerate(files):
        meter.cost = FileCost(str(file.relative_to(tree)), 1)
        failure = check(file.read_text(encoding="utf-8", errors="replace"), ruleset, meter.cost)
        if failure is not None:
            print(f"left out: {failure.path}: {failure.message}", file=sys.stderr)
        elif meter.cost.run_rules:
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


def parse_whole(costs: Sequence[FileCost], tree: Path) -> None:
    """Note what libcst needs for the whole of each file, which nanlint never asks of it."""
    for cost in costs:
        text = (tree / cost.path).read_text(encoding="utf-8", errors="replace")
        start = time.process_time()
        libcst.parse_module(text)
        cost.whole_parse = time.process_time() - start


def report(costs: Sequence[FileCost], files: int) -> Iterator[str]:
    """The sums, the worst files, and the targets."""
    if not costs:
        yield f"{files} files, none of them seen by libcst."
        return
    parse, facts = sum(cost.parse for cost in costs), sum(cost.facts_and_rules for cost in costs)
    further, outlines = sum(cost.further_parse for cost in costs), sum(cost.outline for cost in costs)
    kept, lines = sum(cost.kept_lines for cost in costs), sum(cost.lines for cost in costs)
    yield f"{files} files, {len(costs)} of them seen by libcst: {lines:,} lines, {kept:,} in kept functions."
    yield ""
    yield "| phase | CPU s | ms per 1,000 kept lines | times the parse |"
    yield "|---|--:|--:|--:|"
    rows = [
        ("ast and outline of these files", outlines),
        ("libcst parse of kept chunks", parse),
        ("facts and rules", facts),
        ("of which parse of further chunks", further),
    ]
    if whole := sum(cost.whole_parse for cost in costs):
        rows.append(("libcst parse of the whole files, for comparison", whole))
    for name, seconds in rows:
        yield f"| {name} | {seconds:.2f} | {1e6 * seconds / max(kept, 1):.1f} | {seconds / parse:.2f} |"
    yield ""
    median = _median(costs)
    yield "| costliest files per line | lines | CPU s | ms per 1,000 lines | times the median | facts and rules / parse |"
    yield "|---|--:|--:|--:|--:|--:|"
    for cost in sorted(_judged(costs), key=lambda cost: -cost.per_line)[:SHOWN_FILES]:
        ratio = cost.facts_and_rules / cost.parse if cost.parse else 0
        yield f"| {cost.path} | {cost.lines} | {cost.total:.3f} | {1e6 * cost.per_line:.1f} | {cost.per_line / median:.1f} | {ratio:.1f} |"
    yield ""
    yield f"Median file: {1e6 * median:.1f} ms per 1,000 lines. Peak memory: {_peak_megabytes():.0f} MB in one process."
    yield ""
    for sentence, verdict in targets(costs):
        yield f"{sentence}: {'reached' if verdict else 'missed'}"


def targets(costs: Sequence[FileCost]) -> Iterator[tuple[str, bool]]:
    """The two targets in words, and whether each is reached."""
    if not costs:
        yield "no file was seen by libcst", False
        return
    parse, facts = sum(cost.parse for cost in costs), sum(cost.facts_and_rules for cost in costs)
    ratio = facts / parse
    yield f"facts and rules cost {ratio:.2f} times the parse, target {MOST_TIMES_PARSE:g}", ratio <= MOST_TIMES_PARSE
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
