"""What a struck run shows: the harm that a rule tells of, in words, or None. One question for each rule."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.worker.training.loaded import OLD_SCALE, rates
from nanlint.confirm.worker.training.patches import Fault
from nanlint.confirm.worker.training.world import saved_tensors

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.confirm.worker.training.log import Log

INF, NAN = math.inf, math.nan
STEEP = 1e5
"""The norm that a steep gradient has."""
_LOSS = (Fault(added=NAN, times=NAN, words="a NaN loss"), Fault(added=INF, times=NAN, words="an inf loss"))
_GRADIENT = (Fault(times=NAN, words="a NaN gradient"), Fault(times=INF, words="an inf gradient"))
_STEEP = Fault(times=STEEP, words=f"a gradient of norm {STEEP:g}")


def weights_broken(log: Log, fault: Fault) -> str | None:
    """A step has put the fault into the weights."""
    steps = log.of("stepped")
    place = next((place for place, step in enumerate(steps) if not step.more["finite"]), None)
    return f"{fault.words} is in the weights after step {place}" if place is not None else None


def _stepped(log: Log, fault: Fault) -> str | None:
    broken = weights_broken(log, fault)
    if broken is not None:
        return broken
    for entry in log.after("fault"):
        if entry.kind == "stepped" and entry.more["moved"]:
            return f"the step behind {fault.words} is made: the weights move by {entry.more['moved']:.3g}"
        if entry.kind == "forward":
            return None
    return None


def _unclipped(log: Log, fault: Fault) -> str | None:
    """A steep gradient leaves the clip as it came, or meets none before the step."""
    for entry in log.after("fault"):
        if entry.kind == "clip" and entry.more["before"] > 0.1 * STEEP:
            if entry.more["after"] > 0.5 * entry.more["before"]:
                return f"a gradient of norm {entry.more['before']:.3g} leaves the clip with {entry.more['after']:.3g}"
            return None
        if entry.kind == "step":
            norm = entry.more["norm"]
            return f"{fault.words} is stepped with: no clip came before" if norm > 0.1 * STEEP else None
    return None


def _clips_scaled(log: Log, _: Fault) -> str | None:
    """A clip saw gradients that were scaled: what is left of them after unscaling is next to nothing."""
    scale, seen, by = 1.0, 0.0, 1.0
    for entry in log.entries:
        if entry.kind == "scaler.scale":
            scale = entry.more["scale"]
        elif entry.kind == "scaler.unscale_":
            scale = 1.0
        elif entry.kind == "clip":
            seen, by = (
                (entry.more["before"], scale) if scale > 1 and math.isfinite(entry.more["before"]) else (0.0, 1.0)
            )
        elif entry.kind == "step" and seen:
            true, got = seen / by, entry.more["norm"]
            if got < 0.1 * true:
                return f"the clip sees a norm of {seen:.3g}, {by:g} times that of the gradient: the step gets {got:.3g} of {true:.3g}"
    return None


def _never_steps_again(log: Log, fault: Fault) -> str | None:
    broken = weights_broken(log, fault)
    if broken is not None:
        return broken
    behind = log.after("fault")
    rounds = [entry for entry in behind if entry.kind == "backward"]
    moved = [entry for entry in behind if entry.kind == "stepped" and entry.more["moved"]]
    later = len(rounds) >= 4
    return f"after {fault.words} no step is made in {len(rounds) - 1} later rounds" if later and not moved else None


def _hidden(log: Log, fault: Fault) -> str | None:
    behind = log.after("fault")
    losses = [entry.more["loss"] for entry in behind if entry.kind == "backward"]
    if log.error is None and losses and math.isfinite(losses[0]) and any(one.kind == "stepped" for one in behind):
        return f"{fault.words} becomes {losses[0]:g}, and the loop neither raises nor leaves the batch out"
    return None


def _scaler_misused(log: Log, _: Fault) -> str | None:
    error = log.error
    if error is not None and "grad_scaler" in _where(error):
        return f"it raises {type(error).__name__}: {error}"
    scaled = False
    for entry in log.entries:
        scaled = scaled or entry.kind == "scaler.scale"
        if entry.kind == "backward" and entry.more["autocast"]:
            return "the backward runs under autocast"
        if entry.kind == "step" and scaled and entry.more["norm"] > 1e3:
            return f"a step is made with a gradient of norm {entry.more['norm']:.3g}, which was not unscaled"
    return None


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename if trace is not None else ""


def _out_of_order(log: Log, fault: Fault) -> str | None:
    harm = _unclipped(log, fault)
    steps = log.of("step")
    if harm is None and steps and all(step.more["norm"] == 0 for step in steps):
        return "every step is made with gradients of 0"
    schedules = [entry for entry in log.entries if entry.kind in {"schedule", "step"}]
    if harm is None and schedules and schedules[0].kind == "schedule" and steps:
        return "the schedule steps before the optimizer does"
    return harm


def _schedule_runs_on(log: Log, fault: Fault) -> str | None:
    behind = log.after("fault")
    for entry in behind:
        if entry.kind == "stepped":
            return None
        if entry.kind == "schedule":
            return f"the schedule moves on although the step behind {fault.words} is skipped"
    return None


def _saved(log: Log, fault: Fault) -> str | None:
    bad = any(not entry.more["finite"] for entry in log.of("save"))
    return f"after {fault.words} the saved file is not finite" if bad else None


def _average(log: Log, fault: Fault) -> str | None:
    """Something that the flagged line has at hand, and no optimizer trains, holds NaN."""
    trained = {
        weight.data_ptr()
        for entry in log.of("step")
        for group in entry.more["optimizer"].param_groups
        for weight in group["params"]
    }
    held = [thing for thing in log.seen.values() if not isinstance(thing, torch.Tensor)]
    held += [inner for thing in held if hasattr(thing, "__dict__") for inner in vars(thing).values()]
    for thing in held:
        modules = isinstance(thing, (torch.nn.Module, list, tuple, dict))
        for tensor in saved_tensors(thing) if modules else ():
            average = not tensor.requires_grad or isinstance(tensor, torch.nn.Parameter) or isinstance(thing, list)
            if average and tensor.data_ptr() not in trained and not bool(torch.isfinite(tensor).all()):
                return f"after {fault.words} the average holds NaN"
    return None


def _rate_overridden(log: Log, _: Fault) -> str | None:
    """A schedule that was restored goes by the rates of the older run, and nobody has set them right since."""
    for entry in log.of("restored"):
        what, asked, got = entry.more["what"], entry.more["before"], rates(entry.more["thing"])
        if what in {"scheduler", "optimizer"} and asked and got and got[0] > 5 * asked[0]:
            return f"the run is configured with a rate of {asked[0]:g}, and the resumed {what} goes by {got[0]:g}"
    return None


def _scale_lost(log: Log, _: Fault) -> str | None:
    restored = {entry.more["what"] for entry in log.of("restored")}
    scales = [entry.more["scale"] for entry in log.of("scaler.scale")]
    if restored >= {"optimizer"} and "scaler" not in restored and scales:
        return f"the resumed run begins with a scale of {scales[0]:g}, where the old one had {OLD_SCALE:g}"
    return None


HARMS: dict[str, tuple[tuple[Fault, ...], Callable[[Any, Fault], str | None]]] = {
    "NAN401": ((_STEEP,), _unclipped),
    "NAN402": ((Fault(),), _clips_scaled),
    "NAN403": (_GRADIENT, weights_broken),
    "NAN404": (_LOSS[::-1], weights_broken),
    "NAN404 gradients": (_GRADIENT[::-1], weights_broken),
    "NAN405": (_LOSS, _stepped),
    "NAN405 gradients": ((*_GRADIENT, *_LOSS), _stepped),
    "NAN406": ((*_LOSS, *_GRADIENT), _never_steps_again),
    "NAN407": ((_LOSS[0],), _hidden),
    "NAN408": ((Fault(), _GRADIENT[1]), _scaler_misused),
    "NAN410": ((_STEEP,), _out_of_order),
    "NAN411": ((*_LOSS, *_GRADIENT), weights_broken),
    "NAN412": ((*_LOSS, *_GRADIENT), weights_broken),
    "NAN413": ((_GRADIENT[1], _GRADIENT[0]), _schedule_runs_on),
    "NAN501": ((Fault(),), _rate_overridden),
    "NAN502": ((*_LOSS, *_GRADIENT), _saved),
    "NAN503": ((Fault(),), _scale_lost),
    "NAN504": ((*_LOSS, *_GRADIENT), _average),
}
"""The faults that are tried for a rule, and what shows its harm."""
RESUMES = frozenset({"NAN501", "NAN503"})
