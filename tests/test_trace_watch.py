"""`nanlint.trace.watch`: no bad step is taken, and the origin is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed, so nothing can be watched")

import nanlint.trace as nt  # noqa: E402 - it imports torch
from nanlint.errors import UsageError  # noqa: E402 - after the line that skips

if TYPE_CHECKING:
    from pathlib import Path

    from nanlint.trace import Diagnosis

pytestmark = pytest.mark.slow


class Lengths(torch.nn.Module):  # type: ignore[misc, name-defined] # torch is Any where it may be missing
    """Breaks in the backward pass for rows that begin with 0."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.dropout = torch.nn.Dropout(0.3)

    def forward(self, x: Any) -> Any:
        return (self.dropout(self.linear(x)) * x[:, :1].ne(0)).pow(2).sum(-1).sqrt()


class Training:
    """Five steps, of which the third and fourth are bad."""

    def __init__(self, folder: Path) -> None:
        torch.manual_seed(0)
        self.model = Lengths()
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.told: list[Diagnosis] = []
        self.folder = str(folder)

    def run(self, action: Any) -> nt.Watch:
        with nt.watch(
            self.model, self.optimizer, on_nonfinite=action, tell=self.told.append, folder=self.folder
        ) as watch:
            for number in range(5):
                self.optimizer.zero_grad()
                self.model(torch.randn(8, 4) * (number not in {2, 3})).mean().backward()
                self.optimizer.step()
        return watch

    @property
    def is_finite(self) -> bool:
        return all(bool(torch.isfinite(parameter).all()) for parameter in self.model.parameters())


@pytest.fixture
def training(tmp_path: Path) -> Training:
    return Training(tmp_path)


def test_raise_stops_before_the_step_and_carries_the_diagnosis(training: Training) -> None:
    with pytest.raises(nt.NonFiniteError, match="the backward pass of `sqrt` made inf of finite values") as caught:
        training.run("raise")
    found = caught.value.diagnosis
    assert (found.step, found.operation, found.module, training.is_finite) == (3, "sqrt", "Lengths", True)


def test_skip_leaves_bad_steps_out_and_tells_each_origin_once(training: Training) -> None:
    watch = training.run("skip")
    assert (watch.skipped, training.is_finite, len(training.told), len(watch.found)) == (2, True, 1, 1)


def test_a_skipped_step_leaves_the_optimizer_as_it_was(training: Training) -> None:
    training.run("skip")
    assert {float(state["step"]) for state in training.optimizer.state.values()} == {3.0}


def test_report_changes_nothing(training: Training) -> None:
    watch = training.run("report")
    assert (watch.skipped, training.is_finite) == (0, False)
    # What the bad step did to the weights is not told again, and not blamed on the optimizer.
    assert [found.kind for found in training.told] == ["operation"]


def test_replaying_uses_up_no_random_numbers(training: Training) -> None:
    training.run("skip")
    after = torch.rand(1)
    torch.manual_seed(0)
    other = Training(training.folder)  # type: ignore[arg-type] # only its name is used
    for number in range(5):
        other.model(torch.randn(8, 4) * (number not in {2, 3}))
    assert torch.equal(after, torch.rand(1))


def test_loss_code_behind_the_model_is_told_as_such(training: Training) -> None:
    with nt.watch(training.model, training.optimizer, on_nonfinite="skip", tell=training.told.append) as watch:
        (training.model(torch.randn(8, 4)).mean() * 0).log().backward()
        training.optimizer.step()
    assert (watch.skipped, training.told[0].kind, training.told[0].inputs[0].name) == (1, "elsewhere", "output[0]")
    assert "the loss code behind the model" in training.told[0].notes[0]


def test_the_scaler_is_told_of_a_skip(training: Training) -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    with nt.watch(training.model, training.optimizer, on_nonfinite="skip", tell=training.told.append) as watch:
        loss = training.model(torch.randn(8, 4)).mean()
        # The loss is inf and its gradient is not: only the watch can see it.
        scaler.scale(loss + torch.tensor(float("inf"))).backward()
        scaler.step(training.optimizer)
        scaler.update()
    assert (watch.skipped, scaler.get_scale()) == (1, 512.0)


def test_other_optimizers_are_left_alone(training: Training) -> None:
    other = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(other.parameters(), lr=0.1)
    with nt.watch(training.model, training.optimizer, tell=training.told.append) as watch:
        other.weight.grad = torch.full((1, 1), float("nan"))
        optimizer.step()
    assert (watch.skipped, training.told) == (0, [])


def test_an_unknown_action_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="not 'rise'; did you mean raise"):
        nt.watch(torch.nn.Linear(1, 1), on_nonfinite="rise")  # type: ignore[arg-type] # that is the point


def test_a_batch_that_held_nan_is_called_so_with_its_column(training: Training) -> None:
    inputs = torch.randn(8, 4)
    inputs[5, 1] = float("nan")
    with nt.watch(training.model, training.optimizer, on_nonfinite="skip", tell=training.told.append):
        training.model(inputs).mean().backward()
        training.optimizer.step()
    assert (training.told[0].kind, training.told[0].reason) == (
        "input",
        "the batch held NaN: `x` in column 1 (row 5 of 8)",
    )


def test_a_tied_weight_is_named(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    model[1].weight = model[0].weight
    optimizer = torch.optim.SGD([model[0].bias], lr=0.1)
    told: list[Diagnosis] = []
    with nt.watch(model, optimizer, on_nonfinite="skip", tell=told.append, folder=str(tmp_path)):
        for number in range(2):
            if number:
                model[0].weight.data[0] = float("nan")
            model(torch.randn(2, 4)).sum().backward()
            optimizer.step()
    assert told[0].reason == "the parameter `0.weight` (tied with `1.weight`) already held NaN when the step began"
