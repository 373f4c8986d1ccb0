"""The level of a finding: a threshold on what its evidence adds up to. Nobody else decides one.

A rule of a user's own may still state its severity, and so may the user's settings.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.evidence import table
from nanlint.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.evidence.table import Item
    from nanlint.model import Finding

# Where the sums start, and how steep they are: the confidence is 1 / (1 + exp(-(start + sum) / SCALE)).
START_CAN_HAPPEN, START_MATTERS, SCALE = -1, -9, 4.0
# The least confidence that it matters for a warning and for an error, and the least confidence that it can happen for either.
# Most of what can break never does in a real run: of 100 findings that readers judged, some 15 matter or may. So these confidences are
# small; a warning is worth a look, an error is where most evidence meets. `benchmarks/calibrate.py` prints what each threshold shows.
WARNING_FROM, ERROR_FROM, CAN_HAPPEN_FROM = 0.08, 0.2, 0.4

# The patterns that the product was asked for are shown unless a consequence that was seen, or knowing nothing, speaks against it:
# unguarded division, log without eps, clip after NaN check, a clip that never clips, a tiny norm eps, scheduler state over config.
NAMED_PATTERNS = frozenset({"NAN101", "NAN102", "NAN110", "NAN204", "NAN401", "NAN403", "NAN501"})
INFO_AT_MOST = frozenset({table.NOTHING_KNOWN.name, table.HALF_UNUSED.name})
LOWERS_A_NAMED_PATTERN = frozenset(
    item.name
    for item in (
        table.NAME_ALONE,
        table.RARE,
        table.DECIDED_ELSEWHERE,
        table.GRADIENT_UNSEEN,
        table.NO_GRADIENT,
        table.ONLY_LOGGED,
        table.BUILT_ONCE,
        table.HALF_UNUSED,
        table.NOBODY_CALLS,
    )
)


def can_happen(evidence: Iterable[str]) -> float:
    """How sure the evidence makes it that some input breaks the operation, from 0 to 1."""
    return _confidence(START_CAN_HAPPEN + sum(table.ITEMS[name].can_happen for name in evidence))


def matters(evidence: Iterable[str]) -> float:
    """How sure the evidence makes it that a real run meets that input and what is trained is hurt, from 0 to 1."""
    return _confidence(START_MATTERS + sum(table.ITEMS[name].matters for name in evidence))


def level(code: str, evidence: frozenset[str]) -> Severity:
    """The level of a finding of rule `code` with this evidence; info at most of what nothing is known of, what no caller breaks, and in a format that nothing uses."""
    if not evidence.isdisjoint(INFO_AT_MOST):
        return Severity.INFO
    sureness = matters(evidence) if can_happen(evidence) >= CAN_HAPPEN_FROM else 0.0
    if sureness >= ERROR_FROM:
        return Severity.ERROR
    is_named = code in NAMED_PATTERNS and evidence.isdisjoint(LOWERS_A_NAMED_PATTERN)
    return Severity.WARNING if sureness >= WARNING_FROM or is_named else Severity.INFO


def graded(finding: Finding, *more: Item, without: tuple[Item, ...] = ()) -> Finding:
    """The finding with further evidence, each item once, and the level that all of it adds up to."""
    left_out = {item.name for item in without}
    kept = (name for name in finding.evidence if name not in left_out)
    names = tuple(dict.fromkeys((*kept, *(item.name for item in more))))
    return replace(
        finding,
        evidence=names,
        severity=level(finding.code, frozenset(names)),
        can_happen=round(can_happen(names), 2),
        matters=round(matters(names), 2),
    )


def _confidence(total: float) -> float:
    return 1 / (1 + math.exp(-total / SCALE))
