"""The cards of the rules: made of them, or ready made in an installation; whichever, a run finds the same."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from nanlint.engine.rules.cards import READY, cards_of, ready_cards, sizes
from nanlint.engine.rules.rulebook import Rulebook, rulebook, rules_folder
from nanlint.engine.rules.write_cards import code_of
from tests.project import RULES

if TYPE_CHECKING:
    from pathlib import Path

BOOK = rulebook()


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """The rules as a wheel has them: with their cards."""
    folder = shutil.copytree(rules_folder(), tmp_path / "rules", ignore=shutil.ignore_patterns("__pycache__"))
    cards = code_of(cards_of(BOOK.rules.values()), sizes(str(folder)))
    (folder / READY).write_text(cards, encoding="utf-8")
    return folder


def test_a_checkout_has_no_cards_that_could_be_out_of_date() -> None:
    assert ready_cards(rules_folder()) is None


def test_ready_cards_say_what_the_rules_say(shipped: Path) -> None:
    assert ready_cards(str(shipped)) == cards_of(BOOK.rules.values())


def test_cards_come_in_the_order_of_the_codes(shipped: Path) -> None:
    ready = ready_cards(str(shipped))
    assert ready is not None
    assert list(ready) == list(BOOK.rules)


def test_cards_are_not_trusted_when_a_rule_was_changed(shipped: Path) -> None:
    with (shipped / "nan110_log_of_softmax.py").open("a", encoding="utf-8") as rule:
        rule.write("# one more line\n")
    assert ready_cards(str(shipped)) is None


@pytest.mark.parametrize("change", ["added", "removed"])
def test_cards_are_not_trusted_when_a_rule_was_added_or_removed(shipped: Path, change: str) -> None:
    if change == "added":
        shutil.copy(RULES / "loc101_bare_log.py", shipped)
    else:
        (shipped / "nan110_log_of_softmax.py").unlink()
    assert ready_cards(str(shipped)) is None


def test_the_same_rules_make_the_same_file(shipped: Path) -> None:
    again = code_of(cards_of(Rulebook().rules.values()), sizes(rules_folder()))
    assert again == (shipped / READY).read_text(encoding="utf-8")


def test_a_user_with_own_rules_gets_cards_of_all_of_them() -> None:
    book = rulebook((str(RULES),))
    assert set(book.cards) == set(book.rules) > set(BOOK.cards)
