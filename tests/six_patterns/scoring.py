"""What nanlint finds in the spellings of the six patterns: by default, and at any level."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import nanlint
from tests.six_patterns.material import CODES, SPELLINGS, Spelling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class Seen:
    """A finding, with its path inside the spelling's project."""

    path: str
    line: int
    end_line: int
    code: str
    severity: str
    message: str


@contextmanager
def project(spelling: Spelling, variant: str) -> Iterator[Path]:
    """The spelling in a git repository of its own: nothing around it, such as a folder called tests, is evidence."""
    with tempfile.TemporaryDirectory(prefix="project-") as made:
        root = Path(made).resolve()
        (root / ".git").mkdir()
        spelling.write(variant, root)
        yield root


def findings(spelling: Spelling, variant: str, *, at_any_level: bool) -> list[Seen]:
    """Everything a plain `nanlint check` shows in the project, or one with `--severity info`."""
    with project(spelling, variant) as root:
        report = nanlint.check_paths([root], severity="info") if at_any_level else nanlint.check_paths([root])
        if report.errors:
            raise AssertionError(f"{spelling.name}: {report.errors}")
        return [
            Seen(
                (Path.cwd() / finding.path).resolve().relative_to(root).as_posix(),
                finding.span.line,
                finding.span.end_line,
                finding.code,
                finding.severity.value,
                finding.message,
            )
            for finding in report.findings
        ]


def _meets_a_mark(spelling: Spelling, seen: Iterable[Seen]) -> bool:
    return any(
        finding.path == mark.path and finding.line <= mark.line <= finding.end_line and finding.code in mark.codes
        for finding in seen
        for mark in spelling.marks()
    )


@cache
def found_by_default(spelling: Spelling) -> bool:
    """The bad spelling is found on a marked line, with an accepted code, by a plain `nanlint check`."""
    return _meets_a_mark(spelling, findings(spelling, "bad", at_any_level=False))


@cache
def found_at_any_level(spelling: Spelling) -> bool:
    """The same with `--severity info`."""
    return _meets_a_mark(spelling, findings(spelling, "bad", at_any_level=True))


@cache
def noise_in_the_twin(spelling: Spelling) -> tuple[Seen, ...]:
    """What is found of the pattern in the guarded twin, at any level."""
    codes = CODES[spelling.pattern]
    return tuple(seen for seen in findings(spelling, "guarded", at_any_level=True) if seen.code in codes)


def score() -> str:
    """`41 of 72 by default`, and a line per pattern."""
    by_default = sum(map(found_by_default, SPELLINGS))
    lines = [f"{'pattern':28} {'by default':>11} {'any level':>10} {'twins silent':>13}"]
    for pattern in CODES:
        own = [spelling for spelling in SPELLINGS if spelling.pattern == pattern]
        silent = sum(not noise_in_the_twin(spelling) for spelling in own)
        lines.append(
            f"{pattern:28} {sum(map(found_by_default, own)):>11} {sum(map(found_at_any_level, own)):>10} {silent:>13}"
        )
    silent = sum(not noise_in_the_twin(spelling) for spelling in SPELLINGS)
    lines.append(f"{by_default} of {len(SPELLINGS)} by default, {silent} twins silent")
    return "\n".join(lines)
