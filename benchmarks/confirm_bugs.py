"""Labelled bugs run: of those that check finds, how many does confirm see to fail in the way the finding says, and what of the cures?

    python benchmarks/confirm_bugs.py [--reported LABELS --mirror DIR] [--case ID[,…]] [--work DIR] [--keep FILE]

Without --reported the bugs are those of `realcode/real-bugs.json`. Findings of every level that name the labelled mechanism on
the labelled lines are run, in the faulty tree and in the cured one; no hook is written. A bug is confirmed if one of
its findings is. Every confirmation is printed whole, to be read.
Targets: 65 % of the bugs that are found, none of the cures, a median of 1 s for a finding.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.confirm_real import is_confirmed, line_of
from benchmarks.realcode import bugs, corpus, yardstick
from benchmarks.realcode.archives import NotAvailable
from benchmarks.realcode.corpus import Found
from benchmarks.realcode.repositories import Mirror
from nanlint.api import check_paths
from nanlint.cli.checking.verdicts import fixed_text
from nanlint.confirm.confirming import Confirmer
from nanlint.confirm.harness import Harness
from nanlint.confirm.options import Options
from nanlint.model.verdict import VerdictKind
from nanlint.source.projects.words import ProjectWords

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.realcode.yardstick import Case, Side
    from nanlint.model import Finding

SEEN_TO_FAIL = (VerdictKind.CONFIRMED, VerdictKind.REACHABLE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, run, print; 1 when a cure is confirmed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reported", type=Path, metavar="LABELS", help="the cases of benchmarks/reported.py")
    parser.add_argument("--mirror", type=Path, metavar="DIR", help="the git directories of the repositories")
    parser.add_argument("--case", default="", metavar="ID[,…]", help="these cases only")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where every finding and verdict goes, a line each")
    corpus.add_places(parser)
    options = parser.parse_args(arguments)
    wanted = [name for name in options.case.split(",") if name]
    keep = options.keep.resolve() if options.keep else None
    done: list[tuple[Case, list[Finding], list[Finding]]] = []
    with Harness() as harness:
        for case in _cases(options):
            if wanted and case.id not in wanted:
                continue
            rows = _both(case, harness)
            if rows is None:
                continue
            done.append((case, *rows))
            if keep is not None:
                _kept(keep, case, *rows)
    print("\n".join(summary(done)))
    return 1 if any(is_confirmed(one) for _, _, cured in done for one in cured) else 0


def _cases(options: argparse.Namespace) -> list[Case]:
    work = options.work.expanduser().resolve()
    if options.reported is None:
        return bugs.cases(work, options.wheels)
    mirror = Mirror(options.mirror.expanduser().resolve(), work)
    reported: Any = importlib.import_module("benchmarks.reported")  # a folder has the same name
    entries = json.loads(options.reported.read_text(encoding="utf-8"))
    return [reported.case(entry, mirror, lone=False) for entry in entries]


def _both(case: Case, harness: Harness) -> tuple[list[Finding], list[Finding]] | None:
    """What is found of the fault and of its cure, with verdicts; None if the code cannot be had."""
    try:
        faulty = _with_verdicts(case, case.faulty, harness, "fault")
        return faulty, _with_verdicts(case, case.cured, harness, "cure") if case.cured else []
    except NotAvailable as error:
        print(f"{case.id}: not checked: {error}", flush=True)
        return None


def _with_verdicts(case: Case, side: Side, harness: Harness, name: str) -> list[Finding]:
    tree = side.tree()
    if not (tree / side.file).is_file():
        raise NotAvailable(f"{tree.name} has no {side.file}")
    home = Path.cwd()
    os.chdir(tree)
    try:
        report = check_paths([side.file], preview=True, severity="info")
        named = [one for one in report.findings if _is_of(case, side, one)]
        words = ProjectWords(str(tree))
        done = Confirmer(
            Options(device="cpu"), jobs=2, fixed=fixed_text, uses_half=lambda _: words.uses_half, harness=harness
        ).confirm(named)
        for one in done:
            print(f"{case.id} {name}: {line_of('', one)}", flush=True)
        if not done:
            print(f"{case.id} {name}: nothing is found", flush=True)
        return done
    finally:
        os.chdir(home)


def _is_of(case: Case, side: Side, finding: Finding) -> bool:
    """Whether the finding names the labelled mechanism on a labelled line."""
    span, direction = finding.span, finding.direction.value
    told = Found(finding.code, "", "", finding.path, span.line, "", end_line=span.end_line, direction=direction)
    return yardstick.touches(told, side.lines) and case.is_named_by(told)


def _kept(keep: Path, case: Case, faulty: Sequence[Finding], cured: Sequence[Finding]) -> None:
    with keep.open("a", encoding="utf-8") as lines:
        for side, findings in (("fault", faulty), ("cure", cured)):
            for one in findings:
                lines.write(json.dumps({"case": case.id, "side": side, **one.to_json()}) + "\n")


def summary(done: Sequence[tuple[Case, list[Finding], list[Finding]]]) -> Iterator[str]:
    """The figures that count."""
    found = [(case, faulty) for case, faulty, _ in done if faulty]
    failed = [case for case, faulty in found if any(map(is_confirmed, faulty))]
    reached = [
        case
        for case, faulty in found
        if case not in failed and any(one.verdict and one.verdict.kind in SEEN_TO_FAIL for one in faulty)
    ]
    cures = [case for case, _, cured in done if any(map(is_confirmed, cured))]
    seconds = [
        one.verdict.seconds for _, *both in done for side in both for one in side if one.verdict and one.verdict.seconds
    ]
    total = max(len(found), 1)
    yield f"{len(done)} bugs, {len(found)} found: confirmed {len(failed)} ({len(failed) / total:.0%}), reachable only {len(reached)}"
    yield f"neither ({total - len(failed) - len(reached)}): {', '.join(case.id for case, _ in found if case not in failed and case not in reached)}"
    yield f"reachable only: {', '.join(case.id for case in reached)}"
    yield f"cures confirmed ({len(cures)}): {', '.join(case.id for case in cures) or 'none'}"
    if seconds:
        yield f"{len(seconds)} findings were run: median {statistics.median(seconds):.2f} s, the slowest {max(seconds):.1f} s"


if __name__ == "__main__":
    sys.exit(main())
