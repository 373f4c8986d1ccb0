"""The findings of a draw, and the files that hold one object on each line."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """A finding to be labelled. A control has the verdicts of its review, and a draw probability of 0: nobody drew it."""

    repo: str
    commit: str
    path: str
    line: int
    column: int
    end_line: int
    rule: str
    level: str
    preview: bool
    message: str
    probability: float = 0.0
    reviewed_a: str = ""
    reviewed_b: str = ""

    @property
    def id(self) -> str:
        """What a verdict names it by; it tells nothing about the finding."""
        place = (self.repo, self.commit, self.path, self.line, self.column, self.rule, self.message)
        return hashlib.sha256(repr(place).encode()).hexdigest()[:12]

    @property
    def is_control(self) -> bool:
        """Whether it was judged before."""
        return bool(self.reviewed_a)


def read_key(path: Path) -> list[Row]:
    """The rows of a draw."""
    return [Row(**entry) for entry in read_rows(path)]


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file that has one on each line. Ends the program at a line that has none."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
            except ValueError as error:
                sys.exit(f"{path}:{number}: not JSON: {error}; write one object on each line")
            if not isinstance(entry, dict):
                sys.exit(f"{path}:{number}: no object; write one on each line")
            yield entry


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """One object on each line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
