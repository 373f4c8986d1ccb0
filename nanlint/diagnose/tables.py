"""CSV and TSV tables: cells that are missing or not finite, by column. Pure reading, in bounded time and memory."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOT_FINITE = frozenset({"nan", "inf", "-inf", "+inf", "infinity", "-infinity", "-nan"})
MISSING = frozenset({"", "na", "n/a", "null", "none"})
_MOST_ROWS = 2_000_000
_MOSTLY = 0.5
"""A column is one of numbers if at least this share of its cells are."""


@dataclass
class Column:
    """What the cells of one column are."""

    name: str
    numbers: int = 0
    missing: int = 0
    bad: int = 0
    others: int = 0
    first_bad: tuple[int, str] | None = None
    """Line of the file and text of the first cell that is no number."""

    @property
    def is_numeric(self) -> bool:
        """Whether its cells are numbers, but for some."""
        return self.numbers > 0 and self.numbers >= _MOSTLY * (self.numbers + self.missing + self.bad + self.others)

    @property
    def flaws(self) -> int:
        """Cells that a reader turns into NaN or inf."""
        return self.missing + self.bad

    def note(self, cell: str, line: int) -> None:
        """Count one cell."""
        word = cell.strip().lower()
        if word in NOT_FINITE:
            self.bad += 1
        elif word in MISSING:
            self.missing += 1
        else:
            try:
                float(word)
            except ValueError:
                self.others += 1
            else:
                self.numbers += 1
            return
        if self.first_bad is None or (word in NOT_FINITE and self.first_bad[1].strip().lower() in MISSING):
            self.first_bad = (line, cell)


@dataclass
class Table:
    """The columns of a file with their flaws."""

    columns: list[Column] = field(default_factory=list)
    rows: int = 0

    @property
    def flawed(self) -> list[Column]:
        """Columns of numbers in which some are none, the worst first."""
        found = [column for column in self.columns if column.is_numeric and column.flaws]
        return sorted(found, key=lambda column: (-column.bad, -column.missing))


def read_table(path: Path) -> Table:
    """The table at `path`; raises OSError or ValueError if it is none."""
    table = Table()
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        for line, cells in _rows(file, "\t" if path.suffix.lower() == ".tsv" else ","):
            if not table.columns:
                table.columns = [Column(name.strip() or f"column {index}") for index, name in enumerate(cells, 1)]
                continue
            table.rows += 1
            for column, cell in zip(table.columns, cells, strict=False):
                column.note(cell, line)
            if table.rows >= _MOST_ROWS:
                break
    return table


def _rows(file: Iterator[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(file, delimiter=delimiter)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None
