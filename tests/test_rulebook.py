"""The rulebook: which rules there are, which of them settings ask for, and what a rule promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from nanlint.engine.rules.rulebook import rulebook, rules_folder
from nanlint.errors import SettingsError, UsageError
from nanlint.rule import Rule
from nanlint.settings import Settings
from tests.checkout import ROOT

BOOK = rulebook()


def selected(**settings: object) -> set[str]:
    return {rule.code for rule in BOOK.select(Settings(**settings)).load()}  # type: ignore[arg-type] # settings by name


def test_the_rules_of_a_checkout_are_its_own() -> None:
    assert Path(rules_folder()) == ROOT / "rules"


def test_every_rule_file_holds_one_rule() -> None:
    files = {path.name for path in (ROOT / "rules").glob("*.py")}
    assert {Path(source).name for source in BOOK.sources.values()} == files
    assert len(BOOK.rules) == len(files)


def test_rules_come_in_the_order_of_their_codes() -> None:
    assert list(BOOK.rules) == sorted(BOOK.rules)


@pytest.mark.parametrize("rule", BOOK.rules.values(), ids=lambda rule: rule.code)
def test_a_rule_judges_what_it_asks_to_be_shown(rule: type[Rule]) -> None:
    assert bool(rule.hazards) == (rule.check is not Rule.check)
    assert bool(rule.settings) == (rule.check_setting is not Rule.check_setting)


def test_nothing_selected_means_every_rule_that_is_no_preview() -> None:
    assert selected() == {code for code, rule in BOOK.rules.items() if not rule.preview}


@pytest.mark.parametrize(
    "selector",
    [
        pytest.param("NAN110", id="code"),
        pytest.param("nan110", id="lower case"),
        pytest.param("log-of-softmax", id="name"),
        pytest.param("NAN110 ", id="blank"),
    ],
)
def test_a_rule_is_selected_by_code_or_name(selector: str) -> None:
    assert selected(select=(selector,)) == {"NAN110"}


def test_a_prefix_selects_all_that_begin_so() -> None:
    assert selected(select=("NAN4",), preview=True) == {code for code in BOOK.rules if code.startswith("NAN4")}


def test_the_more_specific_selector_wins() -> None:
    assert "NAN110" in selected(select=("NAN110",), ignore=("NAN1",))
    assert "NAN110" not in selected(select=("NAN1",), ignore=("NAN110",))
    assert "NAN110" not in selected(select=("NAN110",), ignore=("NAN110",))


def test_a_wrong_selector_is_an_error_with_the_nearest_right_one() -> None:
    with pytest.raises(SettingsError, match=r"there is no rule NAN11O; did you mean NAN(11|41)\d"):
        selected(select=("NAN11O",))
    with pytest.raises(UsageError, match="log-of-softmax"):
        BOOK.find("log-of-sofmax")


def test_options_have_the_values_that_the_user_gave_or_their_defaults() -> None:
    (given,) = BOOK.select(Settings(select=("NAN401",), rules={"NAN401": {"max-norm": 50}})).load()
    (default,) = BOOK.select(Settings(select=("NAN401",))).load()
    assert (given.option("max-norm"), default.option("max-norm")) == (50, 1e3)


def test_an_option_that_a_rule_does_not_have_is_an_error() -> None:
    with pytest.raises(SettingsError, match="has no such option; did you mean max-norm"):
        BOOK.select(Settings(select=("NAN401",), rules={"NAN401": {"max-nrom": 50}}))


def test_a_lower_bound_by_option_is_worth_a_finding() -> None:
    from nanlint import check_source  # noqa: PLC0415 - for this test only

    text = "import torch\ndef f(m):\n    torch.nn.utils.clip_grad_norm_(m.parameters(), 100.0)\n"
    assert check_source(text) == []
    strict = Settings(select=("NAN401",), rules={"NAN401": {"max-norm": 50}})
    assert [finding.code for finding in check_source(text, settings=strict)] == ["NAN401"]
