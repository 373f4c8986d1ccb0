"""What a fix leaves behind is deleted if nothing reads it, and only then."""

from __future__ import annotations

import ast

import pytest

from nanlint.engine.fixing.apply_fixes import fix_text
from nanlint.model import Applicability
from nanlint.source.syntax.leftovers import without_leftovers
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


TWO = """\
import torch


def loss(logits, target):
    {before}
    hit = -(target * torch.log(p))
    miss = -((1 - target) * torch.log(1 - p))
    return (hit + miss).sum(){after}
"""


def test_what_two_fixes_together_leave_unread_is_deleted() -> None:
    text = fixed("p = torch.sigmoid(logits)", body=TWO)
    assert is_mended(text)
    assert "sigmoid(logits)" not in text.replace("logsigmoid(logits)", "")


def test_what_leads_to_it_is_deleted_with_it() -> None:
    text = fixed("scaled = logits * 2\n    z = scaled + 1\n    p = torch.sigmoid(z.view(-1))", body=TWO)
    assert "scaled" in text
    assert "p = " not in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("p = torch.sigmoid(logits)", " + p.mean()", id="something else reads it"),
        pytest.param("p = torch.sigmoid(logits)  # in (0, 1)", "", id="it has a comment"),
        pytest.param("print(1); p = torch.sigmoid(logits)", "", id="it shares its line"),
        pytest.param("global p\n    p = torch.sigmoid(logits)", "", id="others can see it"),
        pytest.param("p = torch.sigmoid(logits)", " + len(locals())", id="it can be read without its name"),
    ],
)
def test_what_two_fixes_leave_stays_where_one_fix_would_let_it_stay(before: str, after: str) -> None:
    text = fixed(before, after=after, body=TWO)
    assert is_mended(text)
    assert "p = torch.sigmoid(logits)" in text


def test_what_was_never_read_is_none_of_ours() -> None:
    text = fixed("unused = logits + 1\n    p = torch.sigmoid(logits)", body=TWO)
    assert "unused = logits + 1" in text


def test_a_function_of_the_same_name_is_told_apart() -> None:
    body = TWO + "\n\ndef loss(p, x):\n    q = p + 1\n    return x\n"
    assert "q = p + 1" in fixed("p = torch.sigmoid(logits)", body=body)


def test_a_text_that_is_no_python_stays_as_it_is() -> None:
    assert without_leftovers("a: 1\n  b", "a: 2\n  b") == "a: 2\n  b"
