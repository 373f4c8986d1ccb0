"""The yardstick for labelled bugs: found by default, found at any level, and the cure left in peace.

Found: the span of a finding is on a labelled line, and its rule and direction name the labelled mechanism. By default means
error or warning of a rule that is not in preview. Silent: no finding of that mechanism on the lines of the cure, nor one that
was told of the fault and still stands on the same text of the same function, at any level.
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.realcode import corpus
from benchmarks.realcode.archives import NotAvailable
from benchmarks.realcode.corpus import Found, NanlintFailed, PackageResult

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

_DIVISION = "NAN101 NAN208 NAN211 NAN302"
_LOGARITHM = "NAN102 NAN110 NAN111 NAN112 NAN202 NAN211 NAN302"
# The kind of a labelled bug, and the rules that name its mechanism. Where one defect is seen by several rules, the one that
# is shown in place of the others counts too: a log of 0 behind a `where` is told as the trap it is.
RULES_OF_KIND: Mapping[str, str] = {
    "div-zero": _DIVISION,
    "div-mask-sum": _DIVISION,
    "div-range": _DIVISION,
    "div-norm": _DIVISION,
    "div-count": _DIVISION,
    "eps-misplaced": "NAN101 NAN203 NAN211",
    "fp16-eps": "NAN101 NAN203",
    "mean-empty": "NAN106 NAN108",
    "std-one-sample": "NAN106",
    "std/var-of-one": "NAN106",
    "log-zero": _LOGARITHM,
    "log-domain": _LOGARITHM,
    "log-of-softmax/sigmoid": _LOGARITHM,
    "exp-overflow": "NAN201 NAN202",
    "inf-minus-inf": "NAN303",
    "inf-times-zero": "NAN302 NAN303",
    "sqrt-grad": "NAN211 NAN301 NAN302",
    "sqrt-backward-at-0": "NAN211 NAN301 NAN302",
    "norm/cdist-backward": "NAN301 NAN302",
    "sqrt-of-negative(cancellation)": "NAN103 NAN210",
    "pow-fractional-at-0": "NAN105 NAN301",
    "pow-negative-base": "NAN105",
    "softmax-all-masked": "NAN107",
    "softmax-masked": "NAN107",
    "half-overflow": "NAN207",
    "fp16-range": "NAN207",
    "fp16-constant": "NAN205 NAN206 NAN303",
    "fp16-adam-eps": "NAN203 NAN209",
    "uninitialised-empty": "NAN601",
    "ctc-inf": "NAN109",
    "amp-clip-unscaled": "NAN402",
    "loop:clip-before-unscale": "NAN402",
    "loop:step-on-nonfinite": "NAN403 NAN404 NAN405 NAN412",
    "amp-dtype": "NAN602",
}
# Rules on loops, saving and building are not about a forward or a backward pass.
FIRST_WITHOUT_DIRECTION = "NAN4"
SHOWN_BY_DEFAULT = ("error", "warning")
CONTEXT_LINES = 12


@dataclass(frozen=True, slots=True)
class Side:
    """The file with the fault or with the cure, in the tree that it belongs to, and the labelled lines in it."""

    tree: Callable[[], Path]
    file: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One labelled bug. `cured` is None where nobody has mended it yet."""

    id: str
    kind: str
    visibility: str
    mechanism: str
    faulty: Side
    cured: Side | None = None
    direction: str = "both"

    def is_named_by(self, finding: Found) -> bool:
        """Whether rule and direction of the finding are those of the labelled mechanism."""
        is_opposite = {finding.direction, self.direction} == {"forward", "backward"}
        if is_opposite and finding.rule < FIRST_WITHOUT_DIRECTION:
            return False
        return finding.rule in RULES_OF_KIND[self.kind].split()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What nanlint makes of one case: rules by default, at any level, of other mechanisms there, and on the cure."""

    case: Case
    by_default: tuple[str, ...] = ()
    at_any_level: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    on_cure: tuple[str, ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Targets:
    """The least shares, and the visibilities that the first of them is about (empty for all)."""

    found_by_default: float
    silent: float
    counted: tuple[str, ...] = ()


def judge(case: Case, before: Iterable[Found], after: Iterable[Found], preview: frozenset[str]) -> Judgement:
    """Compare the findings in the faulty file (`before`) and in the cured one (`after`) with the labels."""
    there = [finding for finding in before if touches(finding, case.faulty.lines)]
    named = [finding for finding in there if case.is_named_by(finding)]
    shown = [one for one in named if one.severity in SHOWN_BY_DEFAULT and one.rule not in preview]
    cured = case.cured.lines if case.cured else ()
    told = {(finding.rule, finding.function, finding.code) for finding in named}
    return Judgement(
        case,
        by_default=_rules(shown),
        at_any_level=_rules(named),
        others=_rules(finding for finding in there if finding not in named),
        on_cure=_rules(
            one
            for one in after
            if case.is_named_by(one) and (touches(one, cured) or (one.rule, one.function, one.code) in told)
        ),
    )


def touches(finding: Found, lines: Iterable[int]) -> bool:
    """Whether one of `lines` is in the finding's span."""
    return any(finding.line <= line <= max(finding.line, finding.end_line) for line in lines)


