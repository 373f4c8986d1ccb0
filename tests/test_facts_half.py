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
        pytest.param("reward = x.mean()\n    return x / (reward.std() + 1e-8)", False, id="what an environment gives"),
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


def test_what_a_module_makes_beforehand_is_float32() -> None:
    text = """
    class Diffusion(nn.Module):
        def __init__(self, variance: torch.Tensor):
            self.register_buffer("spread", torch.log(variance.clamp(min=1e-20)))

        def forward(self, x: torch.Tensor):
            return x * self.spread
    """
    told = {name: facts_about(text, name).may_be_half() for name in ("Diffusion.__init__", "Diffusion.forward")}
    assert told == {"Diffusion.__init__": False, "Diffusion.forward": True}


@pytest.mark.parametrize("name", ["box_iou", "dice_loss"])
def test_overlaps_and_losses_are_half_at_times_whatever_the_file_is_about(name: str) -> None:
    text = f"import torch\ndef {name}(first, second):\n    return first / second\n"
    assert facts_about(text, name).may_be_half()


@pytest.mark.parametrize(
    ("body", "is_widened"),
    [
        pytest.param("return x.float()", True, id="a cast"),
        pytest.param("return upcast(x)", True, id="by its name"),
        pytest.param("return cast_tensor(x, dtype=torch.float32)", True, id="by its name and a dtype"),
        pytest.param("with torch.autocast('cuda', enabled=False):\n        return x.sum()", True, id="no autocast"),
        pytest.param("return cast_tensor(x, dtype=torch.float16)", False, id="to half"),
        pytest.param("return x * mask.float()", False, id="a mask"),
        pytest.param("return x * (x > 0).float()", False, id="a comparison"),
        pytest.param("return x - labels.view(-1).float()", False, id="labels"),
        pytest.param("with torch.autocast('cuda'):\n        return x.sum()", False, id="autocast"),
    ],
)
def test_a_cast_to_float32_goes_by_many_names(body: str, *, is_widened: bool) -> None:
    assert facts_about(f"def f(x: torch.Tensor, mask, labels):\n    {body}\n").is_widened() is is_widened


@pytest.mark.parametrize(
    ("rows", "may_be_empty"),
    [
        pytest.param("patches", True, id="patches"),
        pytest.param("image", True, id="a picture"),
        pytest.param("text_features", False, id="a text"),
        pytest.param("image_features", False, id="a picture as a whole"),
        pytest.param("F.normalize(patches)", False, id="told of already"),
    ],
)
def test_rows_of_pooled_features_are_not_0(rows: str, *, may_be_empty: bool) -> None:
    text = f"def f(patches: torch.Tensor, image, text_features, image_features):\n    reveal({rows})\n"
    assert revealed(text, lambda facts, node: facts.may_have_empty_rows(node)) == [may_be_empty]


@pytest.mark.parametrize(
    ("body", "is_needed"),
    [
        pytest.param("return torch.log(1 - p)", True, id="what is left"),
        pytest.param("return torch.log1p(-p)", True, id="less it"),
        pytest.param("return torch.atanh(p)", True, id="at 1 itself"),
        pytest.param("return torch.log(p)", False, id="a logarithm breaks at 0"),
        pytest.param("return torch.log1p(p)", False, id="one more than it"),
    ],
)
def test_a_ceiling_is_needed_by_what_breaks_at_1(body: str, *, is_needed: bool) -> None:
    facts = facts_about(f"def f(x: torch.Tensor):\n    p = x.clamp(max=1 - 1e-8)\n    {body}\n")
    (ceiling,) = facts.calls_of("torch.clamp")
    assert facts.needs_less_than_one(ceiling, "torch.log", "torch.log1p", "torch.atanh") is is_needed
