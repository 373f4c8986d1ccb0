"""What shows that a training loop does harm: one proof per rule, by fault injection into a loop with real torch objects.

A proof takes the user's loop and returns the harm in words, or None. `loops.drive` runs it with a model of two weights; a
loop that asks for more than it has to offer is not run.
"""

from __future__ import annotations

import inspect
import math
import re
import traceback
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.worker.loops import (
    AT,
    INF_GRADIENT,
    INF_LOSS,
    NAN_GRADIENT,
    NAN_LOSS,
    NO_FAULT,
    NOT_FINITE,
    OTHER_NAMES,
    RATE,
    ROUNDS,
    STEEP,
    STEEP_GRADIENT,
    Fault,
    FaultyLine,
    Run,
    drive,
    parts,
)
from nanlint.confirm.worker.placement import chosen
from nanlint.confirm.worker.processes import wait_for_each_other
from nanlint.confirm.worker.subject import CannotRun

if TYPE_CHECKING:
    from collections.abc import Callable

Loop = "Callable[..., Any]"
HUGE = Fault(times=1e30)
"""A gradient that is finite while its square is not."""
EXPLODED = Fault(added=1e6)
FOUND = 2048.0
"""The scale that an old run had reached."""
_UNSET = {"config": SimpleNamespace(clip=None, lr=RATE, steps=ROUNDS, accumulate=2), "settings": {}}
"""Settings of a user who has not thought of a bound."""
_FAULTS = {
    NAN_LOSS: "a NaN loss",
    INF_LOSS: "an inf loss",
    NAN_GRADIENT: "a NaN gradient",
    INF_GRADIENT: "an inf gradient",
    HUGE: "a gradient of 1e30",
    STEEP_GRADIENT: "a gradient of norm 1e5",
}


def _is_poisoned(loop: Any, faults: tuple[Fault, ...] = NOT_FINITE) -> str | None:
    """The weights are not finite after a bad batch."""
    for fault in faults:
        run = drive(loop, fault)
        if not run.is_finite:
            return f"{_FAULTS[fault]} in round {AT} is in the weights: {run.course}"
    return None


def _is_unclipped(loop: Any) -> str | None:
    for told, config in (("", {}), (" where the settings set no bound", _UNSET)):
        run = drive(loop, STEEP_GRADIENT, decay=0.0, more=config)
        if run.longest >= 0.09 * RATE * STEEP:
            return f"a gradient of norm 1e5 moves the weight by {run.longest:g}{told}: nothing is clipped"
    return None


def _stands_still(loop: Any) -> str | None:
    run = drive(loop, decay=0.0)
    # The gradient is 0.1, below every bound: an honest step is about a hundredth long.
    if run.error is None and run.longest < 0.01 * RATE * 0.1:
        return f"the longest step is {run.longest:g} where an unscaled one is {RATE * 0.1:g}"
    return None


def _misses_the_norm(loop: Any) -> str | None:
    harm = _is_poisoned(loop)
    scales = "scaler" in _required(_step_of(loop))
    if harm is None and not scales and 0.0 in drive(loop, HUGE).gradients:
        return "a gradient of 1e30 has an infinite norm and is clipped to 0: the step is empty"
    return harm


def _steps_on_bad(loop: Any, faults: tuple[Fault, ...] = NOT_FINITE) -> str | None:
    for fault in faults:
        run = drive(loop, fault)
        if not run.is_finite or run.moved_in(AT):
            return f"the weight moves in round {AT}, which had {_FAULTS[fault]}: {run.course}"
    return None


def _keeps_bad(loop: Any) -> str | None:
    for fault in (INF_GRADIENT, NAN_GRADIENT):
        run = drive(loop, fault)
        if not run.is_finite or not any(run.moved_in(later) for later in range(AT + 1, ROUNDS)):
            return f"after {_FAULTS[fault]} in round {AT} no step is taken any more: {run.course}"
    return None


def _is_hidden(loop: Any) -> str | None:
    for fault in (NAN_LOSS, NAN_GRADIENT, INF_LOSS):
        run = drive(loop, fault)
        if run.error is None and not run.printed and len(run.model.before) == ROUNDS:
            return f"{_FAULTS[fault]} in round {AT}: the loop neither raises, nor prints, nor leaves the batch out"
    run = drive(loop, EXPLODED)
    return "an exploded loss has no gradient" if run.error is None and 0.0 in run.gradients else None


