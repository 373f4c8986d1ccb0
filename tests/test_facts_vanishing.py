"""How ordinary a zero is of data, and what a function was given."""

from __future__ import annotations

import pytest

from nanlint.facts.counting import Chance
from nanlint.facts.silence import silence
from tests.revealing import facts_about, revealed

HEADER = "def f(self, x: torch.Tensor, labels: torch.Tensor, batch, mask: torch.Tensor, length=None):\n    "


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
