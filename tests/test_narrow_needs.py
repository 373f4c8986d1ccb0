"""Narrow needs: what a rule judges alone, told by the form of an operation; and that what is dropped for it would not have been told."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from benchmarks.gate import compare_findings
from nanlint.engine.interests import carrying_words
from nanlint.settings import Settings
from nanlint.source.gate import Gate, Interest
from nanlint.source.outline import outline

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


def is_kept(body: str, operation: str, **asked: Any) -> bool:
    """Whether a function of x, y and mask is kept for its body."""
    head = (
        "import torch\nfrom torch import nn\nclass A:\n  def __init__(self): self.gain = nn.Parameter(torch.ones(1))\n"
    )
    code = f"{head}  def f(self, x: Tensor, y: Tensor, mask: Tensor, n: float):\n    {body}"
    interest = Interest(frozenset({operation}), **asked)
    return "A.f" in Gate([interest], carrying_words()).chunks(outline(code))


@pytest.mark.parametrize(
    ("form", "operation", "body", "has_form"),
    [
        ("<of variance>", "sqrt", "return torch.sqrt(x.pow(2).mean() - x.mean().pow(2))", True),
        ("<of variance>", "sqrt", "v = x.mean() - y * y\n    return (v.view(-1) + 1e-6).sqrt()", True),
        ("<of variance>", "sqrt", "m = x.mean()\n    m -= y ** 2\n    return m.sqrt()", True),
        ("<of variance>", "sqrt", "return torch.sqrt(1 - x ** 2)", False),
        ("<of variance>", "sqrt", "return torch.sqrt(x.mean() - y)", False),
        ("<huge constant>", "masked_fill", "return x.masked_fill(mask, -1 * 10 ** 9)", True),
        ("<huge constant>", "masked_fill", "return (x * 1e9).masked_fill(mask, 0)", False),
        ("<wide limit>", "masked_fill", "return x.masked_fill(mask, torch.finfo(torch.float32).min)", True),
        (
            "<wide limit>",
            "masked_fill",
            "y = x.float()\n    return x.masked_fill(mask, torch.finfo(y.dtype).min)",
            True,
        ),
        ("<wide limit>", "masked_fill", "return x.float().masked_fill(mask, torch.finfo(y.dtype).min)", False),
        ("<wide limit>", "masked_fill", "return x.masked_fill(mask, -torch.finfo(torch.float32).max)", True),
        ("<wide limit>", "masked_fill", "i = torch.finfo(torch.float32)\n    return x.masked_fill(mask, i.min)", True),
        (
            "<wide limit>",
            "masked_fill",
            "x = x - y\n    return x.masked_fill(mask, torch.finfo(torch.float32).max)",
            False,
        ),
        ("<cast and huge>", "*", "low = -1e9\n    return (1 - mask.to(x)) * low", True),
        ("<cast and huge>", "*", "return (1 - mask) * -1e9", False),
        ("<cast and huge>", "*", "return (1 - mask.to(x)) * y", False),
        ("<infinite constant>", "*", "low = float('-inf')\n    return mask * -low", True),
        ("<infinite constant>", "*", "y = x.masked_fill(mask, float('-inf')).exp()\n    return mask * y", False),
        ("<may be learned>", "/", "return x / self.gain.view(1)", True),
        ("<may be learned>", "/", "return x / self.inherited", True),
        ("<may be learned>", "/", "return x / n", False),
        ("<may be learned>", "/", "t = 2.0 * n\n    return x / t", False),
        ("<of tested>", "exp", "z = x + 1\n    return z.exp() if x < 50 else y", True),
        ("<of tested>", "exp", "return x.exp() if n < 50 else y", False),
        ("<amplified>", "exp", "z = (x / 0.01).view(-1)\n    return z.exp()", True),
        ("<amplified>", "exp", "return torch.exp(x.div(self.eps)[0])", True),
        ("<amplified>", "exp", "return torch.exp(self.g(x))\n  def g(self, x, t=0.01): return x / t", True),
        ("<amplified>", "exp", "return torch.exp(0.01 * x / n)", False),
        ("<amplified>", "exp", "return torch.exp(x * (y / 0.01))", False),
        ("<of empty>", "+", "return x + torch.empty(3)[0].to(y)", True),
        ("<of empty>", "+", "return x + torch.empty(3).uniform_()", False),
    ],
)
def test_an_operation_has_a_form(form: str, operation: str, body: str, has_form: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body, operation, form=form) is has_form


@pytest.mark.parametrize(
    ("body", "is_twice"),
    [
        ("a, b = x.masked_fill(mask, LOW), torch.full((2,), LOW).triu(1)\n    return a[None] + b", True),
        ("a, b = (1 - mask) * LOW, torch.where(mask, 0.0, LOW)\n    return a.view(-1) + b", True),
        ("return self.f(x) + x.masked_fill(mask, LOW)", False),
        ("return x + x.masked_fill(mask, LOW)", False),
    ],
)
def test_two_masks_of_the_least_number_are_added(body: str, is_twice: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body.replace("LOW", "torch.finfo(x.dtype).min"), "+", form="<least twice>") is is_twice


@pytest.mark.parametrize(
    ("body", "is_uncounted"),
    [
        ("return x / mask.sum()", True),
        ("m = mask.view(-1).float()\n    return x / m.sum(0)[None]", True),
        ("c = 0.0\n    for m in mask:\n        c = c + m.sum()\n    return x / c", True),
        ("if mask is None:\n        mask = torch.ones((2, 3))\n    return x / mask.sum()", True),
        ("return x / (y > 0).sum()", False),
        ("m = y > 0\n    mask = m.float()\n    return x / mask.sum()", False),
        ("mask[y > 0] = 1\n    return x / mask.sum()", False),
        ("mask *= y > 0\n    return x / mask.sum()", False),
        ("return x / loss_mask.sum()", False),
        ("return x / adj.sum(1)", False),
        ("return x / y.abs().sum()", False),
        ("return x / mask.sum() if mask > 0 else x", False),
        ("s = torch.sigmoid(x @ y).gather(-1, mask)\n    return s / s.sum(-1)", True),
        ("s, _ = torch.topk(torch.matmul(x, y), 2)\n    return x / s.sum(-1)", True),
        ("s = torch.gather(y > 0, -1, mask)\n    return x / s.sum(-1)", False),
        ("s = torch.sigmoid(x) * (y > 0)\n    return x / s.sum(-1)", False),
        ("return x / torch.sigmoid(y > 0).sum(-1)", False),
        ("return x / y.topk(3).values.abs().sum(-1)", False),
        ("s = torch.sigmoid(x)\n    s = s / s.sum(-1)\n    s *= 0.5\n    return s", True),
        ("s = mask.sum() if mask is not None else x.shape[0]\n    return x / s", True),
        ("m = mask if n > 0 else y\n    return x / m.sum()", False),
        ("x[mask] = y[mask]\n    return x / mask.sum()", True),
    ],
)
def test_what_nothing_has_tested_counts_nothing(body: str, is_uncounted: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body, "/", but=frozenset({"<uncounted>"})) is not is_uncounted


@pytest.mark.parametrize(
    ("body", "is_learned"),
    [
        ("return x / image_embeds.norm(dim=-1)", True),
        ("image_embeds = image_embeds * mask.unsqueeze(-1)\n    return x / image_embeds.norm(dim=-1)", True),
        ("embeds = x * (y != 0).unsqueeze(-1)\n    return x / embeds.norm(dim=-1)", False),
        ("weights = nn.functional.one_hot(y)\n    return x / weights.sum(0)", False),
        ("w = y.grad.view(-1)\n    return x / w.norm()", False),
        ("return x / loss_mask.sum()", False),
        ("return x / image_weights.amax()", False),
    ],
)
def test_what_a_model_makes_is_no_mask_and_no_gradient(body: str, is_learned: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body, "/", but=frozenset({"<learned>"})) is not is_learned


@pytest.mark.parametrize(
    ("body", "is_asked_for"),
    [
        ("k = (y > 0).sum()\n    return x / k if k > 0 else x", True),
        ("k = (y > 0).sum()\n    return torch.where(k == 0, x, x / k)", True),
        ("k = (y > 0).sum()\n    return x / k if k > 1 else x", False),
        ("k = (y > 0).sum()\n    return x / k if mask > 0 else x", False),
        ("k = (y > 0).sum()\n    ok = k > 0\n    k = mask.sum()\n    return x / k", False),
        ("k = (y > 0).sum()\n    ok = k > 0\n    k -= 1\n    return x / k", False),
        ("ok = k > 0\n    k = (y > 0).sum()\n    return x / k", False),
        ("if x:\n        k = (y > 0).sum()\n        ok = k > 0\n    return x / k", False),
        ("return x / n if n > 0 else x", False),
    ],
)
def test_a_denominator_is_compared_with_0(body: str, is_asked_for: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body, "/", but=frozenset({"<asked for>"})) is not is_asked_for


@pytest.mark.parametrize(
    ("body", "is_made"),
    [
        ("return x / torch.std(y)", True),
        ("spread = torch.std\n    return x / spread(y)", True),
        ("return x / self.apply(torch.std, y)", True),
        ("return x / std(y)", True),
        ("std = n * 2\n    return x / std", False),
        ("return x / self.std", False),
    ],
)
def test_a_variable_by_the_name_of_an_operation_is_none(body: str, is_made: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body, "/", made_by=frozenset({"std"})) is is_made


def test_a_parameter_is_made_by_nothing_that_it_starts_from() -> None:
    code = "from torch.nn import Parameter\nfrom torch import exp\ngain = MAKE(exp(a))\ndef f(x): return x / gain"
    for make, is_made in (("Parameter", False), ("other", True)):
        gate = Gate([Interest(frozenset({"/"}), made_by=frozenset({"exp"}))])
        assert gate.chunks(outline(code.replace("MAKE", make))) == (["f"] if is_made else [])


@pytest.mark.parametrize(
    ("form", "operation", "body", "has_form"),
    [
        ("<number added>", "/", "return x / (y.var() + 1e-6) ** 0.5", True),
        ("<number added>", "/", "return x / (y.var() + 1e-6) ** n", False),
        ("<number added>", "/", "return x / torch.sqrt(y.var() + self.inherited_eps)", True),
        ("<floored>", "/", "return x / torch.sqrt(y.var() + self.inherited_eps)", False),
        ("<floored>", "/", "return x / ((y + 1e-6).sqrt() if n > 0 else y.clamp(min=1e-6))", False),
        ("<not learned>", "Parameter", "return nn.Parameter(x, requires_grad=False)", True),
        ("<not learned>", "Parameter", "return nn.Parameter(x, requires_grad=mask)", False),
        ("<wide scores>", "masked_fill", "return x.float().masked_fill(mask, -1e9)", True),
        ("<wide scores>", "masked_fill", "return x.masked_fill(mask.float(), -1e9)", False),
        ("<wide scores>", "where", "return torch.where(mask, 0.0, -1e9)", True),
        ("<wide scores>", "where", "return torch.where(mask, x, -1e9)", False),
        ("<wide scores>", "where", "return x.where(mask, -1e9)", False),
    ],
)
def test_an_operation_does_not_count_in_a_form(form: str, operation: str, body: str, has_form: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body, operation, but=frozenset({form})) is not has_form


def test_an_eps_that_is_given_is_seen() -> None:
    assert not is_kept("return torch.logit(x, eps=1e-6)", "logit", but=frozenset({"<eps given>"}))
    assert is_kept("return torch.logit(x)", "logit", but=frozenset({"<eps given>"}))


def test_what_is_not_recorded_is_known_by_decorators_and_names() -> None:
    code = """
        import torch
        from torch import no_grad as off
        @torch.no_grad()
        def a(x): return x.exp()
        @off
        def b(x): return x.exp()
        @torch.inference_mode()
        def c(x):
            with torch.enable_grad(): return x.exp()
        @torch.inference_mode(False)
        def d(x): return x.exp()
        def evaluate(x): return x.exp()
        def e(x): return x.exp()
        @torch.no_grad()
        def f(x=torch.exp(y)): return x
        @torch.no_grad
        def g(x): return [each.exp() for each in x]
        """
    interest = Interest(frozenset({"exp"}), is_recorded=True)
    assert Gate([interest]).chunks(outline(dedent(code))) == ["c", "d", "e", "f"]
    shadowed = "import torch\ntry: torch = None\nexcept OSError: pass\n@torch.no_grad()\ndef f(x): return x.exp()"
    assert Gate([interest]).chunks(outline(shadowed)) == ["f"]


@pytest.mark.parametrize(
    ("body", "is_replaced"),
    [
        ("if torch.isnan(loss): loss = 0.0", True),
        ("bad = torch.isnan(loss).any()\n    worse = not bad\n    if worse: loss = -1.0", True),
        ("zero = 0.0\n    if torch.isinf(loss): loss = zero", True),
        ("if torch.isnan(loss): limit = torch.finfo(x.dtype).max - 1000", False),
        ("if torch.isnan(loss): loss = torch.clamp(loss, max=3)", False),
        ("if x: loss = 0.0\n    return torch.isnan(loss)", False),
    ],
)
def test_a_number_is_put_in_the_place_of_a_loss(body: str, is_replaced: bool) -> None:  # noqa: FBT001 - a table of cases
    operation = "isinf" if "isinf" in body else "isnan"
    assert is_kept(body, operation, where="replaces") is is_replaced


@pytest.mark.slow
def test_nothing_that_is_shown_by_default_is_dropped_from_the_fixtures() -> None:
    for path in sorted(FIXTURES.glob("*/*.py")):
        _, differences = compare_findings(path.read_text(encoding="utf-8"), str(path), Settings())
        assert differences == []


@pytest.mark.parametrize("arguments", ["x, y, ignore_index=-100", "x, y, None, None, self.ignore_index", "*a", "**a"])
def test_a_mark_is_given_by_name_by_place_or_unseen(arguments: str) -> None:
    assert is_kept(f"return F.cross_entropy({arguments})", "cross_entropy", form="<mark given>")
    assert not is_kept("return F.cross_entropy(x, y)", "cross_entropy", form="<mark given>")
