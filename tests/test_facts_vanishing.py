"""How ordinary a zero is: of masks, of data, of denominators, and what a function was given."""

from __future__ import annotations

import pytest

from nanlint.facts.counting import Chance
from nanlint.facts.silence import silence
from tests.revealing import facts_about, revealed

HEADER = "def f(self, x: torch.Tensor, labels: torch.Tensor, batch, mask: torch.Tensor, length=None):\n    "


def chances(body: str) -> list[str]:
    return revealed(HEADER + body, lambda facts, node: facts.vanishes_as(node).chance.name.lower())


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("reveal((labels > 0).sum())", id="count of a test on values"),
        pytest.param("reveal(((labels > 0) & (labels < 5)).float().sum(-1))", id="count of two tests"),
        pytest.param("ids = batch.target_ids\n    reveal((ids != -100).sum())", id="labels that are not ignored"),
        pytest.param("reveal((labels > 0).sum().item())", id="count as a number"),
        pytest.param("reveal(labels.bincount())", id="elements of each class"),
        pytest.param(
            "same = (labels[:, None] == labels).float()\n    reveal((same * (1 - torch.eye(3))).sum(1))", id="others"
        ),
        pytest.param(
            "same = (labels[:, None] == labels).float()\n    same.fill_diagonal_(0)\n    reveal(same.sum(1))",
            id="all but itself",
        ),
        pytest.param("loss_mask = batch.loss_mask\n    reveal(loss_mask.sum())", id="tokens to learn"),
        pytest.param("adj = batch.adj\n    reveal(adj.sum(1))", id="neighbours of a node"),
        pytest.param("reveal(torch.stft(batch.x, 8).abs().mean())", id="spectrum of a pause"),
        pytest.param(
            "same = (labels == labels.t()).float()\n    reveal((same - torch.eye(len(labels))).sum())",
            id="pairs of others",
        ),
        pytest.param(
            "same = torch.eq(labels, labels.t())\n    same.fill_diagonal_(False)\n    reveal(same.sum(1))",
            id="others, without the diagonal",
        ),
        pytest.param("reveal(x.amax(dim=1) - x.amin(dim=1))", id="range of rows"),
        pytest.param("image = x\n    reveal(image.max() - image.min())", id="range of an image"),
        pytest.param("reveal(x.std(dim=0))", id="spread of data"),
        pytest.param(
            "rewards = torch.tensor(batch.rewards)\n    reveal(rewards.std())", id="data that became a tensor"
        ),
        pytest.param("reveal(torch.nn.functional.unfold(x, 9).mT.std(dim=1))", id="windows of data, transposed"),
        pytest.param("reveal(x.unfold(-1, 9, 3).std(dim=-1))", id="windows of data"),
        pytest.param("image = batch['image']\n    reveal(image.abs().max())", id="peak of an item"),
        pytest.param("reveal(torch.abs(x - x.mean()).mean())", id="deviation from its own mean"),
        pytest.param("reveal(batch.grad.norm())", id="length of a gradient"),
        pytest.param("reveal(x.abs() + batch.target.abs())", id="two sizes"),
    ],
)
def test_a_zero_that_everyday_input_makes_is_ordinary(body: str) -> None:
    assert chances(body) == ["ordinary"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("reveal(mask.sum())", id="mask from elsewhere"),
        pytest.param("reveal((x - labels).norm())", id="distance of two points"),
        pytest.param("embeddings = x\n    reveal(embeddings.norm())", id="length of an embedding"),
        pytest.param("reveal((x - labels).pow(2).sum())", id="square of a distance"),
        pytest.param("reveal((torch.rand(3) < 0.5).sum())", id="draw"),
        pytest.param("reveal((x == labels).sum())", id="two tensors that agree"),
        pytest.param("y = self.encode(x)\n    reveal(y.std())", id="spread of what a function gave back"),
        pytest.param("reveal(self.scale.std())", id="spread of what the object keeps"),
        pytest.param("reveal(batch.high - batch.low)", id="two ends by name"),
        pytest.param("reveal(x[1] - x[0])", id="two elements"),
        pytest.param("reveal(x.max() - x.min())", id="range of a whole table"),
        pytest.param("logs = torch.log(x)\n    reveal(logs.max() - logs.min())", id="range of what may be NaN"),
        pytest.param("features = x\n    reveal(features.std())", id="spread of what a model makes"),
        pytest.param("values = x[mask]\n    reveal(values.std())", id="spread of a selection"),
        pytest.param("reveal((batch.degree_in * batch.degree_out).sqrt())", id="neighbours on both sides"),
        pytest.param("reveal((x.max() - x.min()) / float(length))", id="range over a setting"),
        pytest.param("reveal(1 - torch.cos(x))", id="no angle"),
        pytest.param("reveal(torch.sqrt(x - labels) * 2)", id="root of a difference"),
        pytest.param("reveal(torch.log(x).norm())", id="length of what may be NaN"),
        pytest.param("sides = (x - labels).clamp(min=0)\n    reveal(sides[0] * sides[1])", id="area of a box"),
    ],
)
def test_a_zero_that_rests_on_a_name_or_on_the_caller_is_doubtful(body: str) -> None:
    assert chances(body) == ["doubtful"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("reveal((torch.arange(3) < length).sum())", id="mask of lengths"),
        pytest.param("reveal((batch.input_ids != 0).sum(-1))", id="tokens that are not padding"),
        pytest.param("reveal((x == x.max()).sum())", id="where the largest stands"),
        pytest.param("reveal((x >= x.max() / 2).sum())", id="above half of the peak"),
        pytest.param("reveal((labels[:, None] == labels).sum(1))", id="equal to itself"),
        pytest.param(
            "y = batch['y']\n    reveal((y[:, None] == y[None]).float().sum(1))", id="an item equal to itself"
        ),
        pytest.param("adj = batch.adj + torch.eye(3)\n    reveal(adj.sum(1))", id="neighbours and itself"),
        pytest.param("probs = batch.probs\n    reveal((probs > 0).sum())", id="probabilities above 0"),
        pytest.param("reveal((labels == 1).sum() + (labels == 0).sum())", id="positives and negatives"),
        pytest.param("reveal(labels.bincount().max())", id="largest class"),
        pytest.param("reveal(x.softmax(-1).sum())", id="shares of a whole"),
        pytest.param("noise = torch.randn(3)\n    reveal(noise.std())", id="noise"),
        pytest.param("buffer = torch.zeros(3)\n    reveal(buffer.sum())", id="buffer that is filled elsewhere"),
        pytest.param("reveal(x.exp().sum())", id="underflow"),
    ],
)
def test_what_is_never_all_zero_is_not_judged(body: str) -> None:
    assert chances(body) == ["none"]


