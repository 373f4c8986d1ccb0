"""Whole scripts are run for a few steps, with a fault from outside: twelve projects, bad and corrected."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no script can be run")

from nanlint.model.verdict import VerdictKind
from tests.confirm_projects import finding_at, verdicts_on, written
from tests.loop_projects.__main__ import HERE, SHOWN, in_the_twin, loop_findings

if TYPE_CHECKING:
    from pathlib import Path

    from nanlint.model import Finding
    from nanlint.model.verdict import Verdict

pytestmark = pytest.mark.slow
PROJECTS = sorted(one for one in HERE.iterdir() if (one / "bad").is_dir())
TRAINER = """
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    lr: float = 0.1
    epochs: int = 50


class Trainer:
    def __init__(self, config: Config):
        self.model = nn.Linear(4, 1)
        self.loader = [torch.randn(2, 4) for _ in range(3)]
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=config.lr)
        self.epochs = config.epochs

    def fit(self):
        for epoch in range(self.epochs):
            for batch in self.loader:
                self.step(batch)

    def step(self, batch):
        loss = self.model(batch).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()  # here
"""


@cache
def found() -> tuple[Finding, ...]:
    return tuple(finding for project in PROJECTS for finding in loop_findings(project))


@cache
def verdicts() -> tuple[Verdict, ...]:
    return tuple(verdicts_on(found()))


def test_four_of_five_loop_findings_get_a_verdict() -> None:
    told = [verdict for verdict in verdicts() if verdict.kind.value in SHOWN]
    assert len(told) >= 0.8 * len(found())


def test_a_corrected_loop_is_never_confirmed() -> None:
    twins = [twin for finding in found() if (twin := in_the_twin(finding)) is not None]
    told = zip(twins, verdicts_on(twins), strict=True)
    assert [(twin.path, twin.code) for twin, verdict in told if verdict.kind is VerdictKind.CONFIRMED] == []


def test_what_was_made_up_is_told() -> None:
    reasons = {
        (finding.path.split("/")[-3], finding.code): one.reason
        for finding, one in zip(found(), verdicts(), strict=True)
    }
    assert "made up for this run: `train.bin`" in (reasons["03_gpt_script", "NAN402"] or "")
    assert "stand-ins for accelerate, datasets, transformers" in (reasons["04_accelerate", "NAN404"] or "")


def test_a_trainer_class_without_a_script_is_made_and_its_loop_called(tmp_path: Path) -> None:
    verdict = verdicts_on([finding_at(written(tmp_path, TRAINER), code="NAN411")])[0]
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")


HOOKED = """
import torch


def train(engine, stream, schedule_of):
    for number, item in enumerate(stream):
        loss = engine["net"](item["codes"]).pow(2).mean()
        engine["solver"].zero_grad()
        loss.backward()
        engine["solver"].step()  # here
        schedule_of(number)
"""
HOOK = """

def nanlint_inputs():
    net = torch.nn.Linear(3, 1)
    engine = {"net": net, "solver": torch.optim.SGD(net.parameters(), lr=0.1)}
    yield train, dict(engine=engine, stream=[{"codes": torch.randn(2, 3)}] * 4, schedule_of=print)
"""


def test_the_hook_that_a_loop_asks_for_makes_it_run(tmp_path: Path) -> None:
    without, hooked = (
        verdicts_on([finding_at(written(tmp_path / name, text), code="NAN411")])[0]
        for name, text in (("without", HOOKED), ("hooked", HOOKED + HOOK))
    )
    assert "def nanlint_inputs(): yield train, dict(model=..., optimizer=..., loader=...)" in (without.reason or "")
    assert (without.kind, hooked.kind) == (VerdictKind.NOT_RUNNABLE, VerdictKind.CONFIRMED)
