"""Real NaN bugs: does nanlint find them in the faulty release, and is it silent about the cured one?

    python benchmarks/realbugs.py [--select CODES] [--case ID] [--show ID] [--work DIR] [--wheels DIR]

Found: a finding of any severity on a faulty line or beside it; where the lines of the data do not lie in the named function,
anywhere in that function. Silent: no finding of the same rule on the cured lines or beside them. Targets: 75 % found of those marked
local or local+dtype, 90 % of all cases silent after the cure.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.realcode import bugs, corpus
from benchmarks.realcode.archives import NotAvailable, unpacked
from benchmarks.realcode.bugs import Case, Judgement, Side
from benchmarks.realcode.corpus import Found, NanlintFailed, PackageResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LEAST_FOUND = 0.75
LEAST_SILENT = 0.90
# What a linter without knowledge of meaning can be asked to see.
COUNTED = ("local", "local+dtype")
CONTEXT_LINES = 12


@dataclass(frozen=True, slots=True)
class Bench:
    """Where releases are unpacked, and the further arguments for nanlint."""

    work: Path
    wheels: Path | None
    arguments: tuple[str, ...]

    def tree(self, side: Side) -> Path:
        """The unpacked release of one side."""
        tree = unpacked(side.release, self.work, self.wheels)
        if not (tree / side.file).is_file():
            raise NotAvailable(f"{side.release.folder} has no {side.file}")
        return tree

    def findings(self, side: Side) -> list[Found]:
        """What nanlint says of the file, run from the top of its release."""
        tree = self.tree(side)
        command = ["check", "--isolated", "--no-cache", "--severity", "info", "-f", "json", *self.arguments, side.file]
        report = json.loads(corpus.nanlint(command, tree))
        if report["errors"]:
            raise NanlintFailed(f"{side.release.folder}: {report['errors'][0]['message']}")
        return list(corpus.found_in(report["findings"], tree, PackageResult(side.release.name, side.release.version)))

    def judge(self, case: Case) -> Judgement:
        """The verdict on one case; a release that can't be had or read is said so."""
        try:
            sources = tuple(
                (self.tree(side) / side.file).read_bytes().decode("utf-8", "replace")
                for side in (case.faulty, case.cured)
            )
            return bugs.judge(case, self.findings(case.faulty), self.findings(case.cured), (sources[0], sources[1]))
        except (NotAvailable, NanlintFailed) as error:
            return Judgement(case, failure=str(error))


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, run, print; 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--select", default="", metavar="CODES", help="these rules only: codes, prefixes, names")
    parser.add_argument("--preview", action="store_true", help="preview rules too")
    parser.add_argument("--case", default="", metavar="ID[,…]", help="these cases only")
    parser.add_argument("--show", metavar="ID", help="print the code around the lines of one case, and stop")
    corpus.add_places(parser)
    options = parser.parse_args(arguments)
    chosen = [*(["--select", options.select] if options.select else []), *(["--preview"] if options.preview else [])]
    bench = Bench(options.work.expanduser().resolve(), options.wheels, tuple(chosen))
    by_id = {case.id: case for case in bugs.cases()}
    wanted = [options.show] if options.show else [name for name in options.case.split(",") if name] or list(by_id)
    if unknown := [name for name in wanted if name not in by_id]:
        sys.exit(f"there is no case {', '.join(unknown)}; there are {', '.join(by_id)}")
    if options.show:
        print("\n".join(show(by_id[options.show], bench)))
        return 0
    corpus.default_rules()
    # One process per case and core: nanlint itself starts no further ones for a single file.
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        judgements = list(pool.map(bench.judge, [by_id[name] for name in wanted]))
    print("\n".join([*table(judgements), "", *summary(judgements)]))
    return 0 if all(reached(*figure) for figure in figures(judgements)) else 1


def show(case: Case, bench: Bench) -> Iterator[str]:
    """Both sides of a case with their lines marked, and what nanlint says of each."""
    yield f"{case.id}: {case.mechanism} ({case.kind}, {case.visibility}; in {case.function})"
    for name, side in (("faulty", case.faulty), ("cured", case.cured)):
        yield ""
        yield f"--- {name}: {side.release.folder}/{side.file}"
        lines = corpus.source_lines(bench.tree(side) / side.file)
        yield from _excerpt(lines, side.lines)
        for finding in bench.findings(side):
            on_line = "*" if bugs.touches(finding, side.lines) else " "
            yield f"{on_line} {finding.line}: {finding.rule} {finding.severity}: {finding.message}"


