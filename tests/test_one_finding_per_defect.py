"""One defect, one finding: where several rules could tell of the same expression, the one that knows it best does."""

from __future__ import annotations

import pytest

from nanlint import check_source
from nanlint.engine.rules.rulebook import rulebook
from nanlint.settings import Settings
from nanlint.testing import Expectation, expectations
from tests.checkout import ROOT

TEXT = (ROOT / "tests" / "data" / "one_defect" / "shapes.py").read_text("utf-8")
NUMERIC = Settings(select=("NAN1", "NAN2", "NAN3"), preview=True, severity="info")
RULES = rulebook().rules


def test_every_defect_is_told_of_once_by_the_rule_that_knows_it_best() -> None:
    found = [(finding.span.line, finding.code) for finding in check_source(TEXT, settings=NUMERIC)]
    assert found == [(expected.line, expected.code) for expected in expectations(TEXT)]


@pytest.mark.parametrize("expected", expectations(TEXT), ids=lambda expected: f"{expected.code} line {expected.line}")
def test_the_rule_that_tells_of_it_tells_of_it_alone_as_well(expected: Expectation) -> None:
    alone = Settings(select=(expected.code,), preview=True, severity="info")
    assert expected.line in {finding.span.line for finding in check_source(TEXT, settings=alone)}


def test_no_two_rules_give_way_to_each_other() -> None:
    """Both would be silent then, however long the way round is."""
    circles = [code for code in RULES if code in _gives_way_to(code, frozenset())]
    assert circles == []


def _gives_way_to(code: str, seen: frozenset[str]) -> frozenset[str]:
    winners = RULES[code].yields_to
    return winners.union(*(_gives_way_to(winner, seen | winners) for winner in winners - seen))


def test_rules_give_way_to_rules_that_exist() -> None:
    assert {code: rule.yields_to - RULES.keys() for code, rule in RULES.items() if rule.yields_to - RULES.keys()} == {}
