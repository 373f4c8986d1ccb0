"""What float16 does to code that does not say which dtype it runs in."""

from __future__ import annotations

import pytest

from tests.revealing import facts_about, origins, revealed


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


@pytest.mark.parametrize(
    ("body", "is_relied_on"),
    [
        pytest.param("return x / (x.abs() + 1e-8)", True, id="divided by"),
        pytest.param("size = x.abs() + 1e-8\n    return x / size.unsqueeze(0)", True, id="under a name"),
        pytest.param("return torch.log(1e-8 + x)", True, id="logarithm"),
        pytest.param("return (x + 1e-8) ** -0.5", True, id="power"),
        pytest.param("return (x + 1e-8) ** 2", False, id="square"),
        pytest.param("return x / (1 + x.abs() + 1e-8)", False, id="above 1 by itself"),
        pytest.param("return y / (len(y) + 1e-8)", False, id="a number"),
        pytest.param("return x + 1e-8", False, id="nothing breaks"),
    ],
)
def test_an_eps_is_relied_on_by_what_breaks_at_0(body: str, *, is_relied_on: bool) -> None:
    facts = facts_about(f"def f(x: torch.Tensor, y):\n    {body}\n")
    raised = [(call, found) for call in facts.calls_of("torch.add") if (found := facts.raised(call)) is not None]
    assert [facts.is_relied_on(call, found.value) for call, found in raised] == ([is_relied_on] if raised else [])
    assert raised or not is_relied_on


@pytest.mark.parametrize(
    ("name", "may_be_half"),
    [
        pytest.param("match_rows", True, id="matching"),
        pytest.param("box_iou", True, id="boxes"),
        pytest.param("compute_metric", False, id="a metric"),
        pytest.param("mel_spectrogram", False, id="a signal"),
        pytest.param("test_rows", False, id="a test"),
    ],
)
def test_what_measures_or_prepares_is_float32(name: str, *, may_be_half: bool) -> None:
    assert facts_about(f"def {name}(x: torch.Tensor):\n    return x\n", name).may_be_half() is may_be_half


def test_a_helper_whose_caller_casts_half_first_is_float32() -> None:
    text = """
    def shares(x: torch.Tensor):
        return x / (x.sum() + 1e-8)

    def outer(x: torch.Tensor):
        return shares(x.float()) if x.dtype == torch.float16 else shares(x)
    """
    assert facts_about(text, "shares").is_widened()
