"""The comparison of real functions before and after a fix tells equal from moved, and what it cannot run."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch is not installed, so nothing can be run")

from benchmarks.fixed_functions import EQUAL, MOVED, RAISES, changed_functions, compare

MODULE = """\
import torch
import a_package_that_is_not_there
from . import beside

SCALE = 2.0


def scaled(x, dim: int, eps: float):
    return SCALE * {log} + eps


class Loss:
    def __init__(self, size):
        self.temperature = size

    def half(self, x):
        return x / 2

    def forward(self, x, target):
        return self.half({log}) / self.temperature
"""
OLD = MODULE.format(log="torch.log(torch.softmax(x, -1))")
NEW = MODULE.format(log="torch.log_softmax(x, -1)")


def test_what_changed_is_named_with_its_class() -> None:
    assert sorted(changed_functions(OLD, NEW)) == [("", "scaled"), ("Loss", "forward")]


@pytest.mark.parametrize(("owner", "name"), [("", "scaled"), ("Loss", "forward")], ids=["function", "method"])
@pytest.mark.parametrize(
    ("log", "verdict"),
    [("torch.log_softmax(x, -1)", EQUAL), ("torch.log_softmax(x, -1) + 0.1", MOVED), ("torch.no_such(x)", RAISES)],
)
def test_results_are_compared(owner: str, name: str, log: str, verdict: str) -> None:
    assert compare(OLD, MODULE.format(log=log), owner, name) == verdict


def test_what_needs_a_missing_package_is_not_judged() -> None:
    old, new = (MODULE.format(log=f"beside.f(x) * {number}") for number in (1, 2))
    assert compare(old, new, "", "scaled") == ""


def test_a_gradient_that_differs_counts() -> None:
    assert compare(OLD, MODULE.format(log="torch.log_softmax(x.detach(), -1) + 0 * x"), "", "scaled") == MOVED
