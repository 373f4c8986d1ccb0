"""How many of the reviewed findings are true: per rule and over all.

    python benchmarks/realcode/precision.py [--select CODES] [--last] [--work DIR] [--wheels DIR]

Exit code 1 when a default rule has a precision under 70 %, or fewer than 15 reviewed findings while there are more to
review, or when the precision over all default rules is under 85 %. Identical lines of one file count once.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.realcode import corpus, reviews
from benchmarks.realcode.reviews import LEAST_PRECISION_OVER_ALL, Score

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, run, print; the exit code tells whether the bar is reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--select", default="", metavar="CODES", help="these rules only: codes, prefixes, names")
    corpus.add_options(parser)
    options = parser.parse_args(arguments)
    packages = corpus.corpus_of(options)
    defaults = corpus.default_rules()
    judged = [review for review in reviews.read_reviews() if not packages.only or review.package in packages.only]
    results = list(packages.results(options.select, last=options.last))
    failures = [f"{result.package}: {result.failure}" for result in results if result.failure]
    findings = [finding for result in results for finding in result.findings]
    by_rule = reviews.scores(judged, findings, () if options.select else defaults)
    print("\n".join(report(by_rule, defaults)))
    print("".join(f"\nnot checked: {failure}" for failure in failures))
    return 1 if failures or complaints(by_rule, defaults) else 0


def complaints(by_rule: Mapping[str, Score], defaults: Mapping[str, str]) -> list[str]:
    """Everything that keeps the default rules under the bar."""
    found = [f"{rule}: {by_rule[rule].complaint}" for rule in defaults if rule in by_rule and by_rule[rule].complaint]
    total = reviews.over_all(by_rule, defaults)
    if total.precision is not None and total.precision < LEAST_PRECISION_OVER_ALL:
        found.append(f"over all: under {LEAST_PRECISION_OVER_ALL:.0%}")
    return found


def report(by_rule: Mapping[str, Score], defaults: Mapping[str, str]) -> Iterator[str]:
    """A table of rules, the sum of the default ones, and what is not good enough."""
    yield "| rule | precision | true | false | reviewed, still reported | reviewed, gone | not reviewed | |"
    yield "|---|--:|--:|--:|--:|--:|--:|---|"
    for rule, score in by_rule.items():
        note = score.complaint if rule in defaults else "preview"
        yield _row(f"{rule} {defaults.get(rule, '')}".strip(), score, note)
    total = reviews.over_all(by_rule, defaults)
    yield _row(total.rule, total, "")
    yield ""
    problems = complaints(by_rule, defaults)
    yield "The bar is reached." if not problems else f"The bar is missed: {'; '.join(problems)}."


def _row(name: str, score: Score, note: str) -> str:
    precision = "-" if score.precision is None else f"{score.precision:.1%}"
    numbers = [score.true, score.false, score.reviewed, score.gone, score.unreviewed]
    return f"| {name} | {precision} | {' | '.join(str(number) for number in numbers)} | {note} |"


if __name__ == "__main__":
    sys.exit(main())
