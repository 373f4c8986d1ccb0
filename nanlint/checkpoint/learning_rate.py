"""The scheduler trap: the learning rate that training resumes with is the saved one, whatever the config says by now.

`optimizer.load_state_dict` puts the saved `lr` back into every parameter group, `scheduler.load_state_dict` the saved
`base_lrs`, lengths and counters. The tests do both with torch's own classes and look.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanlint.checkpoint.schedulers import Group, Scheduler, groups_of, scheduler_of
from nanlint.checkpoint.symptoms import ERROR, NOTE, WARNING, Symptom

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.checkpoint.contents import Contents
    from nanlint.checkpoint.stated import Config, Stated

# The settings of a scheduler that a config may state under the same name, in any spelling.
_SHARED_SETTINGS = ("total_steps", "T_max", "gamma", "step_size", "eta_min", "total_iters", "T_0", "T_mult", "power")


ABOUT_THE_RATE = "learning rate"


@dataclass(frozen=True)
class LearningRate:
    """What training resumes with, per parameter group, and why."""

    resumes_with: tuple[float, ...]
    peak: tuple[float, ...]
    reason: str
    stated: Stated | None


def learning_rate(contents: Contents, config: Config) -> tuple[LearningRate | None, list[Symptom]]:
    """The learning rate after a resume, and what is wrong with it; None when no optimizer is in the checkpoint."""
    stated = config.numbers
    groups = [group for part in contents.optimizers for group in groups_of(part)]
    schedulers = [scheduler_of(part) for part in contents.schedulers]
    rates = tuple(group.lr for group in groups if group.lr is not None)
    if not rates:
        return None, list(_without_optimizer(schedulers))
    found = LearningRate(
        rates, _peak(groups, schedulers), _reason(schedulers), _nearest(stated, _peak(groups, schedulers))
    )
    symptoms = [
        *_unstated(config),
        *_against_config(found, groups, schedulers),
        *_against_each_other(groups, schedulers),
        *_lengths(schedulers, stated),
    ]
    return found, symptoms


def _peak(groups: Sequence[Group], schedulers: Sequence[Scheduler]) -> tuple[float, ...]:
    """The learning rate that the run was given, per group, before a schedule moved it."""
    given = [group.initial_lr if group.initial_lr is not None else group.lr for group in groups]
    if any(scheduler.kind == "OneCycleLR" for scheduler in schedulers):
        given = [
            group.max_lr if group.max_lr is not None else other for group, other in zip(groups, given, strict=True)
        ]
    highest = [rate for scheduler in schedulers for rate in scheduler.max_lrs]
    if len(highest) == len(groups):
        given = [*highest]
    bases = [rate for scheduler in schedulers for rate in scheduler.base_lrs]
    if not highest and not any(group.initial_lr is not None for group in groups) and len(bases) == len(groups):
        given = [*bases]
    return tuple(rate for rate in given if rate is not None)


def _reason(schedulers: Sequence[Scheduler]) -> str:
    brought = "optimizer.load_state_dict puts the saved lr back"
    if not schedulers:
        return brought
    first = schedulers[0]
    where = f" at {first.progress}" if first.progress else ""
    return f"{brought}, and {first.kind} goes on{where}"


def _nearest(stated: Sequence[Stated], saved: Sequence[float]) -> Stated | None:
    """The learning rate of the config: the one that was saved, if several are stated and one of them is."""
    rates = [each for each in stated if each.is_learning_rate]
    return next((each for each in rates if _among(each.value, saved)), rates[0] if rates else None)


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-15)


def _among(value: float, values: Sequence[float]) -> bool:
    return any(_same(value, other) for other in values)


def told(rates: Sequence[float]) -> str:
    """`0.001`, or for groups that differ `0.001 to 0.01`."""
    low, high = min(rates), max(rates)
    return f"{low:.4g}" if _same(low, high) or low != low else f"{low:.4g} to {high:.4g}"  # noqa: PLR0124 - NaN is not itself


def _against_config(found: LearningRate, groups: Sequence[Group], schedulers: Sequence[Scheduler]) -> Iterator[Symptom]:
    if not all(map(math.isfinite, found.resumes_with)):
        yield Symptom(ERROR, "lr", ABOUT_THE_RATE, f"training resumes with lr {told(found.resumes_with)}")
        return
    stated = found.stated
    if stated is None or _among(stated.value, found.peak):
        return
    driven = bool(schedulers) or any(group.initial_lr is not None for group in groups)
    message = f"training resumes with {told(found.resumes_with)}, not with the {stated.value:.4g} of {stated.where}: {found.reason}{_origin(found, schedulers)}"
    yield Symptom(
        WARNING, "lr-config", ABOUT_THE_RATE, message, hint=_remedy(stated.value, found.peak, schedulers, driven=driven)
    )


def _unstated(config: Config) -> Iterator[Symptom]:
    """A config was given to compare with, and there is nothing in it to compare."""
    if config.lacks_a_rate:
        reason = f" ({config.unusable[0]})" if config.unusable else ""
        yield Symptom(
            WARNING,
            "lr-unstated",
            ABOUT_THE_RATE,
            f"{config.file} states no learning rate as a number{reason}: nothing was compared",
            hint="give the learning rate with --lr",
        )


def _origin(found: LearningRate, schedulers: Sequence[Scheduler]) -> str:
    """What the schedule computes from, if that is not the learning rate of the moment."""
    if not schedulers or _same(max(found.peak), max(found.resumes_with)):
        return ""
    has_peak = schedulers[0].kind in {"OneCycleLR", "CyclicLR"}
    return f", {'with the saved max_lr' if has_peak else 'from the saved base lr'} {told(found.peak)}"


def _remedy(wanted: float, peak: Sequence[float], schedulers: Sequence[Scheduler], *, driven: bool) -> str:
    """What really changes it; the tests try it on torch's schedulers."""
    if not driven or max(peak) == 0:
        return f"set group['lr'] = {wanted:.4g} in every param group after loading"
    factor = wanted / max(peak)
    places = schedulers[0].places_of_rates if schedulers else "scheduler.base_lrs"
    return f"multiply lr, initial_lr, max_lr and min_lr of every param group and {places} by {factor:.4g} after loading"


