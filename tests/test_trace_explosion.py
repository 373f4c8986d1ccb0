"""Training that diverges is called an explosion, before it ends if there is time; training that does not is left alone."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so nothing can be traced")

from nanlint.trace.explosion import Warnings, growth
from nanlint.trace.readings import Reading
from tests.tracing import trace, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SCRIPT = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
if DEEP:
    model = nn.Sequential(*[nn.Linear(16, 16, bias=False) for _ in range(12)], nn.Linear(16, 4))
    for parameter in model.parameters():
        parameter.data.mul_(4)
optimizer = OPTIMIZER
truth = torch.randn(16, 4)
for step in range(120):
    x = torch.randn(32, 16)
    loss = (model(x) - x @ truth).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    AFTER
"""


LINE_SEARCH = """
import torch

class Search(torch.optim.Optimizer):
    def step(self, closure):
        (weight,) = self.param_groups[0]["params"]
        start = weight.detach().clone()
        for factor in (1.0, 10.0, 100.0, 1e3, 1e4, 0.9):
            weight.data.copy_(start * factor)
            closure()

closures = 0
weight = torch.nn.Parameter(torch.ones(3))
optimizer = Search([weight], {})
for step in range(15):
    def closure():
        global closures
        closures += 1
        optimizer.zero_grad()
        loss = weight.pow(2).sum()
        loss.backward()
        return loss
    optimizer.step(closure)
print(closures, "closures")
"""


def script(folder: Path, optimizer: str, *, after: str = "pass", deep: bool = False) -> str:
    text = SCRIPT.replace("OPTIMIZER", f"torch.optim.{optimizer}").replace("AFTER", after).replace("DEEP", str(deep))
    return str(write(folder, "run.py", text))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("optimizer", "after", "deep"),
    [
        ("SGD(model.parameters(), lr=3.0)", "pass", False),
        ("SGD(model.parameters(), lr=0.5, momentum=0.95)", "pass", False),
        ("SGD(model.parameters(), lr=0.01)", "optimizer.param_groups[0]['lr'] *= 1.1", False),
        ("SGD(model.parameters(), lr=0.05)", "[each.data.mul_(1.2) for each in model.parameters()]", False),
        ("SGD(model.parameters(), lr=1e-3)", "pass", True),
    ],
    ids=["rate", "momentum", "growing rate", "growing weights", "deep without norms"],
)
def test_a_run_that_diverges_is_called_an_explosion(optimizer: str, after: str, deep: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a parameter of the test
    traced = trace(tmp_path, script(tmp_path, optimizer, after=after, deep=deep))
    assert traced.found is not None
    assert (traced.found.is_explosion, "explosion: training diverged" in traced.err) == (True, True), traced.err


@pytest.mark.slow
def test_growth_is_warned_of_while_the_run_goes_on(tmp_path: Path) -> None:
    growing = script(tmp_path, "SGD(model.parameters(), lr=0.5, momentum=0.95)")
    first = trace(tmp_path, growing).err.splitlines()[0]
    assert first.startswith("nanlint: warning: step 7: the gradient norm has grown")


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["SGD(model.parameters(), lr=0.05)", "AdamW(model.parameters(), lr=3e-2)"])
def test_a_clean_run_is_left_alone(optimizer: str, tmp_path: Path) -> None:
    assert trace(tmp_path, script(tmp_path, optimizer)).err == ""


@pytest.mark.slow
def test_the_far_points_of_a_line_search_are_no_growth(tmp_path: Path) -> None:
    traced = trace(tmp_path, str(write(tmp_path, "search.py", LINE_SEARCH)))
    assert (traced.code, traced.out, traced.err) == (0, "90 closures\n", "")


@pytest.mark.slow
def test_a_single_bad_batch_is_no_explosion(tmp_path: Path) -> None:
    text = SCRIPT.replace("torch.randn(32, 16)", "torch.randn(32, 16) * (1e25 if step == 30 else 1)")
    text = text.replace("OPTIMIZER", "torch.optim.SGD(model.parameters(), lr=0.01)").replace("AFTER", "pass")
    found = trace(tmp_path, str(write(tmp_path, "run.py", text.replace("DEEP", "False")))).found
    assert found is not None
    assert found.is_explosion is False


def readings(curve: Callable[[int], float], steps: int = 400) -> list[Reading]:
    return [Reading(step, 1.0, curve(step), 1e-3) for step in range(1, steps + 1)]


def warned(history: list[Reading]) -> list[str]:
    warnings = Warnings()
    return [text for end in range(1, len(history) + 1) for text in warnings.of(history[:end])]


def noise(seed: int, spread: float) -> Callable[[], float]:
    draw = random.Random(seed)  # noqa: S311 - noise, no secrets
    return lambda: math.exp(draw.gauss(0, spread))


@pytest.mark.parametrize("seed", range(20))
def test_noise_decay_spikes_and_restarts_are_no_growth(seed: int) -> None:
    factor = noise(seed, 0.2 + 0.05 * seed)
    decay = readings(lambda step: factor() * (1 + 20 / step))
    spikes = readings(lambda step: factor() * (30 if step % 50 == 0 else 1))
    restarts = readings(lambda step: factor() * (1 + 4 * (step % 100) / 100))
    assert [warned(decay), warned(spikes), warned(restarts)] == [[], [], []]


def test_sustained_growth_is_told_with_its_factor() -> None:
    factor = noise(0, 0.2)
    told = warned(readings(lambda step: factor() * (1 if step < 300 else 1.05 ** (step - 300))))
    assert told[0].partition(": ")[2].startswith("the gradient norm has grown 1")
    assert 340 < int(told[0].split(":")[0].removeprefix("step ")) < 380


def test_results_near_the_end_of_their_format_are_told() -> None:
    reading = Reading(7, 1.0, 1.0, None, activations={"attention": 4e4}, margin=1.6)
    assert warned([reading]) == [
        "step 7: the results of `attention` reach 4e+04, within 1.6x of the end of their format"
    ]


def test_a_run_that_did_not_grow_has_no_growth_to_tell() -> None:
    assert growth(readings(lambda step: 1.0 + step / 100, 50)) == ""
