"""Fit the scorecard of `nanlint/evidence/table.py` to the labels, and say how well the levels separate what matters.

    python benchmarks/calibrate.py                              # fit on one half of the repositories, print figures of the other
    python benchmarks/calibrate.py --write                      # and put the rounded numbers into the table
    python benchmarks/calibrate.py --refresh --mirror DIR       # first look up the evidence of every label again
    python benchmarks/calibrate.py --picture docs/levels.svg    # draw precision and share found over the threshold

A label is a finding that readers judged: A, can it happen; B, does it matter. Both columns are fitted by logistic loss, each
label weighted by 1 / the probability with which it was drawn (3 at the most), unsure counted as half a yes, with the signs that the table
states. scipy's L-BFGS-B keeps to them. DIR holds the git directories of the labelled repositories, `owner+name` each.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize  # type: ignore[import-untyped]

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.realcode.archives import NotAvailable
from benchmarks.realcode.repositories import Mirror, Repository
from nanlint.engine.check_paths import Plan, Run
from nanlint.evidence import levels, table
from nanlint.model import Severity
from nanlint.plot.draw import picture

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from nanlint.model import Finding
    from nanlint.plot.read_log import Curve

ROOT = Path(__file__).resolve().parents[1]
LABELS = ROOT / "benchmarks" / "labels"
TABLE, LEVELS = ROOT / "nanlint" / "evidence" / "table.py", ROOT / "nanlint" / "evidence" / "levels.py"
ANSWERS = {"yes": 1.0, "unsure": 0.5, "no": 0.0}
SEED, HEAVIEST, SHRINKAGE, LARGEST = 11, 3.0, 0.002, 9
COLUMNS = {"can_happen": "A", "matters": "B"}


@dataclass(frozen=True, slots=True)
class Label:
    """One judged finding."""

    repo: str
    rule: str
    a: str
    b: str
    probability: float
    evidence: frozenset[str]

    @property
    def weight(self) -> float:
        """How many findings it stands for."""
        return min(1 / self.probability, HEAVIEST)


@dataclass(frozen=True, slots=True)
class Column:
    """The fitted numbers of one question: where the sum starts, and what each item adds."""

    start: int
    numbers: dict[str, int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, fit, print; 1 when the table is not what the labels make of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the fitted numbers into the table")
    parser.add_argument("--refresh", action="store_true", help="look up the evidence of every label again")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the figures as SVG")
    parser.add_argument("--mirror", type=Path, metavar="DIR", help="the git directories of the labelled repositories")
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "nanlint-benchmarks", metavar="DIR")
    options = parser.parse_args(arguments)
    if options.refresh:
        if options.mirror is None:
            parser.error("--refresh needs --mirror DIR, the git directories of the labelled repositories")
        refresh(Mirror(options.mirror.resolve(), options.work.resolve()))
    labels = read_labels()
    fitted = {name: fit(labels, name) for name in COLUMNS}
    held_out = {name: fit([label for label in labels if is_for_fitting(label.repo)], name) for name in COLUMNS}
    unseen = [label for label in labels if not is_for_fitting(label.repo)]
    print_figures(unseen, held_out)
    if options.picture is not None:
        options.picture.write_text(picture(curves(unseen, held_out["matters"]), across="shown from (percent)"), "utf-8")
    if options.write:
        write(fitted)
        return 0
    return print_below_floor(labels) or print_differences(fitted)


def read_labels() -> list[Label]:
    """All labels whose evidence is known, batch by batch; those of previews are for their own rules to learn from."""
    rows = [
        json.loads(line) for path in sorted(LABELS.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()
    ]
    return [
        Label(row["repo"], row["rule"], row["A"], row["B"], row["probability"], frozenset(row["evidence"]))
        for row in rows
        if row.get("evidence") is not None and not row["preview"]
    ]


@cache
def is_for_fitting(repo: str) -> bool:
    """Which half a repository belongs to, decided once."""
    return random.Random(f"{SEED} {repo}").random() < 0.5  # noqa: S311 - a draw, no secret


def fit(labels: Sequence[Label], column: str) -> Column:
    """The small whole numbers that the labels make of one column."""
    items = list(table.ITEMS.values())
    rows = np.array([[1.0, *(item.name in label.evidence for item in items)] for label in labels])
    answers = np.array([ANSWERS[label.a if column == "can_happen" else label.b] for label in labels])
    weights = np.array([label.weight for label in labels])
    weights /= weights.sum()

    def loss(numbers: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        logits = rows @ numbers
        error = 1 / (1 + np.exp(-logits)) - answers
        fitted = (weights * (np.logaddexp(0, logits) - answers * logits)).sum()
        shrunk = np.array([0.0, *numbers[1:]])
        return float(fitted + SHRINKAGE * (shrunk**2).sum()), rows.T @ (weights * error) + 2 * SHRINKAGE * shrunk

    # What lowers a pattern that the product was asked for counts at least 1 against it, by promise.
    promised = levels.LOWERS_A_NAMED_PATTERN if column == "matters" else frozenset()
    most = {item.name: -1 / levels.SCALE if item.name in promised else 0.0 for item in items}
    bounds = [(None, None), *((0, None) if item.sign > 0 else (None, most[item.name]) for item in items)]
    start = np.array([0.0, *(min(most[item.name], 0.0) for item in items)])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x * levels.SCALE
    whole = [int(np.clip(round(number), -LARGEST, LARGEST)) for number in found[1:]]
    return Column(round(found[0]), {item.name: number for item, number in zip(items, whole, strict=True)})


def confidence(label: Label, column: Column) -> float:
    """What the fitted column says of one label."""
    return 1 / (
        1 + math.exp(-(column.start + sum(column.numbers.get(name, 0) for name in label.evidence)) / levels.SCALE)
    )


def print_figures(labels: Sequence[Label], fitted: dict[str, Column]) -> None:
    """Precision and share of B found at each threshold, calibration, and the worth of each item, on labels that were not fitted to."""
    print(f"{len(labels)} labels of {len({label.repo for label in labels})} repositories that were not fitted to\n")
    print("| shown from | findings (weighted) | A | B yes or unsure | share of all B |\n|--:|--:|--:|--:|--:|")
    for threshold in (0.02, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3):
        shown = shown_from(threshold, labels, fitted["matters"])
        count = sum(label.weight for label in shown)
        found = _share_found(shown, labels)
        print(f"| {threshold:.2f} | {count:.0f} | {_share(shown, 'a')} | {_share(shown, 'b')} | {found:.0%} |")
    print("\n| confidence | labels | said | true |\n|---|--:|--:|--:|")
    for question, name in (("A", "can_happen"), ("B", "matters")):
        for low, high in ((0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.01)):
            within = [label for label in labels if low <= confidence(label, fitted[name]) < high]
            if within:
                said = _mean((confidence(label, fitted[name]), label.weight) for label in within)
                true = _mean((ANSWERS[getattr(label, question.lower())], label.weight) for label in within)
                print(f"| {question} {low:.1f} to {min(high, 1):.1f} | {len(within)} | {said:.0%} | {true:.0%} |")
    print("\n| item left out | A: AUC | B: AUC |\n|---|--:|--:|")
    print(f"| none | {_auc(labels, fitted['can_happen'], 'a'):.2f} | {_auc(labels, fitted['matters'], 'b'):.2f} |")
    for item in table.ITEMS.values():
        lessened = {
            name: Column(column.start, {key: value for key, value in column.numbers.items() if key != item.name})
            for name, column in fitted.items()
        }
        print(
            f"| {item.name} | {_auc(labels, lessened['can_happen'], 'a'):.2f} | {_auc(labels, lessened['matters'], 'b'):.2f} |"
        )


def shown_from(threshold: float, labels: Sequence[Label], matters: Column) -> list[Label]:
    """The labels that would be shown if a warning began there."""
    return [label for label in labels if confidence(label, matters) >= threshold]


def curves(labels: Sequence[Label], matters: Column) -> dict[str, Curve]:
    """In percent over the threshold: how many of the shown can happen, how many matter or may, and how many of these are shown."""
    drawn: dict[str, Curve] = {}
    for percent in range(1, 31):
        shown = shown_from(percent / 100, labels, matters)
        if not shown:
            break
        shares = (_plain_share(shown, "a"), _plain_share(shown, "b"), _share_found(shown, labels))
        names = (
            "of those shown, can happen",
            "of those shown, matter or may",
            "of those that matter or may, are shown",
        )
        for name, share in zip(names, shares, strict=True):
            drawn.setdefault(f"labels that were not fitted to, percent.{name}", []).append((percent, 100 * share))
    return drawn


def _share_found(shown: Sequence[Label], labels: Sequence[Label]) -> float:
    total, found = (sum(label.weight for label in group if label.b != "no") for group in (labels, shown))
    return found / total if total else math.nan


def _plain_share(labels: Sequence[Label], question: str) -> float:
    """The weighted share that is not answered no."""
    return _mean((getattr(label, question) != "no", label.weight) for label in labels)


def _share(labels: Sequence[Label], question: str) -> str:
    """The same with a 95 % interval (Wilson, on the effective number of labels)."""
    if not labels:
        return "-"
    weights = [label.weight for label in labels]
    share = _plain_share(labels, question)
    count = sum(weights) ** 2 / sum(weight**2 for weight in weights)
    centre = (share + 1.92 / count) / (1 + 3.84 / count)
    spread = 1.96 * math.sqrt(share * (1 - share) / count + 0.96 / count**2) / (1 + 3.84 / count)
    return f"{share:.0%} ({max(centre - spread, 0):.0%} to {min(centre + spread, 1):.0%})"


def _mean(pairs: Iterable[tuple[float, float]]) -> float:
    values = list(pairs)
    return sum(value * weight for value, weight in values) / sum(weight for _, weight in values)


def _auc(labels: Sequence[Label], column: Column, question: str) -> float:
    """How often a finding that is true (or unsure) gets more than one that is not; 0.5 is a coin."""
    scores = [(confidence(label, column), getattr(label, question) != "no") for label in labels]
    true, false = ([score for score, answer in scores if answer is wanted] for wanted in (True, False))
    if not true or not false:
        return math.nan
    return sum((one > other) + 0.5 * (one == other) for one in true for other in false) / (len(true) * len(false))


def print_below_floor(labels: Sequence[Label]) -> int:
    """Every label of a pattern the product was asked for that is hidden although nothing that may lower it is known; 1 if there is one."""
    lowering = levels.LOWERS_A_NAMED_PATTERN | {table.NOTHING_KNOWN.name}
    hidden = [
        label
        for label in labels
        if label.rule in levels.NAMED_PATTERNS
        and label.evidence.isdisjoint(lowering)
        and levels.level(label.rule, label.evidence) is Severity.INFO
    ]
    for label in hidden:
        print(f"{label.rule} in {label.repo} is below its floor: {', '.join(sorted(label.evidence))}")
    return int(bool(hidden))


def print_differences(fitted: dict[str, Column]) -> int:
    """Every number of the table that is not what the labels make of it; 1 if there is one."""
    stated = {name: {item.name: getattr(item, name) for item in table.ITEMS.values()} for name in COLUMNS}
    starts = {"can_happen": levels.START_CAN_HAPPEN, "matters": levels.START_MATTERS}
    found = 0
    for name, column in fitted.items():
        numbers = {"where the sum starts": starts[name], **stated[name]}
        for item, number in {"where the sum starts": column.start, **column.numbers}.items():
            if numbers[item] != number:
                print(f"{name} of {item}: the table has {numbers[item]:+d}, the labels make it {number:+d}")
                found = 1
    return found


def write(fitted: dict[str, Column]) -> None:
    """Put the numbers into the table, and where the sums start into the levels."""
    text = TABLE.read_text("utf-8")
    for item in table.ITEMS.values():
        can_happen, matters = (column.numbers[item.name] for column in fitted.values())
        text = re.sub(rf'(Item\("{item.name}", [+-]1,) -?\d+, -?\d+,', rf"\g<1> {can_happen}, {matters},", text)
    TABLE.write_text(text, "utf-8")
    starts = f"{fitted['can_happen'].start}, {fitted['matters'].start},"
    text = re.sub(r"(SCALE = )-?\d+, -?\d+,", rf"\g<1>{starts}", LEVELS.read_text("utf-8"))
    LEVELS.write_text(text, "utf-8")


def refresh(mirror: Mirror) -> None:
    """Check every labelled repository at its commit and note the evidence that nanlint has for each label now.

    Labels of repositories that are not in the mirror are left as they are.
    """
    for path in sorted(LABELS.glob("*.jsonl")):
        rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for repository in sorted({Repository(row["repo"], row["commit"]) for row in rows}, key=str):
            try:
                found = evidence_of(mirror.tree(repository))
            except NotAvailable as missing:
                print(f"{missing}; left as it is", file=sys.stderr)
                continue
            for row in rows:
                if (row["repo"], row["commit"]) == (repository.name, repository.commit):
                    row["evidence"] = found.get((row["path"], row["line"], row["rule"]))
        lost = sum(row.get("evidence") is None for row in rows)
        print(f"{path.name}: {len(rows)} labels, {lost} no longer reported")
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), "utf-8")


def evidence_of(tree: Path) -> dict[tuple[str, int, str], list[str]]:
    """Path, line and rule -> evidence, of all findings in a checkout."""
    overrides = {"severity": Severity.INFO.value, "preview": True}
    report = Run(Plan((str(tree),), overrides, isolated=True, use_cache=False)).report()
    return {
        (_below(tree, finding), finding.span.line, finding.code): list(finding.evidence) for finding in report.findings
    }


def _below(tree: Path, finding: Finding) -> str:
    return Path(finding.path).resolve().relative_to(tree.resolve()).as_posix()


if __name__ == "__main__":
    sys.exit(main())
