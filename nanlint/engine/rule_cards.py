"""What a run has to know of every rule before one of them can fire: what it is called, and what it looks for.

A card is made of the rule's class. A wheel brings the cards of its rules ready made (`hatch_build.py` writes them), so a
run in which the gate keeps nothing loads no rule at all; a checkout has none and loads its rules.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH110, PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nanlint.engine.rule_modules import imported

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nanlint.rule import Option, Rule
    from nanlint.source.gate import Interest

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
    interests: tuple[Interest, ...]


class Cards(NamedTuple):
    """The cards of all rules in the order of their codes, and the words of operations that hand on what they are given."""

    by_code: Mapping[str, RuleCard]
    carrying_words: frozenset[str]


def cards_of(rules: Iterable[type[Rule]]) -> Cards:
    """Cards made of the rules themselves."""
    from nanlint.engine.interests import carrying_words, interests  # noqa: PLC0415 - reads the op table

    cards = {
        rule.code: RuleCard(
            code=rule.code,
            name=rule.name,
            preview=rule.preview,
            options=rule.options,
            judges_settings=bool(rule.settings),
            yields_to=rule.yields_to,
            interests=tuple(interests(rule)),
        )
        for rule in rules
    }
    return Cards(cards, carrying_words())


def ready_cards(folder: str) -> Cards | None:
    """The ready-made cards of a folder of rules; None if there are none, or a rule is not as it was."""
    path = os.path.join(folder, READY)
    if not os.path.exists(path):
        return None
    module = imported(path, "nanlint.rules")
    cards: Cards = module.CARDS
    return cards if sizes(folder) == module.SIZES else None


def sizes(folder: str) -> dict[str, int]:
    """The files in a folder of rules with their sizes in bytes, the ready-made cards left out."""
    with os.scandir(folder) as entries:
        return {
            entry.name: entry.stat().st_size for entry in entries if entry.name.endswith(".py") and entry.name != READY
        }