def _rules(findings: Iterable[Found]) -> tuple[str, ...]:
    return tuple(sorted({finding.rule for finding in findings}))


def findings_in(side: Side) -> list[Found]:
    """What nanlint says of the file at any level, preview rules included, run from the top of its tree."""
    tree = side.tree()
    if not (tree / side.file).is_file():
        raise NotAvailable(f"{tree.name} has no {side.file}")
    command = ["check", "--isolated", "--no-cache", "--preview", "--severity", "info", "-f", "json", side.file]
    report = json.loads(corpus.nanlint(command, tree))
    if report["errors"]:
        raise NanlintFailed(f"{side.file}: {report['errors'][0]['message']}")
    return list(corpus.found_in(report["findings"], tree, PackageResult(tree.name, "")))


def judged(case: Case, preview: frozenset[str]) -> Judgement:
    """The verdict on one case; what can't be had or read is said so."""
    try:
        return judge(case, findings_in(case.faulty), findings_in(case.cured) if case.cured else [], preview)
    except (NotAvailable, NanlintFailed) as error:
        return Judgement(case, failure=str(error))


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of every command that measures labelled bugs."""
    parser.add_argument("--case", default="", metavar="ID[,…]", help="these cases only")
    parser.add_argument("--show", metavar="ID", help="print the code around the lines of one case, and stop")
    corpus.add_places(parser)


def run(cases: Sequence[Case], options: argparse.Namespace, targets: Targets) -> int:
    """Measure what the options ask for and print it; 1 when a target is missed."""
    by_id = {case.id: case for case in cases}
    wanted = [options.show] if options.show else [name for name in options.case.split(",") if name] or list(by_id)
    if unknown := [name for name in wanted if name not in by_id]:
        sys.exit(f"there is no case {', '.join(unknown)}; there are {', '.join(by_id)}")
    if options.show:
        print("\n".join(show(by_id[options.show])))
        return 0
    preview = corpus.preview_rules()
    # One process per case and core: nanlint itself starts no further ones for a single file.
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        judgements = list(pool.map(lambda name: judged(by_id[name], preview), wanted))
    print("\n".join([*table(judgements), "", *summary(judgements, targets)]))
    return 0 if all(share >= least for _, share, least in reached(judgements, targets)) else 1


def show(case: Case) -> Iterator[str]:
    """Both sides of a case with their lines marked, and what nanlint says of each."""
    yield f"{case.id}: {case.mechanism} ({case.kind}, {case.visibility})"
    for name, side in (("faulty", case.faulty), ("cured", case.cured)):
        if side is None:
            continue
        tree = side.tree()
        yield ""
        yield f"--- {name}: {tree.name}/{side.file}"
        yield from _excerpt(corpus.source_lines(tree / side.file), set(side.lines))
        for finding in findings_in(side):
            mark = "*" if touches(finding, side.lines) else " "
            yield f"{mark} {finding.line}: {finding.rule} {finding.severity} ({finding.direction}): {finding.message}"


def _excerpt(lines: Sequence[str], marked: set[int]) -> Iterator[str]:
    shown = {number for line in marked for number in range(line - CONTEXT_LINES, line + CONTEXT_LINES + 1)}
    last = 0
    for number in sorted(number for number in shown if 1 <= number <= len(lines)):
        if last and number != last + 1:
            yield "      …"
        yield f"{'>' if number in marked else ' '} {number:5} {lines[number - 1]}".rstrip()
        last = number


def table(judgements: Iterable[Judgement]) -> Iterator[str]:
    """One row per case."""
    yield "| case | kind | visibility | fault | cure |"
    yield "|---|---|---|---|---|"
    for judgement in judgements:
        case = judgement.case
        yield f"| {case.id} | {case.kind} | {case.visibility} | {_fault(judgement)} | {_cure(judgement)} |"


def _fault(judgement: Judgement) -> str:
    if judgement.failure:
        return f"not checked: {judgement.failure}"
    if judgement.by_default:
        return f"by default: {', '.join(judgement.by_default)}"
    if judgement.at_any_level:
        return f"not by default: {', '.join(judgement.at_any_level)}"
    return "missed" + (f" (another mechanism there: {', '.join(judgement.others)})" if judgement.others else "")


def _cure(judgement: Judgement) -> str:
    if judgement.failure:
        return ""
    if judgement.case.cured is None:
        return "none yet"
    return f"noisy: {', '.join(judgement.on_cure)}" if judgement.on_cure else "silent"


def summary(judgements: Sequence[Judgement], targets: Targets) -> Iterator[str]:
    """The figures by kind and by visibility, what is missed, and the targets."""
    checked = [judgement for judgement in judgements if not judgement.failure]
    for title, attribute in (("kind", "kind"), ("visibility", "visibility")):
        yield f"| {title} | cases | found by default | found at any level | cures silent |"
        yield "|---|--:|--:|--:|--:|"
        for group in sorted({getattr(judgement.case, attribute) for judgement in checked}):
            yield _row(group, [one for one in checked if getattr(one.case, attribute) == group])
        yield _row("all", checked)
        yield ""
    for name, missed in (
        ("not by default", [one for one in checked if one.at_any_level and not one.by_default]),
        ("missed", [one for one in checked if not one.at_any_level]),
        ("cure not silent", [one for one in checked if one.on_cure]),
        ("not checked", [one for one in judgements if one.failure]),
    ):
        yield f"{name} ({len(missed)}): {', '.join(one.case.id for one in missed) or 'none'}"
    for name, share, least in reached(judgements, targets):
        yield f"{name}: {share:.0%}; target {least:.0%}: {'reached' if share >= least else 'missed'}"


def _row(name: str, members: Sequence[Judgement]) -> str:
    cured = [one for one in members if one.case.cured]
    cells = (
        _share(sum(bool(one.by_default) for one in members), len(members)),
        _share(sum(bool(one.at_any_level) for one in members), len(members)),
        _share(sum(not one.on_cure for one in cured), len(cured)),
    )
    return f"| {name} | {len(members)} | {' | '.join(cells)} |"


def _share(count: int, total: int) -> str:
    return f"{count} of {total} ({count / total:.0%})" if total else "none"


def reached(judgements: Iterable[Judgement], targets: Targets) -> tuple[tuple[str, float, float], ...]:
    """The two targets: what is counted, the share that reaches it, and the least share. Of nothing, it is 0."""
    checked = [judgement for judgement in judgements if not judgement.failure]
    counted = [one for one in checked if not targets.counted or one.case.visibility in targets.counted]
    cured = [one for one in checked if one.case.cured]
    found = sum(bool(one.by_default) for one in counted) / max(len(counted), 1)
    silent = sum(not one.on_cure for one in cured) / max(len(cured), 1)
    of_which = " and ".join(targets.counted) or "all cases"
    return (
        (f"found by default, {of_which}", found, targets.found_by_default),
        ("cures silent", silent, targets.silent),
    )
