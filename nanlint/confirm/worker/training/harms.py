"""What a struck run shows: the harm that a rule tells of, in words, or None. One question for each rule."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.worker.training.loaded import OLD_SCALE, rates
from nanlint.confirm.worker.training.log import FLAGGED
from nanlint.confirm.worker.training.patches import Fault
from nanlint.confirm.worker.training.world import saved_tensors

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.confirm.worker.training.log import Log

INF, NAN = math.inf, math.nan
STEEP = 1e5
"""The norm that a steep gradient has."""
HUGE = 1e30
"""A gradient that is finite while its square is not."""
EXPLODED = 1e6
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
    struck = {weight for entry in log.of("fault") for weight in entry.more["weights"]}
    for entry in log.after("fault"):
        if entry.kind == "stepped" and entry.more["moved"] and struck & entry.more["weights"]:
            return f"the step behind {fault.words} is made: the weights move by {entry.more['moved']:.3g}"
        if entry.kind == "forward":
            return None
    return None


def _misses_the_norm(log: Log, fault: Fault) -> str | None:
    """A gradient whose norm overflows is clipped to nothing."""
    empty = any(entry.kind == "step" and not entry.more["norm"] for entry in log.after("fault"))
    told = f"{fault.words} has an infinite norm and is clipped to 0: the step is empty"
    return told if empty and fault.times == HUGE and not log.of("scaler.scale") else weights_broken(log, fault)


def _unclipped(log: Log, fault: Fault) -> str | None:
    """A steep gradient leaves the last clip before the step as it came, or meets none."""
    told = None
    for entry in log.after("fault"):
        if entry.kind == "clip" and entry.more["before"] > 0.1 * STEEP:
            before, after = entry.more["before"], entry.more["after"]
            passes = after > 0.5 * before
            told = f"a gradient of norm {before:.3g} leaves the clip with {after:.3g}" if passes else None
        elif entry.kind == "step" and entry.more["norm"] > 0.1 * STEEP:
            return told or f"{fault.words} is stepped with: no clip came before"
        elif entry.kind in {"step", "forward"}:
            break
    return told


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
    """The loop goes on as if nothing had been: what was not finite is a number, a large loss has no gradient."""
    behind = log.after("fault")
    steps, losses = ([one for one in behind if one.kind == kind] for kind in ("step", "backward"))
    if log.error is not None or log.tells_more or not steps or not any(one.kind == FLAGGED for one in behind):
        return None
    if fault.added == EXPLODED:
        return f"{fault.words} has no gradient, and the loop goes on" if not steps[0].more["norm"] else None
    seen = losses[0].more["loss"] if fault.added and losses else steps[0].more["norm"]
    told = f"{fault.words} becomes {seen:.3g}, and the loop neither raises nor tells of it"
    return told if math.isfinite(seen) else None


def _scaler_misused(log: Log, _: Fault) -> str | None:
    error = log.error
    if error is not None and "grad_scaler" in _where(error):
        return f"it raises {type(error).__name__}: {error}"
    scaled = False
    dtypes: set[torch.dtype] = set()
    for entry in log.entries:
        scaled = scaled or entry.kind == "scaler.scale"
        dtypes = entry.more["dtypes"] if entry.kind == "forward" else dtypes
        if entry.kind == "scaler.scale" and entry.more["scale"] > 1 and dtypes == {torch.bfloat16}:
            return "bfloat16 gradients are scaled, which they need not be"
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
    harm = _unclipped(log, fault) if log.of("clip") else None
    steps = log.of("step")
    before = itertools.takewhile(lambda entry: entry.kind != "step", log.entries)
    made = [entry for entry in before if entry.kind == "scheduled"]
    if harm is None and steps and all(step.more["norm"] == 0 for step in steps):
        return "every step is made with gradients of 0"
    if harm is None and steps and made and not math.isclose(steps[0].more["rate"], made[-1].more["rate"]):
        return f"the first step has the rate {steps[0].more['rate']:g} instead of {made[-1].more['rate']:g}"
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
    """A schedule that was restored goes by the rates of the older run, and nobody has set them right since, or refused."""
    if isinstance(log.error, (ValueError, AssertionError)) and _where(log.error) == log.path:
        return None
    for entry in log.of("restored"):
        what, asked, got = entry.more["what"], entry.more["before"], rates(entry.more["thing"])
        if what in {"scheduler", "optimizer"} and asked and got and got[0] > 5 * asked[0]:
            return f"the run is configured with a rate of {asked[0]:g}, and the resumed {what} goes by {got[0]:g}"
    return None


def _scale_lost(log: Log, _: Fault) -> str | None:
    restored = {entry.more["what"] for entry in log.of("restored")}
    returned = [entry.more["thing"] for entry in log.of("returned")]
    scales = [entry.more["scale"] for entry in log.of("scaler.scale")]
    scales += [thing.get_scale() for thing in returned if isinstance(thing, torch.amp.GradScaler)]
    if restored >= {"optimizer"} and "scaler" not in restored and scales:
        return f"the resumed run begins with a scale of {scales[0]:g}, where the old one had {OLD_SCALE:g}"
    return None


def _waits(log: Log, fault: Fault) -> str | None:
    """The process that meets the fault does not come to where it meets the others."""
    other = log.other
    missed = other is not None and log.meetings != other.meetings
    return f"one of two processes has {fault.words} and skips, and the other waits for good" if missed else None


def _stops_at_one(log: Log, _: Fault) -> str | None:
    error = log.error
    is_it = isinstance(error, ValueError) and "more than 1 value" in str(error)
    return f"the epoch ends with ValueError: {error}" if is_it else None


HARMS: dict[str, tuple[tuple[Fault, ...], Callable[[Any, Fault], str | None]]] = {
    "NAN401": ((_STEEP,), _unclipped),
    "NAN402": ((Fault(),), _clips_scaled),
    "NAN403": ((*_GRADIENT, Fault(times=HUGE, words="a gradient of 1e30")), _misses_the_norm),
    "NAN404": (_LOSS[::-1], weights_broken),
    "NAN404 gradients": (_GRADIENT[::-1], weights_broken),
    "NAN405": (_LOSS, _stepped),
    "NAN405 gradients": ((*_GRADIENT, *_LOSS), _stepped),
    "NAN406": ((*_LOSS, *_GRADIENT), _never_steps_again),
    "NAN407": ((*_LOSS, _GRADIENT[0], Fault(added=EXPLODED, words="a loss of 1e6")), _hidden),
    "NAN408": ((Fault(), _GRADIENT[1]), _scaler_misused),
    "NAN409": (_LOSS[:1], _waits),
    "NAN410": ((_STEEP,), _out_of_order),
    "NAN411": ((*_LOSS, *_GRADIENT), weights_broken),
    "NAN412": ((*_LOSS, *_GRADIENT), weights_broken),
    "NAN413": ((_GRADIENT[1], _GRADIENT[0]), _schedule_runs_on),
    "NAN501": ((Fault(),), _rate_overridden),
    "NAN502": ((*_LOSS, *_GRADIENT), _saved),
    "NAN503": ((Fault(),), _scale_lost),
    "NAN504": ((*_LOSS, *_GRADIENT), _average),
    "NAN605": ((Fault(),), _stops_at_one),
}
"""The faults that are tried for a rule, and what shows its harm."""
_OF_LOSS, _OF_GRADIENTS = re.compile(r"\bloss"), re.compile(r"norm|grad")
_CHECK = re.compile(r"isnan|isinf|isfinite|finite|\bif\b|assert")
RESUMES = frozenset({"NAN501", "NAN503"})


def harm_of(code: str, lines: list[str], target: dict[str, Any]) -> str:
    """The name of the harm: a check behind the backward looks at gradients, one before it at the loss."""
    behind = f"{code} gradients"
    if behind not in HARMS:
        return code
    begin = max((line for line in target["function_lines"] if line <= target["first"]), default=1)
    checks = [number for number in range(begin, target["last"] + 1) if _CHECK.search(lines[number - 1])]
    check = next(iter(checks), target["last"]) if target.get("anywhere") else target["first"]
    named = lines[check - 1]
    of_loss = code in {"NAN404", "NAN405"} and _OF_LOSS.search(named) and not _OF_GRADIENTS.search(named)
    return behind if not of_loss and any(".backward(" in line for line in lines[begin - 1 : check - 1]) else code
