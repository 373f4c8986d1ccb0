"""Training loops that reach over several files: helpers, bases, what a constructor makes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from nanlint.analysis.project.whole import WholeProject
from nanlint.analysis.training_loop.loops import training_loops
from nanlint.api import check_paths
from tests.loops_told import events_of, ways_of

if TYPE_CHECKING:
    from pathlib import Path

    from nanlint.analysis.training_loop.loops import TrainingLoop


def loops_of(folder: Path, **files: str) -> list[TrainingLoop]:
    """The training loops of `train.py`, beside other files."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
    path = folder / "train.py"
    file = WholeProject(str(folder)).file(str(path), path.read_text())
    assert file is not None
    return training_loops(file)


LOOP = """
import torch
from tools import finish

def train(model, optimizer, scaler, loader):
    for batch in loader:
        scaler.scale(model(batch).mean()).backward()
        finish(model, optimizer, scaler)
        scaler.step(optimizer)
        scaler.update()
"""


def test_a_helper_of_another_file_is_read_and_told_of_where_it_is_called(tmp_path: Path) -> None:
    (loop,) = loops_of(
        tmp_path,
        train=LOOP,
        tools="""
        import torch

        def finish(net, opt, amp):
            amp.unscale_(opt)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        """,
    )
    assert ways_of(loop) == ["scale backward unscale_ clip step update"]
    (clip,) = loop.of("clip")
    assert (clip.span.line, clip.is_elsewhere, clip.target) == (8, True, "model.parameters()")
    assert clip.line_before("pass") is None


def test_a_helper_of_another_file_that_nobody_can_read_is_opaque(tmp_path: Path) -> None:
    (loop,) = loops_of(tmp_path, train=LOOP)
    assert ways_of(loop) == ["scale backward opaque step update"]


def test_a_clip_before_unscale_in_another_file_is_found(tmp_path: Path) -> None:
    loops_of(
        tmp_path,
        train=LOOP,
        tools="""
        import torch

        def finish(net, opt, amp):
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        """,
    )
    report = check_paths([tmp_path], select=["NAN402"])
    assert [(finding.path.rpartition("/")[2], finding.span.line) for finding in report.findings] == [("train.py", 8)]


def test_what_a_base_in_another_file_makes_is_known_by_how_it_is_made(tmp_path: Path) -> None:
    (loop,) = loops_of(
        tmp_path,
        base="""
        import torch

        class Base:
            def __init__(self, model):
                self.model = model
                self.mover = torch.optim.SGD(model.parameters(), lr=0.1)
                self.rates = torch.optim.lr_scheduler.StepLR(self.mover, 3)
        """,
        train="""
        import torch
        from base import Base

        class Trainer(Base):
            def fit(self, loader):
                for batch in loader:
                    self.mover.zero_grad()
                    self.model(batch).mean().backward()
                    self.mover.step()
                    self.rates.step()
        """,
    )
    assert events_of(loop)[-2:] == ["step self.mover", "schedule self.rates"]


def test_a_step_method_of_another_file_is_told_of_there(tmp_path: Path) -> None:
    loops = loops_of(
        tmp_path,
        train="""
        from steps import step

        def train(model, optimizer, loader):
            for batch in loader:
                step(model, optimizer, batch)  # no backward of its own
        """,
        steps="""
        def step(model, optimizer, batch):
            model(batch).mean().backward()
            optimizer.step()
        """,
    )
    assert loops == []
