"""What selections throw away and still send a gradient through, and which masks spare something of each row."""

from __future__ import annotations

import pytest

from nanlint import check_source
from nanlint.settings import Settings

HEADER = "import torch\nfrom torch import Tensor, nn\nfrom torch.nn import functional as F\n\n"
SETTINGS = Settings(select=("NAN107", "NAN302", "NAN303", "NAN304"), severity="info", preview=True)


def codes(body: str, given: str = "x: Tensor, t: Tensor") -> list[str]:
    text = "".join(f"    {line}\n" for line in body.splitlines())
    return [finding.code for finding in check_source(f"{HEADER}def some_loss({given}):\n{text}", settings=SETTINGS)]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("return (x - t)[~t.isnan()].sum()", id="the slope of a difference is 1"),
        pytest.param("ok = ~t.isnan()\nreturn ((x[ok] - t[ok]) ** 2).sum()", id="selected first"),
        pytest.param("d = x.detach()\nreturn x * torch.where(d > 0, d.log(), 0.0)", id="nothing to be learned"),
        pytest.param("with torch.no_grad():\n    return torch.where(x > 0, x.log(), 0.0)", id="not recorded"),
        pytest.param("m = x.softmax(-1)\nreturn -(1 - m) * torch.log(1 - m + 0.1)", id="a share is no mask"),
        pytest.param(
            "m = torch.ones_like(x).triu(1).bool()\nreturn x.masked_fill(m, -torch.inf).softmax(-1)", id="causal"
        ),
        pytest.param(
            "m = t > 0\nif m.all(dim=-1).any():\n    return x\nreturn x.masked_fill(m, -torch.inf).softmax(-1)",
            id="each row was asked",
        ),
        pytest.param("return torch.linalg.eigh(x)[0].sum()", id="eigenvalues alone"),
        pytest.param("return torch.where(x < 0.5, torch.expm1(x), torch.exp(x) - 1).sum()", id="overflows either way"),
        pytest.param("_, s, _ = x.svd()\nreturn s.sum()", id="singular values alone"),
    ],
)
def test_what_breaks_nothing_is_silent(body: str) -> None:
    assert codes(body) == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param("y = x / t\ny[t == 0] = 0\nreturn y", "NAN302", id="quotients set to 0"),
        pytest.param("y = x / t\nreturn torch.where(t == 0, 0.0, y)", "NAN302", id="quotients by where, through a name"),
        pytest.param("r = (x - t) ** 2\nr[r != r] = 0\nreturn r.mean()", "NAN302", id="a NaN that differs from itself"),
        pytest.param(
            "r = F.mse_loss(x, t, reduction='none')\nreturn r[~torch.isnan(t)].sum()", "NAN302", id="a loss on NaN targets"
        ),
        pytest.param(
            "r = F.l1_loss(x, t, reduction='none')\nreturn torch.where(t.isnan(), 0.0, r).sum()", "NAN302", id="a loss on NaN targets, by where"
        ),
        pytest.param("return ((x - t).abs() * torch.isfinite(t)).sum()", "NAN303", id="NaN targets times a mask"),
        pytest.param("return torch.where(x.abs() < 1, torch.arccos(x), 0.0)", "NAN302", id="arccos outside its domain"),
        pytest.param(
            "m = t > 0\nif m.any():\n    x = x.masked_fill(m, -torch.inf)\nreturn x.softmax(-1)",
            "NAN107",
            id="a question about the whole asks no row",
        ),
        pytest.param("m = torch.ones_like(x).triu().bool()\nreturn x.masked_fill(m, -torch.inf).softmax(-1)", "NAN107", id="triu(0) hides the first row"),
        pytest.param(
            "b = torch.zeros_like(x).masked_fill(t > 0, -torch.inf)\nreturn (x + b).softmax(-1).nan_to_num()",
            "NAN107",
            id="an added mask, repaired in the forward alone",
        ),
        pytest.param(
            "return nn.MultiheadAttention(4, 2)(x, x, x, key_padding_mask=t)[0]", "NAN107", id="a padding mask that hides all"
        ),
        pytest.param("u, _, v = x.cpu().svd()\nreturn (u @ v).sum()", "NAN304", id="vectors of a copy"),
    ],
)  # fmt: skip
def test_a_guard_of_the_forward_alone_is_told_of(body: str, code: str) -> None:
    assert codes(body) == [code]


def test_attention_without_weights_gives_0_for_a_sequence_that_is_hidden() -> None:
    assert codes("return nn.MultiheadAttention(4, 2)(x, x, x, key_padding_mask=t, need_weights=False)[0]") == []


def test_what_an_attribute_holds_is_either_of_two_functions() -> None:
    text = """
from entmax import entmax15

class Attention(nn.Module):
    def __init__(self, sparse):
        super().__init__()
        self.attend = entmax15 if sparse else F.softmax

    def forward(self, scores: Tensor, mask: Tensor):
        return self.attend(scores.masked_fill(mask, -torch.inf), dim=-1)
"""
    assert [finding.code for finding in check_source(HEADER + text, settings=SETTINGS)] == ["NAN107"]