def _misuses_scaler(loop: Any) -> str | None:
    runs = [drive(loop, fault) for fault in (NO_FAULT, INF_GRADIENT)]
    for run in runs:
        if run.error is not None:
            return f"it raises {type(run.error).__name__}: {run.error}"
    seen = runs[0].model.seen
    if runs[0].longest > 100 * RATE:
        return f"a step is {runs[0].longest:g} long: the gradient was not unscaled"
    if any(one.under_autocast for one in seen):
        return "the backward runs under autocast"
    scaled = any(one.dtype is torch.bfloat16 and one.size > 1e3 for one in seen)
    return "bfloat16 gradients are scaled, which they need not be" if scaled else None


def _is_out_of_order(loop: Any) -> str | None:
    harm = _is_unclipped(loop)
    if harm is not None:
        return harm
    run = drive(loop, decay=0.0)
    first = run.optimizer.param_groups[0].get("initial_lr", RATE)
    if run.error is None and run.longest == 0:
        return "the weight never moves: nothing is learned"
    if run.rates and not math.isclose(run.rates[0], first):
        return f"the first step has the rate {run.rates[0]:g} instead of {first:g}"
    return None


def _is_late(loop: Any) -> str | None:
    for fault in NOT_FINITE:
        run = drive(loop, fault)
        if (not run.is_finite and run.error is None) or not all(run.saved.values()):
            return (
                f"{_FAULTS[fault]} in round {AT} is in the weights or in what was saved, and the check changed nothing"
            )
    return None


def _counts_skipped(loop: Any) -> str | None:
    run = drive(loop, INF_GRADIENT)
    scheduler = run.things.get("scheduler")
    if scheduler is not None and scheduler.last_epoch > len(run.rates):
        return f"the schedule is at {scheduler.last_epoch} after {len(run.rates)} steps of the optimizer"
    return None


def _saves_bad(loop: Any) -> str | None:
    for fault in NOT_FINITE:
        if not all(drive(loop, fault).saved.values()):
            return f"after {_FAULTS[fault]} in round {AT} the saved file is not finite"
    return None


def _averages_bad(loop: Any) -> str | None:
    for fault in NOT_FINITE:
        weight = drive(loop, fault).things["ema"].module.line.weight
        if not bool(torch.isfinite(weight).all()):
            return f"after {_FAULTS[fault]} in round {AT} the average holds NaN"
    return None


def _waits(loop: Any) -> str | None:
    return "one of two processes skips, and the other waits for good" if wait_for_each_other(loop, NAN_LOSS) else None


def _forgets_scale(resume: Any) -> str | None:
    model = FaultyLine()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    old = torch.amp.GradScaler(chosen().type, init_scale=FOUND)
    # A scale is real once something was scaled.
    old.scale(torch.ones(1, device=chosen()))
    states = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scaler": old.state_dict()}
    scaler = resume(model, optimizer, states)
    found = scaler.get_scale() if hasattr(scaler, "get_scale") else FOUND
    return f"the resumed scale is {found:g}, that of the saved run {FOUND:g}" if found != FOUND else None


