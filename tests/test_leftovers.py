"""What a fix leaves behind is deleted if nothing reads it, and only then."""

from __future__ import annotations

import ast

import pytest

from nanlint.engine.apply_fixes import fix_text
from nanlint.model import Applicability
from nanlint.testing import findings_in

BODY = """\
import torch


def loss(logits, target, self=None):
    {before}
    return -(target * {log}).sum(){after}
"""
SOFTMAX = "probs = torch.softmax(logits, dim=-1)"


def fixed(before: str = SOFTMAX, log: str = "torch.log(probs)", after: str = "", body: str = BODY) -> str:
    return fix_text(
        body.format(before=before, log=log, after=after),
        lambda draft: findings_in(draft, "NAN110"),
        lambda fix: fix.applicability is Applicability.SAFE,
        parses=lambda draft: bool(ast.parse(draft)),
    ).text


def is_mended(text: str) -> bool:
    return "log_softmax" in text or "logsigmoid" in text


def test_probabilities_that_nothing_reads_any_more_are_deleted() -> None:
    assert fixed() == BODY.format(before="#", log="torch.log_softmax(logits, dim=-1)", after="").replace("    #\n", "")


def test_what_only_the_deleted_read_is_deleted_too() -> None:
    text = fixed("probs = torch.sigmoid(logits)\n    rest = 1 - probs", "rest.log()")
    assert is_mended(text)
    assert "sigmoid(logits)" not in text
    assert "rest" not in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(SOFTMAX, " + probs.sum()", id="it is read elsewhere"),
        pytest.param(f"{SOFTMAX}  # kept for the log", "", id="it has a comment"),
        pytest.param(f"# of every class\n    {SOFTMAX}", "", id="a comment stands above it"),
        pytest.param(f"{SOFTMAX}; print(1)", "", id="another statement stands on its line"),
        pytest.param(f"{SOFTMAX}\n    seen = locals()", "", id="locals() may read it"),
        pytest.param(f"global probs\n    {SOFTMAX}", "", id="it is global"),
        pytest.param(f"{SOFTMAX}\n    late = lambda: probs", "", id="a function within reads it"),
        pytest.param(f"kept = {SOFTMAX}", "", id="another name is bound with it"),
        pytest.param(f"if target is not None:\n        {SOFTMAX}", "", id="it is all there is in its block"),
    ],
)
def test_it_stays_if(before: str, after: str) -> None:
    text = fixed(before, after=after)
    assert SOFTMAX in text


def test_what_may_have_an_effect_stays() -> None:
    text = fixed("probs = torch.softmax(self.net(logits), dim=-1)")
    assert "self.net(logits)" in text


def test_a_name_of_the_module_stays() -> None:
    body = "import torch\nlogits = torch.randn(3)\n{before}\nloss = -({log}).sum(){after}\n"
    text = fixed(body=body)
    assert is_mended(text)
    assert SOFTMAX in text


def test_a_deletion_counts_characters_and_not_bytes() -> None:
    text = fixed(log='torch.log(probs) * len("é長")')
    assert is_mended(text)
    assert SOFTMAX not in text
