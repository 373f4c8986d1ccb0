"""Findings that nobody has judged yet, with the code around them, ready for review.

    python benchmarks/realcode/sample.py --rule NAN101 -n 20 [--seed 7] [--append-json] [--last] [--work DIR]

The sample is spread over packages: one finding of each, then a second of each, and so on. With --append-json it ends
with one line per finding to append to benchmarks/realcode/reviewed/<rule>.jsonl, `verdict` and `reason` to be filled in.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.realcode import corpus, reviews

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.realcode.corpus import Corpus, Found
    from benchmarks.realcode.reviews import Review


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rule", required=True, metavar="CODE", help="the rule to review")
    parser.add_argument("-n", type=int, default=20, metavar="N", help="how many findings (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="another seed is another sample (default: 0)")
    parser.add_argument("--append-json", action="store_true", help="print lines for the review file, too")
    parser.add_argument("--context", type=int, default=8, metavar="N", help="lines before and after (default: 8)")
    corpus.add_options(parser)
    options = parser.parse_args(arguments)
    packages = corpus.corpus_of(options)
    results = list(packages.results(options.rule, last=options.last))
    for result in results:
        if result.failure:
            print(f"not checked: {result.package}: {result.failure}", file=sys.stderr)
    findings = [finding for result in results for finding in result.findings]
    judged = reviews.read_reviews()
    chosen = list(islice(spread(unreviewed(findings, judged), options.seed), options.n))
    print("\n".join(pages(chosen, packages, options.context)))
    if options.append_json:
        print("\n".join(template(finding) for finding in chosen))
    return 0


def unreviewed(findings: Iterable[Found], judged: Iterable[Review]) -> list[Found]:
    """The findings without a review, each line of a file once."""
    known = reviews.latest(judged)
    return list({finding.key: finding for finding in findings if finding.key not in known}.values())


def spread(findings: Iterable[Found], seed: int) -> Iterator[Found]:
    """The findings in an order that only the seed decides, going round the packages; copies of a line come last."""
    dice = random.Random(seed)  # noqa: S311 - a sample, not a secret
    by_package: dict[str, list[Found]] = defaultdict(list)
    for finding in sorted(findings, key=lambda finding: (finding.package, finding.path, finding.line, finding.code)):
        by_package[finding.package].append(finding)
    packages = sorted(by_package)
    dice.shuffle(packages)
    for package in packages:
        dice.shuffle(by_package[package])
    rounds = chain.from_iterable(zip_longest(*(by_package[package] for package in packages)))
    in_order = [finding for finding in rounds if finding is not None]
    # Model libraries repeat whole functions in file after file: one verdict for all of them would count many times.
    originals: dict[str, Found] = {}
    for finding in in_order:
        originals.setdefault(finding.code, finding)
    copies = [finding for finding in in_order if originals[finding.code] is not finding]
    return chain(originals.values(), copies)


def pages(findings: Iterable[Found], packages: Corpus, context: int) -> Iterator[str]:
    """The findings as a person reads them."""
    trees = {release.name: packages.tree(release) for release in packages.releases()}
    for number, finding in enumerate(findings, 1):
        function = f" in {finding.function}" if finding.function else ""
        yield f"=== {number}. {finding.rule} {finding.severity} · {finding.package} {finding.version} · {finding.path}:{finding.line}{function}"
        yield f"    {finding.message}"
        lines = corpus.source_lines(trees[finding.package] / finding.path)
        yield from excerpt(lines, range(finding.line, finding.end_line + 1), context)
        yield ""


def excerpt(lines: Sequence[str], marked: range, context: int) -> Iterator[str]:
    """The lines with the numbers `marked`, and some before and after."""
    for number in range(max(1, marked.start - context), min(len(lines), marked.stop - 1 + context) + 1):
        yield f"{'>' if number in marked else ' '} {number:5} {lines[number - 1]}".rstrip()


def template(finding: Found) -> str:
    """The line for the review file, without its verdict."""
    entry = {name: getattr(finding, name) for name in reviews.FIELDS if hasattr(finding, name)}
    return json.dumps({**entry, "verdict": None, "reason": ""}, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
