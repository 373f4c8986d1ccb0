"""The learning rate that a run resumes with: what we say is what torch's own optimizers and schedulers do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch.optim import lr_scheduler  # noqa: E402 - after the skip

from nanlint.checkpoint.diagnosis import CLEAN  # noqa: E402
from tests.checkpoints import diagnosis, message, saved, told  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SCHEDULERS: dict[str, Callable[[Any, float], Any]] = {
    "OneCycleLR": lambda optimizer, lr: lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=60),
    "CosineAnnealingLR": lambda optimizer, _: lr_scheduler.CosineAnnealingLR(optimizer, T_max=40),
    "CosineAnnealingWarmRestarts": lambda optimizer, _: lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=10),
    "StepLR": lambda optimizer, _: lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.5),
    "MultiStepLR": lambda optimizer, _: lr_scheduler.MultiStepLR(optimizer, [5, 9], gamma=0.5),
    "ExponentialLR": lambda optimizer, _: lr_scheduler.ExponentialLR(optimizer, gamma=0.9),
    "LambdaLR": lambda optimizer, _: lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step)),
    "LinearLR": lambda optimizer, _: lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=20),
    "ConstantLR": lambda optimizer, _: lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=20),
    "PolynomialLR": lambda optimizer, _: lr_scheduler.PolynomialLR(optimizer, total_iters=30, power=2.0),
    "CyclicLR": lambda optimizer, lr: lr_scheduler.CyclicLR(optimizer, base_lr=lr / 10, max_lr=lr, step_size_up=20),
    "SequentialLR": lambda optimizer, _: lr_scheduler.SequentialLR(
        optimizer,
        [lr_scheduler.LinearLR(optimizer, 0.1, total_iters=5), lr_scheduler.CosineAnnealingLR(optimizer, T_max=30)],
        milestones=[5],
    ),
}

PLACES = {"CyclicLR": "scheduler.base_lrs and max_lrs", "SequentialLR": "base_lrs of every scheduler in it"}

OLD, NEW = 5e-4, 1e-4


class Resumable:
    """An optimizer and its scheduler, as a script builds them from its config."""

    def __init__(self, kind: str, lr: float, optimizer: type[Any] = torch.optim.SGD) -> None:
        self.parameter = torch.nn.Parameter(torch.ones(2))
        options = {"momentum": 0.9} if optimizer is torch.optim.SGD else {}
        self.optimizer = optimizer([self.parameter], lr=lr, **options)
        self.scheduler = SCHEDULERS[kind](self.optimizer, lr)

    def train(self, steps: int) -> None:
        for _ in range(steps):
            self.parameter.grad = torch.zeros(2)
            self.optimizer.step()
            self.scheduler.step()

    def state(self) -> dict[str, Any]:
        return {"optimizer": self.optimizer.state_dict(), "scheduler": self.scheduler.state_dict()}

    def load(self, path: Path, *parts: str) -> None:
        state = torch.load(path, weights_only=False)
        for part in parts or ("optimizer", "scheduler"):
            getattr(self, part).load_state_dict(state[part])

    @property
    def lr(self) -> float:
        return float(self.optimizer.param_groups[0]["lr"])


def old_run(folder: Path, kind: str, steps: int = 7) -> tuple[Resumable, Path]:
    """A run at the old learning rate, and its checkpoint."""
    run = Resumable(kind, OLD)
    run.train(steps)
    return run, saved(folder, run.state())


# torch warns that SequentialLR's own first step comes before the optimizer's.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("kind", SCHEDULERS)
def test_with_the_lr_of_the_config_nothing_is_wrong(tmp_path: Path, kind: str) -> None:
    _, path = old_run(tmp_path, kind)
    found = diagnosis(path, lr=OLD)
    assert (found.verdict, told(found)) == (CLEAN, [])


@pytest.mark.parametrize("kind", SCHEDULERS)
def test_the_lr_that_we_say_is_the_lr_after_loading(tmp_path: Path, kind: str) -> None:
    _, path = old_run(tmp_path, kind)
    resumed = Resumable(kind, NEW)
    resumed.load(path)
    rate = diagnosis(path, lr=NEW).learning_rate
    assert rate is not None
    assert rate.resumes_with == (resumed.lr,)


@pytest.mark.parametrize("kind", SCHEDULERS)
def test_the_config_is_overridden_and_we_say_so(tmp_path: Path, kind: str) -> None:
    old, path = old_run(tmp_path, kind)
    resumed = Resumable(kind, NEW)
    resumed.load(path)
    found = diagnosis(path, lr=NEW)
    assert told(found, "warning") == [("lr-config", "learning rate")]
    assert f"resumes with {resumed.lr:.4g}, not with the 0.0001 of --lr" in message(found, "lr-config")
    assert f"and {kind} goes on at step 7" in message(found, "lr-config")
    old.train(5)
    resumed.train(5)
    assert resumed.lr == pytest.approx(old.lr), "the old schedule goes on, whatever the config says"


@pytest.mark.parametrize("kind", SCHEDULERS)
def test_the_hint_gives_the_schedule_of_the_new_lr(tmp_path: Path, kind: str) -> None:
    _, path = old_run(tmp_path, kind)
    (symptom,) = diagnosis(path, lr=NEW).symptoms
    start, _, places = symptom.hint.partition(" of every param group and ")
    assert start == "multiply lr, initial_lr, max_lr and min_lr"
    assert places == f"{PLACES.get(kind, 'scheduler.base_lrs')} by 0.2 after loading"
    resumed = Resumable(kind, NEW)
    resumed.load(path)
    for group in resumed.optimizer.param_groups:
        group.update({key: 0.2 * group[key] for key in ("lr", "initial_lr", "max_lr", "min_lr") if key in group})
    for scheduler in getattr(resumed.scheduler, "_schedulers", [resumed.scheduler]):
        scheduler.base_lrs = [0.2 * rate for rate in scheduler.base_lrs]
    if kind == "CyclicLR":
        resumed.scheduler.max_lrs = [0.2 * rate for rate in resumed.scheduler.max_lrs]
    wanted = Resumable(kind, NEW)
    wanted.train(7)
    for _ in range(5):
        assert resumed.lr == pytest.approx(wanted.lr)
        resumed.train(1)
        wanted.train(1)


def test_what_the_schedule_computes_from_is_told(tmp_path: Path) -> None:
    texts = {
        kind: message(diagnosis(old_run(tmp_path, kind)[1], lr=NEW), "lr-config") for kind in ("OneCycleLR", "StepLR")
    }
    assert texts["OneCycleLR"].endswith("at step 7 of 60, with the saved max_lr 0.0005")
    assert texts["StepLR"].endswith("at step 7, from the saved base lr 0.0005")


def test_without_a_scheduler_the_hint_sets_the_lr(tmp_path: Path) -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=OLD)
    (symptom,) = diagnosis(saved(tmp_path, {"optimizer": optimizer.state_dict()}), lr=NEW).symptoms
    assert symptom.message == (
        "training resumes with 0.0005, not with the 0.0001 of --lr: optimizer.load_state_dict puts the saved lr back"
    )
    assert symptom.hint == "set group['lr'] = 0.0001 in every param group after loading"


def test_an_lr_in_a_tensor_is_read(tmp_path: Path) -> None:
    optimizer = torch.optim.Adam([torch.nn.Parameter(torch.ones(2))], lr=torch.tensor(OLD), capturable=True)
    rate = diagnosis(saved(tmp_path, optimizer.state_dict())).learning_rate
    assert rate is not None
    assert rate.resumes_with[0] == pytest.approx(OLD)


def test_one_group_with_the_lr_of_the_config_is_enough(tmp_path: Path) -> None:
    groups = [{"params": [torch.nn.Parameter(torch.ones(1))], "lr": OLD / scale} for scale in (1, 10)]
    path = saved(tmp_path, torch.optim.SGD(groups).state_dict())
    assert told(diagnosis(path, lr=OLD)) == []
    assert "resumes with 5e-05 to 0.0005, not" in message(diagnosis(path, lr=NEW), "lr-config")


def test_an_lr_that_is_nan_is_an_error(tmp_path: Path) -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=OLD)
    optimizer.param_groups[0]["lr"] = float("nan")
    found = diagnosis(saved(tmp_path, optimizer.state_dict()))
    assert told(found, "error") == [("lr", "learning rate")]


def test_a_scheduler_that_was_not_saved_starts_over(tmp_path: Path) -> None:
    old = Resumable("LambdaLR", OLD)
    old.train(7)
    path = saved(tmp_path, {"optimizer": old.optimizer.state_dict()})
    assert told(diagnosis(path)) == [("scheduler-missing", "learning rate")]
    resumed = Resumable("LambdaLR", OLD)
    resumed.load(path, "optimizer")
    resumed.train(1)
    assert resumed.lr == pytest.approx(OLD / 2), "the first step of the schedule, not the eighth"


def test_an_optimizer_that_was_not_saved_has_a_new_lr(tmp_path: Path) -> None:
    old = Resumable("ExponentialLR", OLD)
    old.train(7)
    path = saved(tmp_path, {"scheduler": old.scheduler.state_dict()})
    text = message(diagnosis(path), "optimizer-missing")
    assert text == (
        "ExponentialLR is in the checkpoint and the optimizer is not: training resumes with the lr of a new optimizer, "
        f"not with the saved {old.lr:.4g}"
    )
    resumed = Resumable("ExponentialLR", OLD)
    resumed.load(path, "scheduler")
    assert resumed.lr == OLD


def test_optimizer_and_scheduler_that_disagree_are_told(tmp_path: Path) -> None:
    old = Resumable("CosineAnnealingLR", OLD)
    old.train(7)
    old.optimizer.param_groups[0]["lr"] = 1.0
    text = message(diagnosis(saved(tmp_path, old.state())), "lr-disagrees")
    assert text.startswith("the optimizer says 1 and CosineAnnealingLR says 0.0004")
    resumed = Resumable("CosineAnnealingLR", OLD)
    resumed.load(tmp_path / "state.pt")
    assert resumed.lr == 1.0


def test_starting_points_that_disagree_are_told(tmp_path: Path) -> None:
    old = Resumable("LambdaLR", OLD)
    old.train(7)
    old.scheduler.base_lrs = [1.0]
    text = message(diagnosis(saved(tmp_path, old.state())), "lr-disagrees")
    assert text == "the optimizer started from 0.0005 (initial_lr), LambdaLR from 1 (base_lrs)"


def test_a_schedule_that_is_over_is_told(tmp_path: Path) -> None:
    old, path = old_run(tmp_path, "OneCycleLR", steps=59)
    assert told(diagnosis(path)) == []
    old.train(1)
    path = saved(tmp_path, old.state())
    assert message(diagnosis(path), "schedule-over") == (
        "OneCycleLR is at step 60 of 60: its next step() raises; build a new scheduler to train longer"
    )
    resumed = Resumable("OneCycleLR", OLD)
    resumed.load(path)
    with pytest.raises(ValueError, match="Tried to step 61 times"):
        resumed.train(1)
