"""Fixes on generated code, proven by running it: equal on ordinary inputs, finite where it broke, silent, and final."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from nanlint.engine.rules.rulebook import rulebook
from nanlint.model import Applicability
from nanlint.testing import findings_in
from tests.fix_shapes import SHAPES, Shape, write, written

pytest.importorskip("torch", reason="torch is not installed, so nothing can be run")

from tests.fixing import fixed
from tests.shape_proofs import problem_with

# A suppression, labels, and losses, parameters and optimizers that are made elsewhere: no function of one tensor.
PROVEN_BY_FIXTURES = {"NAN001", "NAN108", "NAN109", "NAN208", "NAN209"}


def plainly(shape: Shape) -> str:
    """The shape in its plainest form."""
    return write(shape, lambda items: items[0])


def is_applied(found: object) -> bool:
    fixes = getattr(found, "fix", None)
    return fixes is not None and fixes.applicability is not Applicability.SHOW


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.code} {shape.expression}")
def test_every_shape_is_found_and_fixed(shape: Shape) -> None:
    text = plainly(shape)
    outcome = fixed(text, shape.code)
    assert outcome.applied, text
    assert problem_with(shape, text, outcome) == "", outcome.text


@pytest.mark.slow
@given(written())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_fix_holds_on_generated_code(case: tuple[Shape, str]) -> None:
    shape, text = case
    found = findings_in(text, shape.code)
    assert found, f"{shape.code} does not see it:\n{text}"
    outcome = fixed(text, shape.code)
    if not any(is_applied(each) for each in found):
        assert outcome.text == text
        return
    assert problem_with(shape, text, outcome) == "", outcome.text


def test_the_shapes_cover_every_rule_that_fixes_an_expression() -> None:
    book = rulebook()
    fixing = {code for code in book.rules if code < "NAN400" and book.info(code).fix.startswith(("Safe", "Unsafe"))}
    assert {shape.code for shape in SHAPES} == fixing - PROVEN_BY_FIXTURES