def test_a_class_that_a_loop_finds_in_the_data_has_members() -> None:
    body = "for c in labels.unique():\n        reveal((labels == c).sum())\n    for c in range(3):\n        reveal((labels == c).sum())"
    assert chances(body) == ["none", "ordinary"]


def test_what_is_divided_by_its_own_element_is_doubtful() -> None:
    facts = facts_about(HEADER + "reveal(x / x[..., :1])")
    call = facts.calls_of("torch.div")[0]
    assert facts.vanishes_as(call.arguments["other"], call.arguments["input"]).chance is Chance.DOUBTFUL


@pytest.mark.parametrize(
    ("body", "given"),
    [
        pytest.param("reveal(x)", True, id="parameter"),
        pytest.param("reveal(batch.advantages)", True, id="attribute of a parameter"),
        pytest.param("part = batch['x']\n    reveal(part[:3].float())", True, id="part of an item, by name"),
        pytest.param("a, b = batch.a, batch.b\n    reveal(b)", True, id="one of two names"),
        pytest.param("for part in self.parts(x):\n        reveal(part.y)", True, id="what a loop runs over"),
        pytest.param("reveal(x + 1)", False, id="computed"),
        pytest.param("y = self.encode(x)\n    reveal(y)", False, id="what a function gave back"),
        pytest.param("y, z = self.encode(x)\n    reveal(y)", False, id="part of what a function gave back"),
        pytest.param("reveal(self.scale)", False, id="kept by the object"),
        pytest.param(
            "for _ in range(3):\n        z, _ = self.encode(x)\n        z /= reveal(z)", False, id="changed in a loop"
        ),
    ],
)
def test_what_a_function_is_given_is_told_from_what_it_computes(body: str, given: bool) -> None:  # noqa: FBT001 - the answer
    assert revealed(HEADER + body, lambda facts, node: facts.is_given(node)) == [given]


