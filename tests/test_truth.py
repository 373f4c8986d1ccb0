"""The fixtures, run: what is marked as bad misbehaves, what is good or fixed does not, and a safe fix changes no result.

A fixture that does not misbehave is a lie. Functions get the battery of `truth_inputs`; a folder whose rule is about
something else than values has a `truth.py` with `harms(function)`, which shows the harm in its own way.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from nanlint.model import Direction
from nanlint.testing import findings_in

torch = pytest.importorskip("torch", reason="torch is not installed, so no fixture can be run")

from tests.fix_proofs import proofs_of  # noqa: E402 - it imports torch
from tests.truth_running import (  # noqa: E402 - it imports torch
    FIXED,
    GOOD,
    MARKED,
    behaves,
    breaks,
    is_run,
    load,
    misbehaves,
    outcomes,
    run_on_fake_cuda,
    runnable,
    shown,
    surroundings,
    top_level,
    truth_of,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("path", MARKED, ids=shown)
def test_every_marked_function_misbehaves(path: Path) -> None:
    truth, text = truth_of(path.parent), path.read_text("utf-8")
    runnable(truth)
    found = findings_in(text, path.parent.name.partition("_")[0])
    with surroundings(truth):
        module = load(path)
        lies = [
            f"{name}:{finding.span.line} {finding.message}"
            for name, (first, last) in top_level(text).items()
            for finding in found
            if first <= finding.span.line <= last and not misbehaves(getattr(module, name), module, truth, finding)
        ]
    assert lies == []


@pytest.mark.parametrize("path", GOOD, ids=shown)
def test_good_functions_stay_finite(path: Path) -> None:
    truth = truth_of(path.parent)
    runnable(truth)
    with surroundings(truth):
        module = load(path)
        names = [name for name in top_level(path.read_text("utf-8")) if is_run(name, module, truth)]
        assert names
        assert [name for name in names if not behaves(getattr(module, name), module, truth)] == []


@pytest.mark.parametrize("path", FIXED, ids=shown)
def test_every_fix_is_proven(path: Path) -> None:
    runnable(truth_of(path.parent))
    with warnings.catch_warnings():
        # On the CPU a CUDA autocast switches itself off and says so, which makes the two comparable.
        warnings.filterwarnings("ignore", message="CUDA is not available")
        proofs = list(proofs_of(path))
    assert proofs
    assert [f"{proof.place}: {proof.problem}" for proof in proofs if proof.problem] == []


def test_a_function_that_behaves_is_not_called_bad() -> None:
    def fine(logits: Any) -> Any:
        return torch.log_softmax(logits, -1)

    assert not any(result.forward_is_broken or result.backward_is_broken for result in outcomes(fine))


def test_a_function_that_breaks_in_the_backward_only_is_told_from_one_that_breaks_in_both() -> None:
    def root(x: Any) -> Any:
        return x.pow(2).sum().sqrt()

    results = list(outcomes(root))
    assert breaks(results, Direction.BACKWARD)
    assert not breaks(results, Direction.FORWARD)


def test_the_fake_gpu_knows_what_autocast_refuses() -> None:
    def refused(score: Any, target: Any) -> Any:
        with torch.autocast("cuda"):
            return torch.nn.functional.binary_cross_entropy(score, target)

    assert "unsafe to autocast" in run_on_fake_cuda(refused).error


def test_stand_ins_leave_no_trace() -> None:
    from tests.toy_training import stand_ins  # noqa: PLC0415 - it imports torch

    with stand_ins(a_module_that_is_not_there={"x": 1}):
        assert sys.modules["a_module_that_is_not_there"].x == 1
    assert "a_module_that_is_not_there" not in sys.modules
