"""What a run has to know of every rule before one of them can fire: what it is called, and its trigger words.

A card is made of the rule's class. A wheel brings the cards of its rules ready made (`hatch_build.py` writes them), so a
run in which the prefilter keeps nothing loads no rule at all; a checkout has none and loads its rules.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH110, PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nanlint.engine.rules.modules import imported

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nanlint.prefilter.triggers import Trigger
    from nanlint.rule import Option, Rule

READY = "_cards.py"
"""The ready-made cards, among the rule files; the underscore says that it holds no rule."""


class RuleCard(NamedTuple):
    """One rule, without the rule."""

    code: str
    name: str
    preview: bool
    options: Mapping[str, Option]
    judges_settings: bool
    yields_to: frozenset[str]
    trigger: Trigger


def cards_of(rules: Iterable[type[Rule]]) -> dict[str, RuleCard]:
    """Cards made of the rules themselves, by code."""
    from nanlint.prefilter.of_rules import trigger_of  # noqa: PLC0415 - reads the op table

    return {
        rule.code: RuleCard(
            code=rule.code,
            name=rule.name,
            preview=rule.preview,
            options=rule.options,
            judges_settings=bool(rule.settings),
            yields_to=rule.yields_to,
            trigger=trigger_of(rule),
        )
        for rule in rules
    }


def ready_cards(folder: str) -> Mapping[str, RuleCard] | None:
    """The ready-made cards of a folder of rules; None if there are none, or a rule is not as it was."""
    path = os.path.join(folder, READY)
    if not os.path.exists(path):
        return None
    module = imported(path, "nanlint.rules")
    cards: Mapping[str, RuleCard] = module.CARDS
    return cards if sizes(folder) == module.SIZES else None


def sizes(folder: str) -> dict[str, int]:
    """The files in a folder of rules with their sizes in bytes, the ready-made cards left out."""
    with os.scandir(folder) as entries:
        return {
            entry.name: entry.stat().st_size for entry in entries if entry.name.endswith(".py") and entry.name != READY
        }
