"""Verdicts of people on findings, one file per rule, and the precision that follows from them.

A review names the rule, the release, the file and the source line. It counts while nanlint still reports such a
finding; a finding that is gone says nothing about the linter of today.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.realcode.corpus import HERE, Found

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

REVIEWED = HERE / "reviewed"
FIELDS = ("rule", "package", "version", "path", "line", "code", "verdict", "reason")

LEAST_REVIEWED = 15
LEAST_PRECISION = 0.70
LEAST_PRECISION_OVER_ALL = 0.85


@dataclass(frozen=True, slots=True)
class Review:
    """One finding that somebody judged: `verdict` is True when it can go NaN or Inf as the message says."""

    rule: str
    package: str
    version: str
    path: str
    line: int
    code: str
    verdict: bool
    reason: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """As `Found.key`."""
        return self.rule, self.package, self.path, self.code


class BadReview(Exception):  # noqa: N818 - it reads as the sentence it prints
    """A line of a review file that is not what a review must be."""


def read_reviews(folder: Path = REVIEWED) -> list[Review]:
    """Every review of every rule; what people say of confirm's verdicts is in a file of its own."""
    return [review for path in sorted(folder.glob("NAN*.jsonl")) for review in read_file(path)]


def read_file(path: Path) -> list[Review]:
    """The reviews in one rule's file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return [parse(line, f"{path.name}:{number}", path.stem) for number, line in enumerate(lines, 1) if line.strip()]


def parse(line: str, where: str, rule: str) -> Review:
    """One line of a review file; `rule` is the rule that the file is about."""
    try:
        entry = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadReview(f"{where}: not JSON ({error})") from error
    if not isinstance(entry, dict) or set(entry) != set(FIELDS):
        raise BadReview(f"{where}: a review has the fields {', '.join(FIELDS)}, and no others")
    if not isinstance(entry["verdict"], bool):
        raise BadReview(f"{where}: the verdict is true or false, not {json.dumps(entry['verdict'])}")
    if not isinstance(entry["line"], int) or any(
        not isinstance(entry[name], str) or not entry[name].strip()
        for name in FIELDS
        if name not in {"line", "verdict"}
    ):
        raise BadReview(f"{where}: `line` is a number, the other fields are text and none is empty")
    if entry["rule"] != rule:
        raise BadReview(f"{where}: a review of {entry['rule']} belongs into {entry['rule']}.jsonl")
    return Review(**entry)


@dataclass(frozen=True, slots=True)
class Score:
    """The reviews of one rule against what it reports today."""

    rule: str
    true: int
    false: int
    gone: int
    """Reviewed once, no longer reported."""
    unreviewed: int
    """Reported, and nobody judged them."""

    @property
    def reviewed(self) -> int:
        """Reviews of findings that are still reported."""
        return self.true + self.false

    @property
    def precision(self) -> float | None:
        """The true part of the reviewed; None when none is reviewed."""
        return self.true / self.reviewed if self.reviewed else None

    @property
    def complaint(self) -> str:
        """Why the rule is not good enough to run by default; empty if it is."""
        if self.reviewed < LEAST_REVIEWED and self.unreviewed:
            return f"only {self.reviewed} reviewed"
        if self.precision is not None and self.precision < LEAST_PRECISION:
            return f"under {LEAST_PRECISION:.0%}"
        return ""


def scores(reviews: Iterable[Review], findings: Iterable[Found], rules: Iterable[str] = ()) -> dict[str, Score]:
    """The score of every rule that was reviewed, that fired, or that is among `rules`, by code."""
    judged = latest(reviews)
    reported: dict[str, set[tuple[str, str, str, str]]] = defaultdict(set)
    for finding in findings:
        reported[finding.rule].add(finding.key)
    kept, gone = Counter[tuple[str, bool]](), Counter[str]()
    for key, review in judged.items():
        if key in reported[review.rule]:
            kept[review.rule, review.verdict] += 1
        else:
            gone[review.rule] += 1
    return {
        rule: Score(rule, kept[rule, True], kept[rule, False], gone[rule], len(reported[rule] - set(judged)))
        for rule in sorted({*reported, *rules})
    }


def latest(reviews: Iterable[Review]) -> dict[tuple[str, str, str, str], Review]:
    """One review per finding: of two that judge the same line of the same file, the one written later."""
    return {review.key: review for review in reviews}


def over_all(by_rule: Mapping[str, Score], rules: Iterable[str]) -> Score:
    """The scores of `rules` as one."""
    chosen = [by_rule[rule] for rule in rules if rule in by_rule]
    return Score(
        "all default rules",
        sum(score.true for score in chosen),
        sum(score.false for score in chosen),
        sum(score.gone for score in chosen),
        sum(score.unreviewed for score in chosen),
    )
