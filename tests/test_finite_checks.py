"""Conditions that ask whether something is finite: about what, catching what, and which answer is bad."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from nanlint.analysis.project.whole import WholeProject
from nanlint.analysis.training_loop.checks.finite_checks import check_of
from nanlint.analysis.training_loop.code import Code

if TYPE_CHECKING:
    from nanlint.analysis.training_loop.checks.finite_checks import Check

PREAMBLE = "import math\nimport torch\n"


def check(condition: str, before: str = "pass", helpers: str = "") -> Check | None:
    text = f"{PREAMBLE}{helpers}def f(loss, grad_norm, model, x, debug, p):\n    {before}\n    assert {condition}\n"
    file = WholeProject("", is_project=False).file("train.py", text)
    assert file is not None
    code = Code(file.module.functions["f"], file.source, file.graph)
    (asked,) = (node.test for node in code.nodes if isinstance(node, ast.Assert))
    return check_of(asked, code)


@pytest.mark.parametrize(
    ("condition", "subject", "catches", "bad_when"),
    [
        pytest.param("torch.isnan(loss)", "loss", {"nan"}, True, id="isnan"),
        pytest.param("loss.isinf().any()", "loss", {"inf"}, True, id="isinf"),
        pytest.param("not torch.isfinite(loss).all()", "loss", {"nan", "inf"}, True, id="not isfinite"),
        pytest.param("math.isfinite(loss.item())", "loss", {"nan", "inf"}, False, id="isfinite of a number"),
        pytest.param("torch.isnan(loss) or torch.isinf(loss)", "loss", {"nan", "inf"}, True, id="or"),
        pytest.param("torch.isnan(loss) | torch.isinf(loss)", "loss", {"nan", "inf"}, True, id="or of tensors"),
        pytest.param("torch.isnan(loss).sum() > 0", "loss", {"nan"}, True, id="counted"),
        pytest.param("torch.isnan(loss).sum() == 0", "loss", {"nan"}, False, id="counted as none"),
        pytest.param("loss != loss", "loss", {"nan"}, True, id="differs from itself"),
        pytest.param("grad_norm > 1e4", "norm", {"inf"}, True, id="a threshold"),
        pytest.param("grad_norm < 1e4", "norm", {"nan", "inf"}, False, id="a threshold, the other way round"),
        pytest.param("torch.isnan(p.grad).any()", "gradients", {"nan"}, True, id="a gradient"),
        pytest.param(
            "any(torch.isnan(q).any() for q in model.parameters())", "parameters", {"nan"}, True, id="weights"
        ),
        pytest.param("torch.isnan(x).any()", "other", {"nan"}, True, id="an input"),
        pytest.param("torch.isnan(val_loss)", "other", {"nan"}, True, id="a validation loss"),
        pytest.param("has_nan_or_inf(loss)", "loss", {"nan", "inf"}, True, id="a helper by its name"),
        pytest.param("is_finite(loss)", "loss", {"nan", "inf"}, False, id="a helper for the good"),
    ],
)
def test_a_check_says_what_it_asks_about_what_it_catches_and_which_answer_is_bad(
    condition: str, subject: str, catches: set[str], *, bad_when: bool
) -> None:
    found = check(condition)
    assert found is not None
    assert (found.subject, set(found.catches), found.bad_when, found.is_sure) == (subject, catches, bad_when, True)


@pytest.mark.parametrize(
    ("before", "condition"),
    [
        pytest.param("ok = torch.isfinite(loss)", "not ok", id="a flag"),
        pytest.param("value = loss.detach().item()", "math.isnan(value)", id="a number read from it"),
        pytest.param("bad = torch.isnan(loss) or torch.isinf(loss)", "bad", id="a combined flag"),
        pytest.param(
            "total = model(x)\n    total.backward()", "torch.isnan(total)", id="what the backward starts from"
        ),
    ],
)
def test_a_check_is_known_through_names(before: str, condition: str) -> None:
    found = check(condition, before)
    assert found is not None
    assert (found.subject, found.bad_when) == ("loss", True)


def test_the_norm_of_a_clip_is_a_norm_whatever_its_name() -> None:
    found = check("torch.isnan(total)", "total = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)")
    assert found is not None
    assert found.subject == "norm"


@pytest.mark.parametrize(
    ("condition", "is_sure"),
    [
        pytest.param("debug and torch.isnan(loss)", False, id="only when debugging"),
        pytest.param("p.grad is not None and torch.isnan(p.grad).any()", True, id="only if there is one"),
        pytest.param("debug or torch.isnan(loss)", True, id="and for other reasons"),
        pytest.param("torch.isfinite(loss) and torch.isfinite(grad_norm)", True, id="both"),
    ],
)
def test_a_check_that_can_be_switched_off_is_not_sure(condition: str, *, is_sure: bool) -> None:
    found = check(condition)
    assert found is not None
    assert found.is_sure is is_sure


HELPERS = """
def healthy(value):
    return bool(torch.isfinite(value).all())

def sane(net):
    return not any(torch.isnan(p.grad).any() for p in net.parameters())

def small(value):
    return value < 3
"""


@pytest.mark.parametrize(
    ("condition", "subject", "thing", "bad_when"),
    [
        pytest.param("healthy(loss)", "loss", "loss", False, id="about its parameter"),
        pytest.param("not healthy(value=grad_norm)", "norm", "grad_norm", True, id="by name, denied"),
        pytest.param("sane(model)", "gradients", "p.grad", False, id="about gradients"),
    ],
)
def test_a_helper_asks_what_its_body_asks(condition: str, subject: str, thing: str, *, bad_when: bool) -> None:
    found = check(condition, helpers=HELPERS)
    assert found is not None
    assert (found.subject, found.thing, found.bad_when) == (subject, thing, bad_when)
    assert check("small(loss)", helpers=HELPERS) is None


@pytest.mark.parametrize("condition", ["loss > 3", "loss < best", "x is None", "debug", "len(x) == 0"])
def test_other_conditions_are_no_checks(condition: str) -> None:
    assert check(condition) is None