def _stops_at_one(loop: Any) -> str | None:
    """An epoch over five samples: batches of four leave one."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    try:
        loop(model=model, optimizer=optimizer, samples=torch.randn(5, 3))
    except ValueError as error:
        return f"the epoch ends with ValueError: {error}" if "more than 1 value" in str(error) else None
    return None


PROOFS: dict[str, Callable[[Any], str | None]] = {
    "NAN401": _is_unclipped,
    "NAN402": _stands_still,
    "NAN403": _misses_the_norm,
    "NAN404": lambda loop: _is_poisoned(loop, (INF_LOSS, NAN_LOSS)),
    "NAN404 gradients": lambda loop: _is_poisoned(loop, (INF_GRADIENT, NAN_GRADIENT)),
    "NAN405": lambda loop: _steps_on_bad(loop, (NAN_LOSS, INF_LOSS)),
    "NAN405 gradients": _steps_on_bad,
    "NAN406": _keeps_bad,
    "NAN407": _is_hidden,
    "NAN408": _misuses_scaler,
    "NAN409": _waits,
    "NAN410": _is_out_of_order,
    "NAN411": _is_poisoned,
    "NAN412": _is_late,
    "NAN413": _counts_skipped,
    "NAN502": _saves_bad,
    "NAN503": _forgets_scale,
    "NAN504": _averages_bad,
    "NAN605": _stops_at_one,
}
"""The rules whose harm a driven loop can show; what is checked may be the loss or the gradients, so some have two."""
_NOT_DRIVEN = frozenset({"NAN503", "NAN605"})


def proof_of(code: str, lines: list[str], target: dict[str, Any]) -> str:
    """The name of the proof: a check behind the backward looks at gradients, one before it at the loss."""
    behind = f"{code} gradients"
    if behind not in PROOFS:
        return code
    begin = max((line for line in target["function_lines"] if line <= target["first"]), default=1)
    checks = [number for number in range(begin, target["last"] + 1) if _CHECK.search(lines[number - 1])]
    check = next(iter(checks), target["last"]) if target.get("anywhere") else target["first"]
    named = lines[check - 1]
    of_loss = code in {"NAN404", "NAN405"} and _OF_LOSS.search(named) and not _OF_GRADIENTS.search(named)
    return behind if not of_loss and any(".backward(" in line for line in lines[begin - 1 : check - 1]) else code


_OF_LOSS, _OF_GRADIENTS = re.compile(r"\bloss"), re.compile(r"norm|grad")
_CHECK = re.compile(r"isnan|isinf|isfinite|finite|\bif\b|assert")


def prove(code: str, loop: Any) -> str | None:
    """The harm that a loop does, in words; None if the faults did none. CannotRun if it cannot be driven."""
    if code not in _NOT_DRIVEN:
        loop = _as_loop(loop)
        _require_drivable(loop)
    try:
        return PROOFS[code](loop)
    except (TypeError, KeyError, AttributeError) as error:
        raise CannotRun(f"the loop could not be driven: {type(error).__name__}: {error}") from None


def _as_loop(thing: Any) -> Any:
    """A loop as it is; around a function or a method that takes a loss and steps, the loop that calls it."""
    step = _step_of(thing)
    if "loss" not in _required(step):
        return thing

    def loop(model: Any, optimizer: Any, batches: Any, scaler: Any, config: Any) -> None:
        settings = {"clip": config.clip} if config.clip is not None else {}
        things = {**parts(model, optimizer), "scaler": scaler, "config": config, "settings": settings}
        things["accelerator"] = _Accelerator()
        made = thing(**{name: things[name] for name in _required(thing.__init__)}) if inspect.isclass(thing) else None
        bound = getattr(made, step.__name__) if made is not None else thing
        for batch in batches:
            optimizer.zero_grad()
            loss = model(batch).sum()
            bound(**{name: loss if name == "loss" else things[name] for name in _required(step)})

    return loop


class _Accelerator:
    """What trainers ask of an accelerator, done plainly."""

    clip_grad_norm_ = staticmethod(torch.nn.utils.clip_grad_norm_)
    clip_grad_value_ = staticmethod(torch.nn.utils.clip_grad_value_)
    sync_gradients = True

    @staticmethod
    def backward(loss: torch.Tensor) -> None:
        """Backward, as everybody's."""
        loss.backward()  # type: ignore[no-untyped-call] # torch has no types for it


def _step_of(thing: Any) -> Any:
    """The function itself; of a class, the method that takes a loss, or the first one."""
    if not inspect.isclass(thing):
        return thing
    methods = [value for name, value in vars(thing).items() if inspect.isfunction(value) and name != "__init__"]
    loops = [one for one in methods if "batches" in _required(one) or "loader" in _required(one)]
    if loops:
        return loops[0]
    return next((one for one in methods if "loss" in _required(one)), methods[0] if methods else thing.__init__)


def _required(function: Any) -> list[str]:
    return [
        one.name
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty and one.kind not in {one.VAR_KEYWORD, one.VAR_POSITIONAL} and one.name != "self"
    ]


def _require_drivable(loop: Any) -> None:
    """The loop must ask for nothing but what the driver has."""
    offered = {*parts(FaultyLine(), _optimizer()), "scheduler", *OTHER_NAMES["scheduler"], "self", "args"}
    functions = [loop.__init__, _step_of(loop)] if inspect.isclass(loop) else [loop]
    driven = {"batches", "model", *OTHER_NAMES["batches"], *OTHER_NAMES["model"]}
    if not any(driven & set(_required(function)) for function in functions):
        raise CannotRun("it takes neither a model nor batches, so it cannot be driven as a loop")
    for function in functions:
        strangers = [name for name in _required(function) if name not in offered]
        if strangers:
            aliases = {name for names in OTHER_NAMES.values() for name in names}
            have = ", ".join(sorted(offered - aliases - {"self", "args"}))
            raise CannotRun(f"the loop asks for {', '.join(strangers)}; it is driven with {have}")
    run: Run = drive(loop)
    if not run.is_finite:
        raise CannotRun("the loop could not be driven: its weights are not finite even without a fault")
    if run.error is not None and not _is_torchs_own(run.error):
        raise CannotRun(f"the loop could not be driven: {type(run.error).__name__}: {run.error}")


def _is_torchs_own(error: Exception) -> bool:
    """Whether the scaler complains of how it is used, which is a harm, or no other process is there, which a proof supplies."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename.endswith(("grad_scaler.py", "distributed_c10d.py"))


def _optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD(FaultyLine().parameters(), lr=RATE)
