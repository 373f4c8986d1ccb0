"""The triggers of a rule: every spelling, from the op table, of the operations that it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.hazards.watched import RESTORED
from nanlint.ops.names import SIGNATURES, spellings
from nanlint.prefilter.triggers import Trigger
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.rule import Rule


# A function that restores a run by a helper makes an optimizer of parameters, or passes one on that it has loaded.
_RESTORING = word_set("""
    load_state_dict load_state load_objects resume_checkpoint ckpt_path resume_from_checkpoint parameters
""")


def trigger_of(rule: type[Rule]) -> Trigger:
    """The words that `rule` reacts to."""
    return Trigger(_words(rule.operations()) | rule.loops, rule.beside)


def _words(operations: Iterable[str]) -> frozenset[str]:
    """The spellings of operations, and the last words of dotted names that the op table does not know."""
    found: set[str] = set()
    for name in operations:
        known = _RESTORING if name == RESTORED else spellings(name) if name in SIGNATURES else None
        found |= known if known is not None else {name.rpartition(".")[2]}
    return frozenset(found)
