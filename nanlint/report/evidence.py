"""Why a finding has its level, for `--explain-level`: both confidences, what a level needs, and what each item of evidence adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.evidence import levels
from nanlint.evidence.table import ITEMS
from nanlint.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import Finding

_NEEDS = f"a warning needs {levels.CAN_HAPPEN_FROM:.0%} and {levels.WARNING_FROM:.0%}, an error {levels.CAN_HAPPEN_FROM:.0%} and {levels.ERROR_FROM:.0%}"


def level_reasons(finding: Finding) -> Iterator[str]:
    """One line for the level, and one for each item, heaviest first."""
    if finding.can_happen is None or finding.matters is None:
        yield f"{finding.severity.value}: the rule states it"
        return
    yield f"{finding.severity.value}: it can happen {finding.can_happen:.0%}, it matters {finding.matters:.0%} ({_NEEDS})"
    for item in sorted((ITEMS[name] for name in finding.evidence), key=lambda item: -abs(item.matters)):
        adds = f"matters {item.matters:+d}, can happen {item.can_happen:+d}"
        yield f"{'info at most' if item.name in levels.INFO_AT_MOST else adds}, {item.name}: {item.sentence}"
    if finding.severity is Severity.WARNING and finding.matters < levels.WARNING_FROM:
        yield f"warning at least: {finding.code} is a pattern that is shown unless something seen speaks against it"