def _against_each_other(groups: Sequence[Group], schedulers: Sequence[Scheduler]) -> Iterator[Symptom]:
    """Optimizer and scheduler, which were saved together and should agree."""
    if not schedulers and any(group.initial_lr is not None for group in groups):
        yield Symptom(
            WARNING,
            "scheduler-missing",
            ABOUT_THE_RATE,
            "a scheduler drove this run (the param groups have an initial_lr), and its state is not in the checkpoint: a new one starts at step 0",
        )
    if len(schedulers) != 1:
        return
    scheduler = schedulers[0]
    rates = [group.lr for group in groups if group.lr is not None]
    if len(rates) == len(scheduler.last_lr) and not all(map(_same, rates, scheduler.last_lr)):
        yield Symptom(
            WARNING,
            "lr-disagrees",
            ABOUT_THE_RATE,
            f"the optimizer says {told(rates)} and {scheduler.kind} says {told(scheduler.last_lr)}: training resumes with the optimizer's, "
            "and at its next step the scheduler moves it",
        )
    initial = [group.initial_lr for group in groups if group.initial_lr is not None]
    if len(initial) == len(scheduler.base_lrs) and not all(map(_same, initial, scheduler.base_lrs)):
        yield Symptom(
            WARNING,
            "lr-disagrees",
            ABOUT_THE_RATE,
            f"the optimizer started from {told(initial)} (initial_lr), {scheduler.kind} from {told(scheduler.base_lrs)} (base_lrs)",
        )


def _lengths(schedulers: Sequence[Scheduler], stated: Sequence[Stated]) -> Iterator[Symptom]:
    for scheduler in schedulers:
        if (
            scheduler.kind == "OneCycleLR"
            and scheduler.length
            and scheduler.done is not None
            and scheduler.done >= scheduler.length[1]
        ):
            yield Symptom(
                WARNING,
                "schedule-over",
                ABOUT_THE_RATE,
                f"OneCycleLR is at {scheduler.progress}: its next step() raises; build a new scheduler to train longer",
            )
        for key in _SHARED_SETTINGS:
            for each in stated:
                saved = scheduler.settings.get(key)
                if saved is not None and each.is_called(key) and not _same(saved, each.value):
                    yield Symptom(
                        WARNING,
                        "schedule-config",
                        ABOUT_THE_RATE,
                        f"{scheduler.kind} resumes with {key} {saved:g}, not with the {each.value:g} of {each.where}: load_state_dict puts the saved one back",
                    )


def _without_optimizer(schedulers: Sequence[Scheduler]) -> Iterator[Symptom]:
    for scheduler in schedulers[:1]:
        saved = f", not with the saved {told(scheduler.last_lr)}" if scheduler.last_lr else ""
        yield Symptom(
            NOTE,
            "optimizer-missing",
            ABOUT_THE_RATE,
            f"{scheduler.kind} is in the checkpoint and the optimizer is not: training resumes with the lr of a new optimizer{saved}",
        )
