"""What a run found, with all that a report format may ask for.

Named tuples, because every run makes one of each, and dataclasses take longer to import than a small file to check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nanlint.model.finding import FileError, Finding
    from nanlint.model.rule_info import RuleInfo


class Summary(NamedTuple):
    """The numbers of the closing line."""

    files: int = 0
    fixed: int = 0
    suppressed: int = 0
    known: int = 0
    """Findings kept quiet by a baseline."""
    unconfirmed: int = 0
    """Findings left out by --confirmed-only."""


def _no_source(_path: str, _cell: int | None) -> Sequence[str]:
    return ()


class Report(NamedTuple):
    """Findings in reading order, errors by path, and where to look up rules and source lines."""

    findings: tuple[Finding, ...] = ()
    errors: tuple[FileError, ...] = ()
    summary: Summary = Summary()
    rules: Mapping[str, RuleInfo] = {}
    source_lines: Callable[[str, int | None], Sequence[str]] = _no_source
    """Lines of a path (of one cell, in a notebook) without line ends; empty when they can't be read any more."""
    hidden: tuple[Finding, ...] = ()
    """Findings below the severity that is shown, in reading order: reports say how many there are."""
    command: str = "nanlint check"
    """What the user typed to get this report, as far as it decides what is found."""
    explains_levels: bool = False
    """Whether formats for people say what evidence gave each finding its level."""

    @property
    def hidden_counts(self) -> dict[str, int]:
        """Severity -> how many findings of it are not shown, the severest first."""
        severities = [finding.severity.value for finding in self.hidden]
        return {level: severities.count(level) for level in ("error", "warning", "info") if level in severities}
