"""Measurements as Markdown: one table per scene, with a verdict wherever a target was set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_TEXT = frozenset({"target", "verdict", "measured"})
README_BEGIN, README_END = "<!-- speed:begin -->", "<!-- speed:end -->"


@dataclass(frozen=True)
class Target:
    """What was promised, and what came out; `met` is the verdict."""

    promise: str
    measured: str
    met: bool

    @property
    def verdict(self) -> str:
        """One word, with the measured figure."""
        return f"{'met' if self.met else '**missed**'}: {self.measured}"


@dataclass(frozen=True)
class Scene:
    """One table: its title, its columns, its rows as text."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    remark: str = ""

    def markdown(self) -> str:
        """The table under its title."""
        lines = [f"## {self.title}", ""]
        if self.remark:
            lines += [self.remark, ""]
        return "\n".join([*lines, *table(self.columns, self.rows)])


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table; figures are aligned to the right."""
    marks = ["---" if position == 0 or name in _TEXT else "--:" for position, name in enumerate(columns)]
    return [_row(columns), _row(marks), *(_row(row) for row in rows)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def seconds(value: float) -> str:
    """Three significant digits at most, and thousands apart."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def milliseconds(value: float) -> str:
    """A duration in seconds, told in milliseconds."""
    return f"{value * 1000:,.0f}" if value >= 0.1 else f"{value * 1000:.1f}"


def megabytes(value: int) -> str:
    """A size in bytes; nothing for 0, which means unknown."""
    return f"{value / 1e6:,.0f}" if value else ""


def ratio(value: float, base: float) -> str:
    """How many times `base` the value is."""
    factor = value / base
    return f"{factor:,.0f}x" if factor >= 20 else f"{factor:.1f}x" if factor >= 1 else f"{factor:.2f}x"


def fill_readme(readme: Path, short: str) -> None:
    """Put `short` between the markers of the README."""
    text = readme.read_text(encoding="utf-8")
    before, begin, rest = text.partition(README_BEGIN)
    _, end, after = rest.partition(README_END)
    if not begin or not end:
        raise SystemExit(f"{readme.name} lacks {README_BEGIN} … {README_END}")
    readme.write_text(f"{before}{begin}\n{short.strip()}\n{end}{after}", encoding="utf-8")
