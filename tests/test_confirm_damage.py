"""Where damage is looked for: results, what an object keeps, what was handed in, weights behind a step, choices made of NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")

from tests.confirm_projects import answer_about, written

if TYPE_CHECKING:
    from pathlib import Path

OF_AN_OBJECT = """
import torch


class Meter:
    def __init__(self) -> None:
        self.average = 0.0

    def update(self, values: torch.Tensor, mask: torch.Tensor) -> None:
        self.average = (values * mask).sum() / mask.sum()  # here
"""
OF_A_DICT = """
import torch


def collect(totals: dict[str, torch.Tensor], mask: torch.Tensor) -> None:
    totals["loss"] = totals["loss"] / mask.sum()  # here
"""
IN_PLACE = """
import torch


def update_(running: torch.Tensor, mask: torch.Tensor) -> None:
    with torch.no_grad():
        running.div_(mask.sum())  # here
"""
CHOSEN = """
import torch


def best(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    shares = (scores * mask) / mask.sum()  # here
    return shares.argmax(-1)
"""
CHOSEN_SAFELY = """
import torch


def best(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    shares = (scores * mask) / mask.sum()  # here
    return torch.nan_to_num(shares).argmax(-1)
"""
STEPPED = """
import torch


class Learner:
    def __init__(self) -> None:
        self.model = torch.nn.Linear(3, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def learn(self, x: torch.Tensor, mask: torch.Tensor) -> None:
        loss = (self.model(x).squeeze(-1) * mask).sum() / mask.sum()  # here
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""


@pytest.mark.parametrize(
    "text",
    [OF_AN_OBJECT, OF_A_DICT, IN_PLACE, STEPPED],
    ids=["an attribute", "a dictionary that was given", "a tensor that was given", "weights after a step"],
)
def test_damage_is_found_where_nothing_is_returned(tmp_path: Path, text: str) -> None:
    assert answer_about(written(tmp_path, text))["kind"] == "confirmed"


def test_a_choice_among_nan_is_damage(tmp_path: Path) -> None:
    answer = answer_about(written(tmp_path, CHOSEN))
    assert (answer["kind"], answer["hit"]["of"]) == ("confirmed", "argmax")


def test_a_nan_that_is_replaced_before_the_choice_is_none(tmp_path: Path) -> None:
    assert answer_about(written(tmp_path, CHOSEN_SAFELY))["kind"] == "not-reproduced"
