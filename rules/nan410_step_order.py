"""NAN410 step-order."""

from __future__ import annotations

import re

from nanlint.rule import Event, Finding, Hazard, Iterator, LoopRule, Path, TrainingLoop, items, show

PLACES = {
    "clip": "move it above the step",
    "zero_grad": "move it above the backward, or below the step",
    "schedule": "move it below the step",
}
COMPARED = re.compile(r"[<>]|==|%")


class StepOrder(LoopRule):
    """The calls of a training step stand in an order in which one of them has no effect.

    ## Why it hurts
    A clip after the step clips nothing: the gradient of norm 1e5 is already in the weights. Gradients that are zeroed
    between backward and step make a step of weight decay and old momentum. A scheduler that steps first skips
    the first value of its warm-up.

    ## Flagged
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)

    ## Instead
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    ## Silent when
    another order is taken on some path; for gradients of several optimizers that only some calls are about; when code of another file
    gets the optimizer in between; for gradients that were zeroed after another optimizer had used them, or are set by hand behind that;
    for a scheduler in another loop than the optimizer, as one that steps per epoch, or that steps from some round on. At `info` for a
    scheduler that is not known to be torch's: one of somebody's own may be meant to step first.

    ## Fix
    Sketch: where the line belongs. What else stands between the two is for the author to look at.
    """

    code = "NAN410"
    name = "step-order"

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge the order of events in one loop."""
        for kind, judge in (("clip", _late_clip), ("zero_grad", _lost_gradients), ("schedule", _early_schedule)):
            for event in loop.of(kind):
                ways = [judge(path, event, loop) for path in loop.paths if event in path.steps]
                if ways and all(ways):
                    hazard = Hazard(event.kind.value, event.target, "out of order")
                    evidence = (items.MILD,) if kind == "schedule" else ()
                    yield self.finding(event.span, ways[0], fix=show(PLACES[kind]), hazard=hazard, evidence=evidence)


def _late_clip(path: Path, clip: Event, loop: TrainingLoop) -> str:
    place = path.steps.index(clip)
    start, step = path.after(-1, "backward"), path.before(place, "step", "opaque")
    if start is None or step is None or step[0] < start[0] or len(loop.optimizers) > 1:
        return ""
    if path.after(place, "backward", "step", "opaque") or path.between(start[0], step[0], "clip"):
        return ""
    return f"`{clip.quote(40)}` comes after `{step[1].quote(30)}` and clips nothing"


def _lost_gradients(path: Path, zeroing: Event, loop: TrainingLoop) -> str:
    place = path.steps.index(zeroing)
    behind, before = path.after(place, "backward", "step", "opaque", "clear"), path.before(place, "backward", "step")
    if behind is None or behind[1].kind != "step" or behind[1].is_framework:
        return ""
    # Where something was found not to be finite, the step is meant to do nothing.
    if any(at < place and decision.is_bad for at, decision in path.checks()):
        return ""
    # Another optimizer has used the gradients; the step of this one is about something else, as a proximal one is.
    if before is not None and before[1].kind == "step":
        return ""
    same = behind[1].target == zeroing.target or len(loop.optimizers) == 1
    starts = path.places("backward")
    if not same or not starts or len(loop.of("backward")) > len(starts):
        return ""
    return f"`{zeroing.quote(35)}` empties the gradients that `{behind[1].quote(35)}` needs"


def _early_schedule(path: Path, schedule: Event, loop: TrainingLoop) -> str:
    place = path.steps.index(schedule)
    step = path.after(place, "step")
    if loop.is_step_method or step is None or path.before(place, "step") or path.places("opaque"):
        return ""
    if not schedule.is_bare:
        return ""  # `scheduler.step(iteration)` sets the rate of this very round
    # Behind `step < warmup` it is not the first rate that is skipped; a flag is what it is in every round.
    decisions = path.decisions(0, place)
    if path.after(place, "schedule") or (decisions and COMPARED.search(decisions[-1].text)):
        return ""
    return f"`{schedule.quote(35)}` comes before `{step[1].quote(35)}`: the first rate is skipped"
