"""Fixes on generated code, proven by running it: equal on ordinary inputs, finite where it broke, silent, and final."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from nanlint.engine.apply_fixes import Fixed, fix_text
from nanlint.model import Applicability, Finding
from nanlint.testing import findings_in
from tests.fix_shapes import POSITIVE, SHAPES, SHARE, Shape, written

torch = pytest.importorskip("torch", reason="torch is not installed, so nothing can be run")

torch.set_num_threads(1)


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def fix(text: str, code: str) -> Fixed:
    return fix_text(
        text,
        lambda draft: findings_in(draft, code),
        lambda each: each.applicability is not Applicability.SHOW,
        parses=parses,
    )


def ordinary(shape: Shape) -> list[Any]:
    """Inputs of which everybody would expect a result."""
    torch.manual_seed(0)
    if shape.operand == SHARE:
        return [torch.rand(2, 4) * 0.8 + 0.1, torch.softmax(torch.randn(2, 4), dim=-1)]
    if shape.operand == POSITIVE:
        return [torch.rand(2, 4) + 0.1]
    return [torch.randn(2, 4) * shape.spread, torch.rand(2, 4) + 0.2, torch.linspace(-3, 3, 8).view(2, 4) + 0.01]


def breaking(shape: Shape) -> Any:
    """The input that breaks it: one element, or all, at the edge."""
    x = torch.full((2, 4), float(shape.breaks_at))
    if abs(shape.breaks_at) > 1:
        x[:, 1::2] = 0 if shape.code != "NAN210" else x[:, 1::2]
    return x


def run(text: str, x: Any) -> tuple[Any, Any]:
    """What `f` of the module returns, and the gradient of its sum."""
    names: dict[str, Any] = {}
    exec(compile(text, "generated", "exec"), names)  # noqa: S102 - our own text
    given = x.clone().requires_grad_()
    result = names["f"](given)
    result.sum().backward()
    return result.detach(), given.grad


def is_finite(result: tuple[Any, Any]) -> bool:
    return all(bool(torch.isfinite(part).all()) for part in result)


@given(written())
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
def test_a_fix_holds_on_generated_code(case: tuple[Shape, str]) -> None:
    shape, text = case
    found = findings_in(text, shape.code)
    assert found, f"{shape.code} does not see it:\n{text}"
    outcome = fix(text, shape.code)
    if not any(each.fix and each.fix.applicability is not Applicability.SHOW for each in found):
        assert outcome.text == text
        return
    assert outcome.applied, text
    assert parses(outcome.text)
    assert findings_in(outcome.text, shape.code) == []
    assert fix(outcome.text, shape.code).text == outcome.text
    assert ("\r\n" in outcome.text) == ("\r\n" in text)
    assert outcome.text.count("# why not") == text.count("# why not")
    assert_same_results(shape, text, outcome)


def assert_same_results(shape: Shape, text: str, outcome: Fixed) -> None:
    """Equal in value and gradient where the old code had both; finite where it had not."""
    for x in ordinary(shape):
        before, after = run(text, x), run(outcome.text, x)
        if is_finite(before):
            tolerance = tolerance_of(outcome.applied)
            torch.testing.assert_close(after, before, rtol=tolerance, atol=tolerance)
    edge = breaking(shape)
    assert not is_finite(run(text, edge)), f"does not break at {shape.breaks_at}:\n{text}"
    assert is_finite(run(outcome.text, edge)), f"is not mended:\n{outcome.text}"


def tolerance_of(applied: list[Finding]) -> float:
    """SAFE fixes round otherwise; UNSAFE ones may move a result by what their floor is."""
    safe = all(each.fix is not None and each.fix.applicability is Applicability.SAFE for each in applied)
    return 1e-4 if safe else 1e-3


def test_the_shapes_cover_every_rule_with_a_safe_fix_of_an_expression() -> None:
    assert {shape.code for shape in SHAPES} >= {"NAN110", "NAN111", "NAN202", "NAN210", "NAN301", "NAN302"}
