"""The same seed gives the same witness however fast the machine is, and a fix is verified on more than the witness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")

from nanlint.model import Applicability, Edit, Fix, Span
from tests.confirm_projects import answer_about, finding_at, verdicts_on, written

if TYPE_CHECKING:
    from pathlib import Path

SLOW = """
import time

import torch


def ratio(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    time.sleep({pause})
    kept = (values * mask).sum((1, 2))
    return kept.exp().log().mean() / (mask.sum() - 1)  # here
"""
QUOTIENT = """
import torch


def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x / y  # here
"""
TWO_LINES = """
import torch


def f(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    share = x / mask.sum()  # here
    return share + x.mean() / mask.sum()
"""


def test_a_slow_machine_finds_the_same_witness(tmp_path: Path) -> None:
    answers = [
        answer_about(written(tmp_path / str(pause), SLOW.format(pause=pause)), timeout=timeout)
        for pause, timeout in ((0, 60.0), (0.03, 40.0))
    ]
    first, second = ((one["kind"], one["case"], one["evaluations"]) for one in answers)
    assert first == second


def _fixed_by(path: Path, old: str, new: str) -> bool | None:
    """Whether the verdict says that this fix mends the marked line."""
    finding = finding_at(path)
    line = path.read_text("utf-8").splitlines()[finding.span.line - 1]
    start = line.index(old) + 1
    edit = Edit(Span(finding.span.line, start, finding.span.line, start + len(old)), new)
    fix = Fix("mend it", Applicability.UNSAFE, (edit,))
    return verdicts_on([finding_at(path, fix=fix)])[0].fix_verified


def test_a_fix_is_tried_on_the_values_around_the_witness(tmp_path: Path) -> None:
    path = written(tmp_path, QUOTIENT)
    fixed = [_fixed_by(path, "x / y", new) for new in ("x / (y + 1.0)", "x / y.abs().clamp_min(1e-6)")]
    assert fixed == [False, True]


def test_a_fix_is_not_judged_by_a_witness_that_breaks_another_line(tmp_path: Path) -> None:
    assert _fixed_by(written(tmp_path, TWO_LINES), "mask.sum()", "mask.sum().clamp(min=1)") is None
