"""The triggers of a rule: every spelling, from the op table, of the operations that it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.ops.names import SIGNATURES, spellings
from nanlint.prefilter.triggers import Trigger

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.rule import Rule


def trigger_of(rule: type[Rule]) -> Trigger:
    """The words that `rule` reacts to."""
    return Trigger(_words(rule.operations()) | rule.comparisons | rule.loops, rule.beside)


def _words(operations: Iterable[str]) -> frozenset[str]:
    """The spellings of operations, and the last words of dotted names that the op table does not know."""
    found: set[str] = set()
    for name in operations:
        found |= spellings(name) if name in SIGNATURES else {name.rpartition(".")[2]}
    return frozenset(found)
