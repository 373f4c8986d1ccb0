"""Training loops told in words, for tests: `zero_grad backward bad(loss) -> continue`."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from nanlint.analysis.project.whole import WholeProject
from nanlint.analysis.training_loop.events import Event
from nanlint.analysis.training_loop.loops import training_loops

if TYPE_CHECKING:
    from nanlint.analysis.training_loop.loops import TrainingLoop
    from nanlint.analysis.training_loop.paths import Decision, Path

PREAMBLE = """\
import math
import sys
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
"""


def loops_in(text: str) -> list[TrainingLoop]:
    """The training loops of a text."""
    file = WholeProject("", is_project=False).file("train.py", PREAMBLE + textwrap.dedent(text))
    assert file is not None
    return training_loops(file)


def in_a_loop(body: str) -> TrainingLoop:
    """The one loop whose body this is."""
    head = "def train(model, optimizer, scaler, scheduler, ema, loader, config):\n    for batch in loader:\n"
    (loop,) = loops_in(head + textwrap.indent(textwrap.dedent(body), " " * 8))
    return loop


def events_of(loop: TrainingLoop) -> list[str]:
    """Every event as its kind, its target, and who does it."""
    return [" ".join(filter(None, (event.kind.value, event.target, event.by))) for event in loop.events]


def ways_of(loop: TrainingLoop) -> list[str]:
    """Every way through a round: events by kind, checks as `bad(loss)` or `fine(loss)`, and how it ends."""
    return [_way(path) for path in loop.paths]


def _way(path: Path) -> str:
    words = [word for step in path.steps if (word := _word(step))]
    return " ".join([*words, *(["->", path.end] if path.end else [])])


def _word(step: Event | Decision) -> str:
    if isinstance(step, Event):
        return step.kind.value
    if step.check is None:
        return ""
    return f"{'bad' if step.truth is step.check.bad_when else 'fine'}({step.check.subject})"
