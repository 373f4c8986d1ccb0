"""`watch(on_nonfinite="rollback")`: after a bad batch the run is the one that never saw it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed, so nothing can be watched")

import nanlint.trace as nt  # noqa: E402 - it imports torch
from nanlint.errors import NanlintError  # noqa: E402 - same

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    # torch says so whenever a GradScaler leaves the first step out.
    pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step"),
]


class Run:
    """A training with all that a batch leaves traces in: batch norm, dropout, moments, a schedule and a loss scale."""

    def __init__(self, optimizer: Any = torch.optim.AdamW, **options: Any) -> None:
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1)
        )
        self.optimizer = optimizer(self.model.parameters(), **{"lr": 1e-2, **options})
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 1, gamma=0.9)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
        self.batches = [torch.randn(8, 4) for _ in range(8)]

    def step(self, batch: Any) -> None:
        self.optimizer.zero_grad()
        self.scaler.scale(self.model(batch).pow(2).mean()).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.scheduler.step()

    def train(self) -> None:
        for batch in self.batches:
            self.step(batch)

    def state(self) -> list[Any]:
        """All that must be equal."""
        moments = [value for state in self.optimizer.state.values() for value in state.values()]
        tensors = [*self.model.state_dict().values(), *moments, torch.get_rng_state()]
        return [
            *(tensor.tolist() for tensor in tensors),
            self.optimizer.param_groups[0]["lr"],
            self.scaler.state_dict(),
        ]


@pytest.mark.parametrize("bad", [0, 3, 7], ids=["the first batch", "one in the middle", "the last batch"])
def test_after_a_rollback_the_run_is_the_one_that_never_saw_the_batch(bad: int, tmp_path: Path) -> None:
    reference, run = Run(), Run()
    torch.manual_seed(1)
    for number, batch in enumerate(reference.batches):
        if number != bad:
            reference.step(batch)
    expected = reference.state()
    run.batches[bad][2, 1] = float("nan")
    torch.manual_seed(1)
    told: list[Any] = []
    with nt.watch(run.model, run.optimizer, on_nonfinite="rollback", tell=told.append, folder=str(tmp_path)) as watch:
        run.train()
    assert (watch.skipped, told[0].reason) == (1, "the batch held NaN: `input` in column 1 (row 2 of 8)")
    assert run.state() == expected


def test_weights_that_a_step_spoiled_come_back(tmp_path: Path) -> None:
    run = Run(torch.optim.Adam, eps=0.0)
    run.model = torch.nn.Linear(4, 1)
    run.optimizer = torch.optim.Adam(run.model.parameters(), eps=0.0)
    run.batches[3][:, 2] = 0
    with nt.watch(
        run.model, run.optimizer, on_nonfinite="rollback", tell=lambda _: None, folder=str(tmp_path)
    ) as watch:
        for number, batch in enumerate(run.batches):
            run.optimizer.zero_grad()
            loss = run.model(batch).pow(2).mean()
            loss.backward()
            if number == 3:
                for state in run.optimizer.state.values():
                    state["exp_avg_sq"].zero_()
                    state["exp_avg"].zero_()
                for parameter in run.model.parameters():
                    parameter.grad.zero_()
            run.optimizer.step()
    assert watch.skipped == 1
    assert all(bool(torch.isfinite(parameter).all()) for parameter in run.model.parameters())


@pytest.mark.parametrize("action", ["skip", "rollback"])
def test_more_bad_steps_in_a_row_than_allowed_are_an_error(action: Any, tmp_path: Path) -> None:
    run = Run()
    for number in (1, 4, 5, 6):
        run.batches[number][0, 0] = float("nan")
    watching = nt.watch(
        run.model, run.optimizer, on_nonfinite=action, max_skips=2, tell=lambda _: None, folder=str(tmp_path)
    )
    with pytest.raises(nt.NonFiniteError, match="more than 2 steps in a row were bad") as caught, watching:
        run.train()
    assert caught.value.diagnosis.step == 7


def test_stop_is_another_word_for_raise(tmp_path: Path) -> None:
    run = Run()
    run.batches[2][0, 0] = float("nan")
    with (
        pytest.raises(nt.NonFiniteError),
        nt.watch(run.model, run.optimizer, on_nonfinite="stop", folder=str(tmp_path)),
    ):
        run.train()


def save(run: Run, path: Path, *, spoiled: bool = False) -> None:
    state = {
        "model": run.model.state_dict(),
        "optimizer": run.optimizer.state_dict(),
        "scheduler": run.scheduler.state_dict(),
        "scaler": run.scaler.state_dict(),
    }
    if spoiled:
        state["model"] = {name: value * float("nan") for name, value in state["model"].items()}
    torch.save(state, path)


def saved_run(folder: Path) -> None:
    """Two checkpoints of a run, of which the later one is lost."""
    run = Run()
    run.step(run.batches[0])
    save(run, folder / "step_1.pt")
    run.step(run.batches[1])
    save(run, folder / "step_2.pt", spoiled=True)


def test_weights_that_were_lost_before_the_run_come_back_from_disk(tmp_path: Path) -> None:
    saved_run(tmp_path)
    reference, run = Run(), Run()
    for each, name in ((reference, "step_1.pt"), (run, "step_2.pt")):
        state = torch.load(tmp_path / name)
        for owner in ("model", "optimizer", "scheduler", "scaler"):
            getattr(each, owner).load_state_dict(state[owner])
    with nt.watch(
        run.model, run.optimizer, on_nonfinite="rollback", tell=lambda _: None, folder=str(tmp_path / "trace"), checkpoints=str(tmp_path),
    ) as watch:  # fmt: skip
        run.step(run.batches[1])
        torch.manual_seed(5)
        run.step(run.batches[2])
    torch.manual_seed(5)
    reference.step(reference.batches[2])
    assert (watch.skipped, watch.restored) == (1, [str(tmp_path / "step_1.pt")])
    assert watch.found[0].notes[-1] == f"rolled back to {tmp_path / 'step_1.pt'} (model, optimizer, scheduler, scaler)"
    assert run.state() == reference.state()


def test_too_many_bad_steps_go_to_disk_once_and_then_are_an_error(tmp_path: Path) -> None:
    saved_run(tmp_path)
    run = Run()
    for number in (1, 2, 3, 4, 5, 6):
        run.batches[number][0, 0] = float("nan")
    watching = nt.watch(
        run.model, run.optimizer, on_nonfinite="rollback", max_skips=1, tell=lambda _: None, folder=str(tmp_path / "trace"), checkpoints=str(tmp_path),
    )  # fmt: skip
    with pytest.raises(nt.NonFiniteError, match="more than 1 steps in a row were bad") as caught, watching:
        run.train()
    assert (watching.restored, caught.value.diagnosis.step) == ([str(tmp_path / "step_1.pt")], 5)


@pytest.mark.parametrize(
    ("kept", "told"),
    [("step_2.pt", "holds no clean checkpoint"), ("other.pt", "does not hold the weights of this model")],
)
def test_a_folder_without_a_checkpoint_that_fits_is_told(kept: str, told: str, tmp_path: Path) -> None:
    saved_run(tmp_path)
    torch.save({"model": torch.nn.Linear(3, 3).state_dict()}, tmp_path / "other.pt")
    for path in tmp_path.glob("*.pt"):
        if path.name != kept:
            path.unlink()
    run = Run()
    with torch.no_grad():
        run.model[0].weight.fill_(float("nan"))
    watching = nt.watch(
        run.model, run.optimizer, on_nonfinite="rollback", folder=str(tmp_path / "trace"), checkpoints=str(tmp_path)
    )
    with pytest.raises(NanlintError, match=told), watching:
        run.step(run.batches[0])
