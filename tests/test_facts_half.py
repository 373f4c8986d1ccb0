"""What float16 does to code that does not say which dtype it runs in."""

from __future__ import annotations

import pytest

from tests.revealing import origins, revealed


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("scores[mask] = float('-inf')", id="by a mask"),
        pytest.param("scores[~keep] = -1e9", id="by what is not kept"),
        pytest.param("scores[x > 0] = -torch.inf", id="by a comparison"),
        pytest.param("scores.data.masked_fill_(mask, -1e9)", id="in its data"),
    ],
)
def test_scores_that_are_set_under_a_mask_are_filled(statement: str) -> None:
    text = f"""
    def f(scores: torch.Tensor, x: torch.Tensor, mask, keep):
        {statement}
        reveal(scores)
    """
    assert origins(text) == ["torch.masked_fill"]


def test_a_parameter_that_is_filled_in_its_data_is_learned_all_the_same() -> None:
    text = """
    def f():
        weight = nn.Parameter(torch.ones(3))
        weight.data.fill_(0.5)
        reveal(weight)
    """
    assert revealed(text, lambda facts, node: facts.value_of(node).learnable) == [True]


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("scores[0] = float('-inf')", id="by its number"),
        pytest.param("scores[tokens] = float('-inf')", id="by numbers"),
        pytest.param("scores[mask] = 0", id="with an ordinary number"),
        pytest.param("scores[mask] = x", id="with another tensor"),
        pytest.param("scores[:, 0] = -1e9", id="in a column"),
    ],
)
def test_other_elements_that_are_set_are_no_mask(statement: str) -> None:
    text = f"""
    def f(scores: torch.Tensor, x: torch.Tensor, mask, tokens):
        {statement}
        reveal(scores)
    """
    assert origins(text) == ["unknown"]
