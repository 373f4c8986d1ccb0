"""Run nanlint on every pinned package and print what it finds: by rule, by package, per 1,000 lines.

    python benchmarks/realcode/run.py [--select CODES] [--only NAMES] [--work DIR] [--wheels DIR]

A run of all default rules on all packages also writes benchmarks/results/realcode.md.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.realcode import corpus
from benchmarks.realcode.corpus import CHECKOUT, PackageResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

RESULTS = CHECKOUT / "benchmarks" / "results" / "realcode.md"
TARGET_PER_THOUSAND = 1.0
SHOWN_ERRORS = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, run, print; 1 when a package could not be checked, or nanlint failed on a part of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--select", default="", metavar="CODES", help="these rules only: codes, prefixes, names")
    corpus.add_options(parser)
    options = parser.parse_args(arguments)
    packages = corpus.corpus_of(options)
    rules = corpus.default_rules()
    results = []
    for result in packages.results(options.select, last=options.last):
        print(_progress(result), file=sys.stderr, flush=True)
        results.append(result)
    page = "\n".join(report(results, rules, options.select)) + "\n"
    print(page)
    complete = not any(result.failure or result.crashes for result in results)
    if complete and not options.select and not options.only:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(page, encoding="utf-8")
    return 0 if complete else 1


def _progress(result: PackageResult) -> str:
    said = result.failure or f"{len(result.findings)} findings, {len(result.errors)} errors, {result.seconds:.1f} s"
    return f"{result.package} {result.version}: {said}"


def report(results: Sequence[PackageResult], rules: Mapping[str, str], select: str = "") -> Iterator[str]:
    """The whole page, line by line. `rules` are the default rules, code -> name."""
    yield "# Findings in real packages"
    yield ""
    chosen = f"rules {select}" if select else f"all {len(rules)} default rules"
    yield f"`nanlint check --isolated --no-cache`, {chosen}, {len(results)} pinned releases without their test suites;"
    yield f"Python {platform.python_version()}, {platform.machine()}."
    yield ""
    yield from by_package(results)
    yield ""
    yield from by_rule(results, rules)
    yield ""
    yield from rule_per_package(results)
    yield from troubles(results)


def per_thousand(count: int, lines: int) -> str:
    """Findings per 1,000 lines."""
    return f"{1000 * count / lines:.2f}" if lines else "-"


def by_package(results: Sequence[PackageResult]) -> Iterator[str]:
    """One row per package, and their sum."""
    yield "| package | lines | findings | per 1,000 lines | errors | CPU s |"
    yield "|---|--:|--:|--:|--:|--:|"
    total = PackageResult("all", "")
    for result in results:
        yield _package_row(result)
        total.lines += result.lines
        total.seconds += result.seconds
        total.findings += result.findings
        total.errors += result.errors
    yield _package_row(total)
    yield ""
    yield f"Target: not more than about {TARGET_PER_THOUSAND:g} finding per 1,000 lines; {_verdict(results, total)}."


def _verdict(results: Sequence[PackageResult], total: PackageResult) -> str:
    if missing := sum(bool(result.failure) for result in results):
        return f"not measured, since {missing} packages could not be checked"
    if total.crashes:
        return f"not measured, since nanlint failed {total.crashes} times"
    rate = 1000 * len(total.findings) / total.lines
    above = sum(1000 * len(result.findings) > TARGET_PER_THOUSAND * result.lines for result in results)
    reached = "reached" if rate <= TARGET_PER_THOUSAND else "missed"
    return f"{rate:.2f} over all ({reached}), {above} of {len(results)} packages above it"


def _package_row(result: PackageResult) -> str:
    count = len(result.findings)
    cells = [
        f"{result.package} {result.version}".strip(),
        f"{result.lines:,}",
        str(count),
        per_thousand(count, result.lines),
    ]
    return f"| {' | '.join([*cells, str(len(result.errors)), f'{result.seconds:.1f}'])} |"


def by_rule(results: Sequence[PackageResult], rules: Mapping[str, str]) -> Iterator[str]:
    """One row per rule that fired, most frequent first."""
    lines = sum(result.lines for result in results)
    counts = Counter(finding.rule for result in results for finding in result.findings)
    severities = Counter((finding.rule, finding.severity) for result in results for finding in result.findings)
    yield "| rule | findings | per 1,000 lines | packages | errors / warnings / infos |"
    yield "|---|--:|--:|--:|--:|"
    for rule, count in counts.most_common():
        packages = sum(any(finding.rule == rule for finding in result.findings) for result in results)
        mix = " / ".join(str(severities[rule, severity]) for severity in ("error", "warning", "info"))
        yield f"| {rule} {rules.get(rule, '(preview)')} | {count} | {per_thousand(count, lines)} | {packages} | {mix} |"


def rule_per_package(results: Sequence[PackageResult]) -> Iterator[str]:
    """The number of findings of each rule in each package."""
    rules = sorted({finding.rule for result in results for finding in result.findings})
    if not rules:
        return
    yield f"| package | {' | '.join(rules)} |"
    yield f"|---|{'--:|' * len(rules)}"
    for result in results:
        counts = Counter(finding.rule for finding in result.findings)
        yield f"| {result.package} | {' | '.join(str(counts[rule] or '') for rule in rules)} |"


def troubles(results: Sequence[PackageResult]) -> Iterator[str]:
    """What could not be checked: packages, then the first of the errors that nanlint itself reported."""
    failures = [f"{result.package} {result.version}: {result.failure}" for result in results if result.failure]
    errors = [f"{result.package}: {error}" for result in results for error in result.errors]
    if not failures and not errors:
        return
    yield ""
    yield "Not checked:"
    yield ""
    yield from (f"- {line}" for line in failures)
    yield from (f"- {line}" for line in errors[:SHOWN_ERRORS])
    if len(errors) > SHOWN_ERRORS:
        yield f"- and {len(errors) - SHOWN_ERRORS} more errors"


if __name__ == "__main__":
    sys.exit(main())
