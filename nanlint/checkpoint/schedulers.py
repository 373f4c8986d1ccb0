"""The state of an optimizer and of a scheduler, as the numbers that decide about the learning rate.

A state names no class; which scheduler it is shows in its keys.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.saved import number_of, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.checkpoint.contents import Part

_CLASSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("SequentialLR", ("_schedulers", "_milestones")),
    ("ChainedScheduler", ("_schedulers",)),
    ("OneCycleLR", ("total_steps", "_schedule_phases")),
    ("CosineAnnealingWarmRestarts", ("T_0", "T_mult")),
    ("CosineAnnealingLR", ("T_max", "eta_min")),
    ("MultiStepLR", ("milestones", "gamma")),
    ("StepLR", ("step_size", "gamma")),
    ("CyclicLR", ("max_lrs", "total_size")),
    ("ReduceLROnPlateau", ("num_bad_epochs", "patience")),
    ("LinearLR", ("start_factor", "end_factor")),
    ("PolynomialLR", ("power", "total_iters")),
    ("ConstantLR", ("factor", "total_iters")),
    ("LambdaLR", ("lr_lambdas",)),
    ("ExponentialLR", ("gamma",)),
)
"""The first whose keys are all there."""

LENGTHS = ("total_steps", "T_max", "total_iters")


@dataclass(frozen=True)
class Group:
    """A parameter group of an optimizer: its learning rate now, and those that a schedule started from or aims at."""

    lr: float | None
    initial_lr: float | None
    max_lr: float | None


@dataclass(frozen=True)
class Scheduler:
    """A scheduler's state."""

    kind: str
    base_lrs: tuple[float, ...]
    max_lrs: tuple[float, ...]
    last_lr: tuple[float, ...]
    done: int | None
    settings: Mapping[str, float]

    @property
    def length(self) -> tuple[str, int] | None:
        """After how many steps the schedule ends, and how the scheduler calls that."""
        return next(
            ((key, int(self.settings[key])) for key in LENGTHS if math.isfinite(self.settings.get(key, math.nan))), None
        )

    @property
    def places_of_rates(self) -> str:
        """Where the scheduler keeps the learning rates that it computes with."""
        if self.kind in {"SequentialLR", "ChainedScheduler"}:
            return "base_lrs of every scheduler in it"
        return "scheduler.base_lrs and max_lrs" if self.max_lrs else "scheduler.base_lrs"

    @property
    def progress(self) -> str:
        """`step 300 of 1,000`, as far as known."""
        if self.done is None:
            return ""
        return f"step {self.done:,}" + (f" of {self.length[1]:,}" if self.length else "")


def groups_of(optimizer: Part) -> list[Group]:
    """The parameter groups, in order."""
    found = [group for group in optimizer.state["param_groups"] if isinstance(group, dict)]
    return [Group(*(number_of(group.get(key)) for key in ("lr", "initial_lr", "max_lr"))) for group in found]


def scheduler_of(part: Part) -> Scheduler:
    """What a scheduler's state says; of several in a row, the one that acts last."""
    state = part.state
    inner = state.get("_schedulers")
    base = state.get("base_lrs")
    if not base and isinstance(inner, list | tuple) and inner and isinstance(inner[-1], dict):
        base = inner[-1].get("base_lrs")
    done = number_of(state.get("last_epoch"))
    return Scheduler(
        next((name for name, keys in _CLASSES if all(key in state for key in keys)), "the scheduler"),
        _numbers(base),
        _numbers(state.get("max_lrs")),
        _numbers(state.get("_last_lr")),
        int(done) if done is not None and math.isfinite(done) else None,
        {plain(key): number for key, value in state.items() if (number := number_of(value)) is not None},
    )


def _numbers(values: Any) -> tuple[float, ...]:
    if not isinstance(values, list | tuple):
        return ()
    return tuple(number for value in values if (number := number_of(value)) is not None)
