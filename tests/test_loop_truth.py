"""Faults injected into real training loops: each loop rule's harm, shown with torch's own objects, and the cure beside it.

`fixtures/*/truth.py` drive the fixtures with the same driver; here are the driver itself, and for each rule the one number
or state that its message is about.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed, so no loop can be run")

from tests.checkout import ROOT  # noqa: E402 - after torch, like the others
from tests.loop_driver import (  # noqa: E402 - it imports torch
    AT,
    INF_GRADIENT,
    INF_LOSS,
    NAN_GRADIENT,
    NAN_LOSS,
    NO_FAULT,
    NOT_FINITE,
    RATE,
    ROUNDS,
    STEEP,
    STEEP_GRADIENT,
    drive,
)
from tests.truth_running import load, marked_in  # noqa: E402 - it needs torch
from tests.two_processes import wait_for_each_other  # noqa: E402 - it imports torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests import loop_driver as loops

torch.set_num_threads(1)

LOOP_FOLDERS = sorted(
    path for path in (ROOT / "fixtures").glob("NAN[45]*") if path.name[:6] not in {"NAN401", "NAN404"}
)
CODES = [folder.name[:6] for folder in LOOP_FOLDERS]


def fixture(code: str, file: str, name: str) -> Callable[..., Any]:
    (folder,) = (ROOT / "fixtures").glob(f"{code}_*")
    function: Callable[..., Any] = getattr(load(folder / f"{file}.py"), name)
    return function


def first_way(run: loops.Run) -> float:
    """How far the weight has gone in the first round."""
    return abs(run.slopes[1] - run.slopes[0])


# -- the driver ----------------------------------------------------------------------------------------------------


def plain(model: Any, optimizer: Any, batches: Any) -> None:
    for batch in batches:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()


def test_without_a_fault_every_round_makes_its_step() -> None:
    run = drive(plain)
    assert (run.is_finite, [run.moved_in(each) for each in range(ROUNDS)], run.error) == (True, [True] * ROUNDS, None)


@pytest.mark.parametrize("fault", NOT_FINITE, ids=["NaN loss", "inf loss", "NaN gradient", "inf gradient"])
def test_a_fault_breaks_a_loop_that_checks_nothing_in_its_round_and_not_before(fault: loops.Fault) -> None:
    run = drive(plain, fault)
    assert [math.isfinite(slope) for slope in run.slopes] == [True] * (AT + 1) + [False] * (ROUNDS - AT)


def test_a_gradient_can_be_broken_under_a_finite_loss() -> None:
    losses = []

    def watched(model: Any, optimizer: Any, batches: Any) -> None:
        for batch in batches:
            loss = model(batch).mean()
            losses.append(loss.item())
            loss.backward()
            if not torch.isfinite(model.line.weight.grad).all():
                raise FloatingPointError
            optimizer.step()

    run = drive(watched, INF_GRADIENT)
    assert isinstance(run.error, FloatingPointError)
    assert all(math.isfinite(loss) for loss in losses)


def test_a_steep_gradient_throws_the_weights_far_away() -> None:
    assert drive(plain, STEEP_GRADIENT).longest > 0.09 * RATE * STEEP


def test_what_is_saved_is_noted_and_not_written(tmp_path: Path) -> None:
    def saving(model: Any, batches: Any) -> None:
        for batch in batches:
            model(batch)
            torch.save({"state": [model.state_dict()]}, tmp_path / "last.pt")

    assert drive(saving).saved == {str(tmp_path / "last.pt"): True}
    assert list(tmp_path.iterdir()) == []


def test_a_class_is_made_and_its_first_method_called() -> None:
    class Trainer:
        def __init__(self, model: Any, config: Any) -> None:
            self.model, self.rate = model, config.lr

        def fit(self, batches: list[Any]) -> tuple[float, int]:
            return self.rate, len(batches)

    assert drive(Trainer).returned == (RATE, ROUNDS)


def test_two_processes_that_meet_in_every_backward_do_not_wait() -> None:
    assert not wait_for_each_other(plain, NAN_LOSS)


# -- each rule has its loops ------------------------------------------------------------------------------------------


def test_every_loop_rule_has_a_harm_that_is_shown_by_running() -> None:
    assert [folder.name for folder in LOOP_FOLDERS if not hasattr(load(folder / "truth.py"), "harms")] == []


def bad_and_good() -> Iterator[tuple[str, str]]:
    for folder in LOOP_FOLDERS:
        yield from ((folder.name, name) for name in marked_in((folder / "bad.py").read_text("utf-8")))


def test_there_is_a_bad_loop_to_run_for_every_rule() -> None:
    assert sorted({folder[:6] for folder, _ in bad_and_good()}) == CODES


# -- the numbers behind the messages ----------------------------------------------------------------------------------


def test_nan402_a_clip_on_scaled_gradients_makes_the_step_far_too_short() -> None:
    bad = drive(fixture("NAN402", "bad", "no_unscale"), decay=0.0)
    good = drive(fixture("NAN402", "good", "unscaled"), decay=0.0)
    assert first_way(good) > 5_000 * first_way(bad)


def test_nan403_an_inf_gradient_behind_a_finite_loss_reaches_the_weights() -> None:
    assert not drive(fixture("NAN403", "bad", "loss_only"), INF_GRADIENT).is_finite
    assert drive(fixture("NAN403", "good", "norm_checked"), INF_GRADIENT).is_finite


def test_nan405_zeroed_gradients_still_move_the_weights() -> None:
    run = drive(fixture("NAN405", "bad", "zeroed"), NAN_GRADIENT)
    assert (run.is_finite, run.gradients[AT], run.moved_in(AT)) == (True, 0.0, True)
    assert not drive(fixture("NAN405", "good", "skipped"), NAN_GRADIENT).moved_in(AT)


def test_nan406_after_one_bad_batch_no_step_is_made_any_more() -> None:
    def rounds_with_a_step(file: str, name: str) -> list[bool]:
        run = drive(fixture("NAN406", file, name), NAN_GRADIENT)
        return [run.moved_in(each) for each in range(ROUNDS)]

    assert rounds_with_a_step("bad", "skipped") == [True, True, False, False, False]
    assert rounds_with_a_step("good", "zeroed_when_skipped") == [True, True, False, True, True]


def test_nan407_a_replaced_nan_is_told_by_nobody() -> None:
    run = drive(fixture("NAN407", "bad", "loss_replaced"), NAN_LOSS)
    assert (run.error, run.printed) == (None, "")
    assert isinstance(drive(fixture("NAN407", "good", "raised"), NAN_LOSS).error, FloatingPointError)


def test_nan408_a_step_beside_the_scaler_is_65536_times_too_long() -> None:
    bad = drive(fixture("NAN408", "bad", "step_beside_the_scaler"), decay=0.0)
    good = drive(fixture("NAN408", "good", "plain"), decay=0.0)
    assert first_way(bad) / first_way(good) == pytest.approx(65536, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "fault", "words"),
    [
        ("no_update", NO_FAULT, "step() has already been called"),
        ("unscaled_twice", NO_FAULT, "unscale_() has already been called"),
        ("skipped_without_update", INF_GRADIENT, "unscale_() has already been called"),
    ],
)
def test_nan408_torch_itself_complains_at_the_next_round(name: str, fault: loops.Fault, words: str) -> None:
    assert words in str(drive(fixture("NAN408", "bad", name), fault).error)


def test_nan409_one_process_waits_for_the_other() -> None:
    assert wait_for_each_other(fixture("NAN409", "bad", "skipped"), NAN_LOSS)
    assert not wait_for_each_other(fixture("NAN409", "good", "reduced_flag"), NAN_LOSS)


def test_nan410_a_clip_after_the_step_lets_a_steep_gradient_pass() -> None:
    assert drive(fixture("NAN410", "bad", "clip_after_step"), STEEP_GRADIENT).longest > 0.09 * RATE * STEEP
    assert drive(fixture("NAN410", "good", "zero_last"), STEEP_GRADIENT).longest < 2 * RATE


def test_nan410_a_scheduler_that_steps_first_skips_the_first_rate() -> None:
    bad = drive(fixture("NAN410", "bad", "schedule_first"))
    good = drive(fixture("NAN410", "good", "in_order"))
    assert good.rates[0] == pytest.approx(RATE / 25)
    assert bad.rates[0] == pytest.approx(good.rates[1])


def test_nan412_the_check_comes_when_the_weights_are_broken() -> None:
    run = drive(fixture("NAN412", "bad", "skipped_afterwards"), INF_LOSS)
    assert (run.is_finite, "skipped a bad batch" in run.printed, run.error) == (False, True, None)


def test_nan413_the_schedule_is_ahead_of_the_optimizer() -> None:
    bad = drive(fixture("NAN413", "bad", "behind_the_scaler"), INF_GRADIENT)
    assert (bad.things["scheduler"].last_epoch, len(bad.rates)) == (ROUNDS, ROUNDS - 1)


def test_nan501_the_rate_of_the_checkpoint_wins() -> None:
    (folder,) = (ROOT / "fixtures").glob("NAN501_*")
    truth = load(folder / "truth.py")
    parts = fixture("NAN501", "bad", "cosine")
    assert truth.harms(parts)
    assert not truth.harms(fixture("NAN501", "good", "set_again"))


def test_nan502_the_last_good_checkpoint_is_gone() -> None:
    assert drive(fixture("NAN502", "bad", "every_batch"), NAN_GRADIENT).saved == {"last.pt": False}
    assert drive(fixture("NAN502", "good", "skipped"), NAN_GRADIENT).saved == {"last.pt": True}


def test_nan504_an_average_never_forgets_a_nan() -> None:
    poisoned = drive(fixture("NAN504", "bad", "averaged"), NAN_GRADIENT).things["ema"].module.line.weight
    healthy = drive(fixture("NAN504", "good", "averaged"), NAN_GRADIENT).things["ema"].module.line.weight
    assert not torch.isfinite(poisoned).any()
    assert torch.isfinite(healthy).all()