def test_data_is_silent_and_what_a_model_makes_is_not() -> None:
    body = "reveal(x)\n    reveal(self.encode(x))\n    features = self.encode(x)\n    reveal(features)"

    def silent(facts: object, node: object) -> Chance:
        return silence(node, facts.here)  # type: ignore[arg-type,attr-defined] # of ModuleFacts and libcst

    assert revealed(HEADER + body, silent) == [Chance.ORDINARY, Chance.DOUBTFUL, Chance.NONE]


@pytest.mark.parametrize(
    ("body", "tested"),
    [
        pytest.param(
            "spread = x.std()\n    assert spread > 0\n    reveal(x.abs().mean())", True, id="made of the same"
        ),
        pytest.param(
            "flat = x.max() <= 0\n    if flat:\n        return\n    reveal(x.abs().sum())", True, id="by name"
        ),
        pytest.param("assert batch.n * 2 == labels.shape[0]\n    reveal(batch.n)", False, id="beside a size"),
        pytest.param("assert length % 2 == 0\n    reveal(x[:length])", False, id="remainder"),
        pytest.param(
            "assert self.ready\n    assert x.dim() == 3\n    reveal(x.abs().sum())", False, id="a number of dimensions"
        ),
        pytest.param("assert x.shape[1] == 3\n    reveal(x.abs().sum())", False, id="a form that is asked for"),
        pytest.param("assert x.numel() == labels.numel()\n    reveal(x.abs().sum())", False, id="as many as others"),
        pytest.param("assert not x.isnan().any()\n    reveal(x.abs().sum())", False, id="whether it is NaN"),
        pytest.param("if x.numel() == 0:\n        return\n    reveal(x.abs().sum())", True, id="nothing at all"),
        pytest.param(
            "rows = batch.rows\n    n = rows.shape[0]\n    if n == 0:\n        return\n    reveal(rows.abs().sum())",
            True,
            id="a size under a name",
        ),
    ],
)
def test_a_condition_tells_of_what_its_operand_is_made_of(body: str, tested: bool) -> None:  # noqa: FBT001 - the answer
    assert revealed(HEADER + body, lambda facts, node: facts.is_tested(node)) == [tested]


def test_reading_the_form_of_a_value_does_not_mend_it() -> None:
    body = "y = x / mask.sum()\n    z = torch.zeros(3, device=y.device)\n    z[mask] = 1\n    reveal(y)"
    facts = facts_about(HEADER + body)
    assert facts.is_mended(facts.calls_of("torch.div")[0].node) is False


def test_an_array_of_numpy_is_no_tensor() -> None:
    text = (
        "import numpy as np\ndef f(xs):\n    x = np.stack(xs)\n    reveal((x - x.mean()).std())\n    reveal(xs.std())"
    )
    assert revealed(text, lambda facts, node: facts.is_tensor(node)) == [False, True]


def test_a_blend_by_a_mask_is_zero_only_where_what_is_blended_is() -> None:
    body = "m = (labels > 0).float()\n    reveal((x.abs() + 1) * m + (1 - m))\n    reveal(x.abs() * m + (1 - m))"
    assert revealed(HEADER + body, lambda facts, node: facts.reaches_zero(node)) == [False, True]


@pytest.mark.parametrize(
    ("text", "optional"),
    [
        pytest.param("def f(x, mask=None):\n    reveal(~mask.unsqueeze(1))", True, id="default None"),
        pytest.param("def f(x, mask):\n    reveal(~mask)", False, id="must be given"),
        pytest.param("def f(x, mask=None):\n    reveal(mask & x)", False, id="combined here"),
    ],
)
def test_a_mask_that_a_caller_may_leave_out_is_told_from_one_made_here(text: str, optional: bool) -> None:  # noqa: FBT001 - the answer
    assert revealed(text, lambda facts, node: facts.is_optional(node)) == [optional]
