"""A verdict is about the failure that the finding names: its operation, in its way, on values and shapes that suit the code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")

from nanlint.confirm.worker.bench import Bench
from nanlint.confirm.worker.fit import watched
from nanlint.confirm.worker.subject import subjects_of
from nanlint.engine.rules.rulebook import rulebook
from tests.confirm_projects import answer_about, finding_at, imported, verdicts_on, written

if TYPE_CHECKING:
    from pathlib import Path

LARGE = "large values in float16"
RATIO = """
import torch


def ratio(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (values * mask).sum() / mask.sum().clamp(max=1000)  # here
"""
SQUARES = """
import torch


def energy(values: torch.Tensor) -> torch.Tensor:
    return values.pow(2).sum()  # here
"""
WIDENED = """
import torch


def energy(values: torch.Tensor) -> torch.Tensor:
    return 1 / values.float().pow(2).sum()  # here
"""
BOXES = """
import torch


def share(boxes: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    size = boxes[:, 2:] - boxes[:, :2]
    area = size.abs().prod(-1) + 1.0
    gap = other[:, 3:4] - other[:, 2:3]
    return other.sum() / (area.sum() * (gap.numel() + 0.0))  # here
"""
CHANNELS = """
import torch


class ChannelNorm(torch.nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        spread = (x - x.mean(1, keepdim=True)).pow(2).mean(1, keepdim=True)
        return self.weight[:, None, None] * x / spread  # here
"""
BEHIND_A_MASK = """
import torch


class Mean(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(()))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        if mask is not None:
            return self.weight * (x * mask).sum() / mask.sum()  # here
        return x * self.weight
"""


def test_a_division_by_0_is_no_overflow(tmp_path: Path) -> None:
    path = written(tmp_path, RATIO)
    answer = answer_about(path, operation="torch.sum", operand="values * mask", zone=LARGE, dtypes=("float16",))
    assert answer.get("hit", {}).get("operation") in {None, "sum"}


def test_a_sum_that_overflows_in_float16_does(tmp_path: Path) -> None:
    answer = answer_about(written(tmp_path, SQUARES), operation="torch.pow", zone=LARGE, dtypes=("float16",))
    assert (answer["kind"], answer["hit"]["operation"], answer["hit"]["result"]) == ("confirmed", "pow", "inf")


def test_what_is_widened_first_does_not_overflow_in_float16(tmp_path: Path) -> None:
    answer = answer_about(written(tmp_path, WIDENED), operation="torch.pow", zone=LARGE, dtypes=("float16",))
    assert answer["kind"] == "not-reproduced"


def test_a_box_has_the_columns_that_the_code_takes_it_apart_into(tmp_path: Path) -> None:
    answer = answer_about(written(tmp_path, BOXES))
    shapes = {name: spec["shape"][-1] for name, spec in answer["case"]["call"].items()}
    assert shapes == {"boxes": 4, "other": 4}


def test_an_input_of_fewer_dimensions_than_the_weights_it_meets_is_no_witness(tmp_path: Path) -> None:
    answer = answer_about(written(tmp_path, CHANNELS), operand="spread")
    assert len(answer["case"]["call"]["x"]["shape"]) >= 3


def test_the_lines_of_the_first_forward_are_not_the_constructors(tmp_path: Path) -> None:
    path = written(tmp_path, BEHIND_A_MASK)
    subject = subjects_of(imported(path), [["class", "Mean"], ["def", "forward"]])[0]
    bench = Bench(subject, str(path))
    target = {"path": str(path), "first": 11, "last": 11}
    tensor = {"kind": "tensor", "shape": [2, 3], "domain": "real"}
    case = {"ctor": {}, "call": {"x": tensor, "mask": tensor}, "seed": 0, "dtype": "float32"}
    reached = [watched(bench, one, target)[1].reached for one in (case, {**case, "call": {"x": tensor}})]
    assert reached == [True, False]


WEIGHTED = """
import torch


def weighted(gt: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    above = (gt * gt).sum(1, keepdim=True)  # here
    return above / (above + (noise * noise).sum(1, keepdim=True))
"""
PROJECTED = """
import torch


def ratio(estimate: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    energy = (target ** 2).sum(1, keepdim=True) + 1e-8  # here
    projected = (estimate * target).sum(1, keepdim=True) * target / energy
    return (projected ** 2).sum(1) / ((estimate - projected) ** 2).sum(1)
"""
COSINE = """
import torch


def cosine(a: torch.Tensor, b: torch.Tensor, eps: float = 1e-10) -> torch.Tensor:
    lengths = torch.sqrt(eps + (a * a).sum(1)) * torch.sqrt(eps + (b * b).sum(1))  # here
    return (a * b).sum(1) / (lengths + eps)
"""


def test_an_overflow_that_the_rule_names_is_found_with_large_values(tmp_path: Path) -> None:
    path = written(tmp_path, WEIGHTED)
    told = finding_at(path, code="NAN207", operation="torch.sum", operand="gt * gt", zone=LARGE, dtypes=("float16",))
    reason = verdicts_on([told])[0].reason or ""
    assert "gt=[[0.0]]" not in reason, reason
    assert rulebook().rules["NAN207"].zone == LARGE


def test_an_eps_is_judged_by_the_division_that_it_guards_and_not_by_a_later_one(tmp_path: Path) -> None:
    answer = answer_about(written(tmp_path, PROJECTED), dtypes=("float16",))
    assert (answer["kind"], answer["hit"]["line"]) == ("confirmed", 6), answer


def test_a_norm_of_zeros_is_no_sum_that_overflows(tmp_path: Path) -> None:
    path = written(tmp_path, COSINE)
    answer = answer_about(path, operation="torch.sqrt", operand="eps + (a * a).sum(1)", dtypes=("float16",))
    assert (answer["kind"], answer["hit"]["operation"], answer["hit"]["line"]) == ("confirmed", "div", 6), answer
