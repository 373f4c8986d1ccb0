"""Why a finding has its level, for `--explain-level`: the two confidences, and what each item of evidence adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.evidence.table import ITEMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import Finding


def level_reasons(finding: Finding) -> Iterator[str]:
    """One line for the level, and one for each item, heaviest first."""
    if finding.can_happen is None or finding.matters is None:
        yield f"{finding.severity.value}: the rule states it"
        return
    sums = f"it can happen {finding.can_happen:.0%}, it matters {finding.matters:.0%}"
    yield f"{finding.severity.value}: {sums}"
    for item in sorted((ITEMS[name] for name in finding.evidence), key=lambda item: -abs(item.matters)):
        yield f"{item.matters:+d} ({item.can_happen:+d} that it can happen) {item.name}: {item.sentence}"
