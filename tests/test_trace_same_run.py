"""A traced run of a script that trains well is the same run: the same steps in the same order, the same end."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed, so nothing can be traced")

from nanlint.trace.attempts import Loops, Turn  # noqa: E402 - it imports torch
from nanlint.trace.loops import RUNTIME, compiled  # noqa: E402 - same
from nanlint.trace.session import Session  # noqa: E402 - same
from tests.loop_shapes import Shape, Told, World, told  # noqa: E402 - same
from tests.tracing import trace, write  # noqa: E402 - same

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

SHAPES = 500
PER_TEST = 50


class Calm:
    """A watcher whom nothing alarms."""

    activity = 0

    def take_mark(self) -> None:
        """Nothing to go back to."""

    def is_lost(self, _turn: Turn, _frame: FrameType) -> bool:
        return False

    def is_worth_repeating(self, _turn: Turn, _error: BaseException) -> bool:
        return False


def plain_run(seed: int, step: Callable[[], object] = int) -> Told:
    return told(compile(Shape(seed).text(), "shape.py", "exec"), World(seed, step))


@pytest.mark.parametrize("first", range(0, SHAPES, PER_TEST))
def test_a_repeatable_loop_does_what_the_plain_one_does(first: int) -> None:
    different = []
    for seed in range(first, first + PER_TEST):
        loops = Loops(Calm())
        traced = told(compiled(Shape(seed).text().encode(), "shape.py"), World(seed), {RUNTIME: loops})
        if traced != plain_run(seed) or loops.turns:
            different.append(seed)
    assert different == [], f"replay one with: print(Shape({different[0]}).text())"


def test_the_shapes_are_rewritten_and_reach_every_end() -> None:
    some = range(PER_TEST)
    ends = [plain_run(seed) for seed in some]
    rewritten = [RUNTIME in compiled(Shape(seed).text().encode(), "shape.py").co_names for seed in some]
    assert sum(rewritten) > PER_TEST * 0.8
    assert {end.end.partition(":")[0] for end in ends} >= {"ended", "Oops", "SystemExit"}
    assert sum(len(end.events) > 20 for end in ends) > PER_TEST / 2


class _Training:
    """A step of a small model, and its losses."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = torch.nn.Linear(3, 1)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.01)
        self.losses: list[float] = []

    def step(self) -> None:
        loss = self.model(torch.randn(4, 3)).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())


@pytest.mark.parametrize("seed", range(20))
def test_a_watched_run_has_the_same_losses_to_the_last_bit(seed: int) -> None:
    plain, watched = _Training(), _Training()
    torch.manual_seed(seed)
    expected = plain_run(seed, plain.step)

    def never(*_: object) -> None:
        raise AssertionError("nothing is wrong with these steps")

    session = Session(never)
    session.install()
    try:
        torch.manual_seed(seed)
        code = compiled(Shape(seed).text().encode(), "shape.py")
        traced = told(code, World(seed, watched.step), {RUNTIME: session.loops})
    finally:
        session.remove()
    assert (traced, watched.losses, session.left_over()) == (expected, plain.losses, None)


NESTED = """\
import torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

def step():
    loss = model(torch.ones(2, 2)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

def train():
    for epoch in range(5):
        for number in range(10):
            step()
            print(epoch, number)
            if number == 1:
                break
        if epoch == 7:
            break
    else:
        print("all epochs")

train()
"""

STEPS = "".join(f"{epoch} 0\n{epoch} 1\n" for epoch in range(5)) + "all epochs\n"


@pytest.mark.parametrize(
    ("text", "code", "last"),
    [
        ("", 0, ""),
        ("import sys\nsys.exit(7)\n", 7, ""),
        ("{}['gone']\n", 1, "KeyError: 'gone'"),
        ("for number in range(2):\n    step()\n    {}['gone']\n", 1, "KeyError: 'gone'"),
    ],
    ids=["the end", "sys.exit", "an exception", "an exception in a loop"],
)
def test_two_loops_that_break_run_to_their_ends(text: str, code: int, last: str, tmp_path: Path) -> None:
    traced = trace(tmp_path, str(write(tmp_path, "nested.py", NESTED + text)))
    assert (traced.code, traced.out, "".join(traced.err.splitlines()[-1:])) == (code, STEPS, last)


@pytest.mark.parametrize(
    ("text", "code"),
    [("os._exit(9)", 9), ("os.kill(os.getpid(), signal.SIGTERM)", -15)],
    ids=["os._exit", "a signal"],
)
def test_what_ends_the_process_ends_it_at_once(text: str, code: int, tmp_path: Path) -> None:
    ending = f"import os, signal, sys\nfor number in range(2):\n    step()\n    sys.stdout.flush()\n    {text}\n"
    command = [sys.executable, "-m", "nanlint", "trace", str(write(tmp_path, "ends.py", NESTED + ending))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (code, STEPS, "")
