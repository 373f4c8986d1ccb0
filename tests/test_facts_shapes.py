"""Questions about several operations that belong together: masks, eps, squares, selections, schedules."""

from __future__ import annotations

import pytest

from nanlint.analysis.trained_by_name import serves_a_forward
from tests.revealing import PREAMBLE, facts_about, origins, revealed


def test_masks_that_are_joined_or_denied_keep_their_origin() -> None:
    text = """
    def f(x: torch.Tensor, m):
        reveal(~torch.isnan(x))
        reveal((x > 0) & m)
        reveal(torch.isnan(x) | torch.isinf(x))
    """
    assert origins(text) == ["torch.bitwise_not", "torch.bitwise_and", "torch.bitwise_or"]


def test_a_mask_that_is_joined_with_something_unknown_is_a_mask_and_what_nobody_knows_stays_unknown() -> None:
    text = """
    def f(x: torch.Tensor, m):
        reveal((x > 0) & m)
        reveal(m & 7)
        reveal(~m)
    """
    assert revealed(text, lambda facts, node: facts.is_known(node)) == [True, False, False]
    mask, *_ = revealed(text, lambda facts, node: facts.range_of(node))
    assert (mask.low, mask.high, mask.integer) == (0, 1, True)


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param("(x > 0) & m", id="both"),
        pytest.param("~((x <= 0) | m)", id="neither"),
        pytest.param("keep & m", id="by name"),
    ],
)
def test_where_several_masks_are_joined_each_of_them_holds(condition: str) -> None:
    text = f"""
    def f(x: torch.Tensor, m):
        keep = x > 0
        reveal(torch.where({condition}, x, 1.0))
    """
    (reach,) = revealed(text, lambda facts, node: facts.range_of(node))
    assert not reach.has_zero


def test_where_one_of_two_masks_is_enough_nothing_is_known() -> None:
    text = """
    def f(x: torch.Tensor, m):
        reveal(torch.where((x > 0) | m, x, 1.0))
    """
    (reach,) = revealed(text, lambda facts, node: facts.range_of(node))
    assert reach.has_zero


@pytest.mark.parametrize(
    ("expression", "is_square"),
    [
        pytest.param("x ** 2", True, id="power"),
        pytest.param("x.square()", True, id="square"),
        pytest.param("x * x", True, id="product"),
        pytest.param("x ** 3", False, id="cube"),
        pytest.param("x * y", False, id="two factors"),
    ],
)
def test_squares_are_told_in_every_spelling(expression: str, *, is_square: bool) -> None:
    facts = facts_about(f"def f(x: torch.Tensor, y: torch.Tensor):\n    return {expression}\n")
    (call,) = facts.calls_of("torch.pow", "torch.square", "torch.mul")
    assert (facts.squared(call) is not None) is is_square


def test_a_parameter_that_is_told_so_is_not_learned() -> None:
    text = """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.fixed = nn.Parameter(torch.ones(1), requires_grad=False)
        self.moved = nn.Parameter(torch.ones(1))

    def forward(self, x):
        reveal(self.fixed)
        reveal(self.moved)
"""
    assert revealed(text, lambda facts, node: facts.value_of(node).learnable, "A.forward") == [False, True]


def test_a_function_that_a_loss_calls_is_a_part_of_it() -> None:
    text = """
def spread(x):
    return x

def shape(x):
    return x

class SpreadLoss:
    def __call__(self, x):
        return spread(x)
"""
    trained = {name: facts_about(text, name).is_trained() for name in ("spread", "shape")}
    assert trained == {"spread": True, "shape": False}


def test_what_a_forward_calls_serves_it() -> None:
    text = """
def unit(x):
    return x

def scaled(x):
    return x

class Block(nn.Module):
    def forward(self, x):
        return unit(x)

class EvaluationMetric(nn.Module):
    def forward(self, x):
        return scaled(x)
"""
    outline = facts_about(text, "unit").outline
    serves = {name: serves_a_forward(outline.chunks[name], outline) for name in ("unit", "scaled")}
    assert serves == {"unit": True, "scaled": False}


def test_a_distance_is_trained_where_there_are_networks() -> None:
    text = "def distance(x: torch.Tensor):\n    return x\n"
    trained = [facts_about(text, "distance", preamble=before).is_trained() for before in ("import torch\n", PREAMBLE)]
    assert trained == [False, True]
