"""What a run found, with all that a report format may ask for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nanlint.model.finding import FileError, Finding, Severity


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """A rule as its readers know it: all from the rule file's docstring and class attributes."""

    code: str
    name: str
    severity: Severity
    summary: str
    why: str
    docs: str
    url: str
    fix: str
    preview: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers of the closing line."""

    files: int = 0
    fixed: int = 0
    suppressed: int = 0
    known: int = 0
    """Findings kept quiet by a baseline."""


def _no_source(_path: str, _cell: int | None) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Report:
    """Findings in reading order, errors by path, and where to look up rules and source lines."""

    findings: tuple[Finding, ...] = ()
    errors: tuple[FileError, ...] = ()
    summary: Summary = Summary()
    rules: Mapping[str, RuleInfo] = field(default_factory=dict)
    source_lines: Callable[[str, int | None], Sequence[str]] = _no_source
    """Lines of a path (of one cell, in a notebook) without line ends; empty when they can't be read any more."""
