"""Do readers of a draw agree with each other and with earlier reviews? If they do, their verdicts become a batch of labels.

    python benchmarks/labels/agreement.py KEY.jsonl VERDICTS.jsonl… --write benchmarks/labels/batch1.jsonl

KEY is what draw.py wrote. Each reader has a file with a line {"id": …, "A": …, "B": …, "reason": …} for each row of the list;
A and B are yes, no or unsure. Agreement is Cohen's kappa of yes and unsure against no, and below 0.6 nothing is written. Where
two readers labelled a row, the verdict of the file named first counts and the other stands beside it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.labels.rows import Row, read_key, read_rows, write_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ANSWERS = ("yes", "no", "unsure")
LEAST_KAPPA = 0.6
# The message quotes code, which is not copied into labels; only controls have the other two.
_NOT_IN_LABELS = ("message", "reviewed_a", "reviewed_b")
_MACHINE_PATH = re.compile(r"(?:^|[\s`'\"(])(?:/\w[\w.+-]*/|[A-Za-z]:\\)")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one reader says of one row."""

    a: str
    b: str
    reason: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two verdicts each on a set of rows, one question."""

    rows: str
    question: str
    pairs: tuple[tuple[str, str], ...]

    @property
    def kappa(self) -> float:
        """Cohen's kappa of yes and unsure against no; 1 where everybody always gives the same answer, NaN without rows."""
        if not self.pairs:
            return float("nan")
        count = len(self.pairs)
        observed = sum((one == "no") == (other == "no") for one, other in self.pairs) / count
        first, second = (sum(pair[side] == "no" for pair in self.pairs) / count for side in (0, 1))
        by_chance = first * second + (1 - first) * (1 - second)
        return 1.0 if by_chance == 1 else (observed - by_chance) / (1 - by_chance)

    @property
    def is_enough(self) -> bool:
        """Whether the batch counts, as far as this goes."""
        return self.kappa >= LEAST_KAPPA

    def __str__(self) -> str:
        return f"{self.question} on {len(self.pairs)} {self.rows}: kappa {self.kappa:.2f}"


class BadVerdict(Exception):  # noqa: N818 - it reads as the sentence it prints
    """A verdict that cannot be used, with its place."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, print the agreement, and write the labels if it is enough."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("key", type=Path)
    parser.add_argument("verdicts", type=Path, nargs="+")
    parser.add_argument("--write", type=Path, required=True, metavar="FILE", help="the labels go here")
    options = parser.parse_args(arguments)
    rows = read_key(options.key)
    try:
        verdicts = merged(rows, options.verdicts)
    except BadVerdict as error:
        sys.exit(str(error))
    figures = list(agreements(rows, verdicts))
    print("\n".join(str(figure) for figure in figures))
    if not all(figure.is_enough for figure in figures):
        print(f"a kappa is below {LEAST_KAPPA}: the batch does not count; nothing was written", file=sys.stderr)
        return 1
    write_rows(options.write, (label(row, verdicts[row.id]) for row in rows if not row.is_control))
    return 0


def merged(rows: Sequence[Row], files: Sequence[Path]) -> dict[str, list[Verdict]]:
    """The verdicts on each row in the order of the files. Raises BadVerdict, also for a row that has none."""
    known = {row.id for row in rows}
    verdicts: dict[str, list[Verdict]] = defaultdict(list)
    for file in files:
        seen: set[str] = set()
        for number, entry in enumerate(read_rows(file), 1):
            try:
                verdict = _verdict(entry)
            except BadVerdict as error:
                raise BadVerdict(f"{file}:{number}: {error}") from None
            if entry["id"] not in known:
                raise BadVerdict(f"{file}:{number}: the key has no row {entry['id']}; is it of another draw?")
            if entry["id"] in seen:
                raise BadVerdict(f"{file}:{number}: a second verdict on {entry['id']}; remove one")
            seen.add(entry["id"])
            verdicts[entry["id"]].append(verdict)
    if missing := [row.id for row in rows if row.id not in verdicts]:
        raise BadVerdict(f"{len(missing)} rows have no verdict, {', '.join(missing[:5])} among them; label them first")
    return verdicts


def _verdict(entry: Mapping[str, Any]) -> Verdict:
    if not all(isinstance(entry.get(name), str) for name in ("id", "A", "B", "reason")):
        raise BadVerdict("a verdict has the texts id, A, B and reason")
    for question in ("A", "B"):
        if entry[question] not in ANSWERS:
            raise BadVerdict(f"{question} is {entry[question]!r}; write one of {', '.join(ANSWERS)}")
    if not entry["reason"].strip() or _MACHINE_PATH.search(entry["reason"]):
        raise BadVerdict("the reason is a sentence, with paths as the repository has them")
    return Verdict(entry["A"], entry["B"], entry["reason"].strip())


def agreements(rows: Sequence[Row], verdicts: Mapping[str, Sequence[Verdict]]) -> Iterator[Agreement]:
    """How far readers agree with earlier reviews, and with each other, on A and on B."""
    reviewed = [
        (Verdict(row.reviewed_a, row.reviewed_b, ""), verdict)
        for row in rows
        if row.is_control
        for verdict in verdicts[row.id]
    ]
    twice = [(given[0], given[1]) for row in rows if len(given := verdicts[row.id]) > 1]
    # A batch with one reader stands on its controls alone.
    for name, pairs in (("controls", reviewed), *([("rows labelled twice", twice)] if twice else ())):
        yield Agreement(name, "A", tuple((one.a, other.a) for one, other in pairs))
        yield Agreement(name, "B", tuple((one.b, other.b) for one, other in pairs))


def label(row: Row, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """A line of the batch: the place, how it was drawn, the verdict, and that of a second reader if there is one."""
    entry = {name: value for name, value in asdict(row).items() if name not in _NOT_IN_LABELS}
    first, *others = verdicts
    entry |= {"A": first.a, "B": first.b, "reason": first.reason}
    return entry | ({"second": {"A": others[0].a, "B": others[0].b}} if others else {})


if __name__ == "__main__":
    sys.exit(main())
