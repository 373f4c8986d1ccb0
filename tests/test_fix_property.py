"""Fixes on generated code, proven by running it: equal on ordinary inputs, finite where it broke, silent, and final."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from nanlint.model import Applicability
from nanlint.testing import findings_in
from tests.fix_shapes import SHAPES, Shape, write, written

pytest.importorskip("torch", reason="torch is not installed, so nothing can be run")

from tests.shape_proofs import fix, problem_with


def plainly(shape: Shape) -> str:
    """The shape in its plainest form."""
    return write(shape, lambda items: items[0])


def is_applied(found: object) -> bool:
    fixes = getattr(found, "fix", None)
    return fixes is not None and fixes.applicability is not Applicability.SHOW


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.code} {shape.expression}")
def test_every_shape_is_found_and_fixed(shape: Shape) -> None:
    text = plainly(shape)
    outcome = fix(text, shape.code)
    assert outcome.applied, text
    assert problem_with(shape, text, outcome) == "", outcome.text


@given(written())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
def test_a_fix_holds_on_generated_code(case: tuple[Shape, str]) -> None:
    shape, text = case
    found = findings_in(text, shape.code)
    assert found, f"{shape.code} does not see it:\n{text}"
    outcome = fix(text, shape.code)
    if not any(is_applied(each) for each in found):
        assert outcome.text == text
        return
    assert problem_with(shape, text, outcome) == "", outcome.text


def test_the_shapes_cover_every_rule_that_fixes_an_expression() -> None:
    codes = [
        "101",
        "102",
        "103",
        "106",
        "107",
        "110",
        "111",
        "112",
        "201",
        "202",
        "203",
        "204",
        "205",
        "207",
        "210",
        "211",
        "301",
        "302",
        "303",
    ]
    assert {shape.code for shape in SHAPES} == {f"NAN{code}" for code in codes}