def _excerpt(lines: Sequence[str], marked: Iterable[int]) -> Iterator[str]:
    marked = set(marked)
    shown = {number for line in marked for number in range(line - CONTEXT_LINES, line + CONTEXT_LINES + 1)}
    last = 0
    for number in sorted(number for number in shown if 1 <= number <= len(lines)):
        if last and number != last + 1:
            yield "      …"
        yield f"{'>' if number in marked else ' '} {number:5} {lines[number - 1]}".rstrip()
        last = number


def table(judgements: Iterable[Judgement]) -> Iterator[str]:
    """One row per case."""
    yield "| case | class | visibility | faulty release | cured release |"
    yield "|---|---|---|---|---|"
    for judgement in judgements:
        case = judgement.case
        yield f"| {case.id} | {case.kind} | {case.visibility} | {_faulty(judgement)} | {_cured(judgement)} |"


def _faulty(judgement: Judgement) -> str:
    if judgement.failure:
        return f"not checked: {judgement.failure}"
    if judgement.found:
        return f"found by {', '.join(judgement.found)}{' (in the function)' if judgement.by_function else ''}"
    return "missed" + (f" (elsewhere in the function: {', '.join(judgement.nearby)})" if judgement.nearby else "")


def _cured(judgement: Judgement) -> str:
    if judgement.failure:
        return ""
    if judgement.noisy:
        return f"noisy: {', '.join(judgement.noisy)}"
    return "silent" + (f" (the old text is still flagged: {', '.join(judgement.still)})" if judgement.still else "")


def summary(judgements: Sequence[Judgement]) -> Iterator[str]:
    """Found and silent by class, by visibility and against the targets."""
    checked = [judgement for judgement in judgements if not judgement.failure]
    for title, attribute in (("class", "kind"), ("visibility", "visibility")):
        yield f"| {title} | cases | found | silent after the cure |"
        yield "|---|--:|--:|--:|"
        for group in sorted({getattr(judgement.case, attribute) for judgement in checked}):
            members = [judgement for judgement in checked if getattr(judgement.case, attribute) == group]
            found = sum(bool(judgement.found) for judgement in members)
            silent = sum(not judgement.noisy for judgement in members)
            yield f"| {group} | {len(members)} | {_share(found, len(members))} | {_share(silent, len(members))} |"
        yield ""
    for (what, count, total, least), name in zip(figures(judgements), ("found", "silent"), strict=True):
        verdict = "reached" if reached(what, count, total, least) else "missed"
        yield f"{name}, {what}: {_share(count, total)}; target {least:.0%}: {verdict}"
    hit = [judgement for judgement in checked if judgement.found]
    yield f"silent, of those found: {_share(sum(not judgement.noisy for judgement in hit), len(hit))}"
    quiet = sum(not judgement.noisy and not judgement.still for judgement in hit)
    yield f"silent, of those found, and about the old text wherever it stands in the cured function: {_share(quiet, len(hit))}"
    if failed := len(judgements) - len(checked):
        yield f"not checked: {failed} of {len(judgements)} cases"


def _share(count: int, total: int) -> str:
    return f"{count} of {total} ({count / total:.0%})" if total else "none"


def figures(judgements: Iterable[Judgement]) -> tuple[tuple[str, int, int, float], tuple[str, int, int, float]]:
    """The two targets: what is counted, how many reach it, of how many, and the least share."""
    checked = [judgement for judgement in judgements if not judgement.failure]
    visible = [judgement for judgement in checked if judgement.case.visibility in COUNTED]
    found = sum(bool(judgement.found) for judgement in visible)
    silent = sum(not judgement.noisy for judgement in checked)
    return (
        (" and ".join(COUNTED), found, len(visible), LEAST_FOUND),
        ("all cases", silent, len(checked), LEAST_SILENT),
    )


def reached(what: str, count: int, total: int, least: float) -> bool:
    """Whether the share is large enough; of nothing, it is not."""
    del what
    return total > 0 and count >= least * total


if __name__ == "__main__":
    sys.exit(main())
