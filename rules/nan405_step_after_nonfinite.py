"""NAN405 step-after-nonfinite."""

from __future__ import annotations

from nanlint.rule import (
    Decision,
    Event,
    Finding,
    Fix,
    Hazard,
    Iterator,
    Label,
    LoopRule,
    Path,
    TrainingLoop,
    items,
    unsafe,
)

SUBJECTS = {
    "loss": "a loss that is not finite is",
    "gradients": "gradients that are not finite are",
    "norm": "a norm that is not finite is",
}


class StepAfterNonfinite(LoopRule):
    """Something that is not finite is found, and the optimizer makes its step all the same.

    ## Why it hurts
    Logging does not stop a NaN: the step writes it into the weights. Zeroing the gradients first is no skip either:
    Adam still moves every weight by its momentum, and AdamW decays them, for a batch that should not have counted.

    ## Flagged
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm):
            for p in model.parameters():
                p.grad.zero_()
        optimizer.step()

    ## Instead
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if torch.isfinite(norm):
            optimizer.step()
        optimizer.zero_grad()

    ## Silent when
    the step is skipped on every path behind the finding: continue, return, raise, break, else, a flag that is asked
    before the step; when the gradients are None by then (`zero_grad()`, `p.grad = None`), which an optimizer leaves out, or are computed again in between, or are those of another loss; when a GradScaler makes the step, which skips a bad
    one; where Accelerate, Fabric, Lightning or DeepSpeed makes it and may scale the loss; when the check calls code of another file that may stop the run, or stands in a function that returns what was found, and its caller asks something before the step.

    ## Fix
    Unsafe: the step goes under the opposite of the check, so that a bad batch makes none; all else is done as before, the
    step of a scheduler too (NAN413 tells of it). Batches that pass the check train as they did. Offered where check and step stand in one
    block, what is checked stays as it is up to the step, and `zero_grad` runs in every round. None elsewhere: a check of gradients
    that are then zeroed, one in another function, one that is made less often than the step.
    """

    code = "NAN405"
    name = "step-after-nonfinite"
    evidence = (items.LOST_AT_ONCE,)

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge every check of one loop."""
        told: set[object] = set()
        starts = {event.target for path in loop.plain_paths for event in path.events("backward")}
        for path in loop.plain_paths:
            for place, decision in path.checks():
                step = _step_behind(path, place, decision)
                if step is None or decision.test in told or _is_of_another(step, path, place, decision, starts):
                    continue
                told.add(decision.test)
                yield self.finding(
                    decision.span,
                    f"{SUBJECTS[decision.subject]} detected here, but `{step.quote(40)}` still runs",
                    fix=_fix(path, decision, step),
                    hazard=Hazard("step", decision.thing, "inf or NaN"),
                    labels=(Label(step.span, "the step is made all the same"),),
                )


def _step_behind(path: Path, place: int, decision: Decision) -> Event | None:
    """The plain step that follows a bad answer, unless something in between may make it good."""
    check = decision.check
    if check is None or not decision.is_bad or not check.is_sure or check.subject not in SUBJECTS:
        return None
    step = path.after(place, "step")
    if step is None or step[1].is_scaled or path.between(place, step[0], "opaque", "unscale_"):
        return None
    between = [event for at, event in path.each("clear", "zero_grad") if place < at < step[0]]
    if any(event.empties for event in between):
        return None
    if step[1].code is not decision.code and decision.is_returned and path.decisions(place + 1, step[0]):
        return None
    # A check of what another step has made is no matter of this one.
    if path.between(-1, place, "step") or path.before(step[0], "backward") is None or decision.may_stop:
        return None
    computed_again = path.before(place, "backward") is not None and path.between(place, step[0], "backward")
    return step[1] if not computed_again else None


def _is_of_another(step: Event, path: Path, place: int, decision: Decision, starts: set[str]) -> bool:
    """Whether what was found makes no backward on this path, and the step has gradients of another loss."""
    backwards = path.places("backward")
    is_used = decision.thing in {event.target for event in path.events("backward")}
    return decision.thing in starts and not is_used and place < backwards[0] < path.steps.index(step)


def _fix(path: Path, decision: Decision, step: Event) -> Fix | None:
    """The step under the opposite of the check; none where the gradients of the bad batch would stay for the next one."""
    place = path.steps.index(step)
    first = path.places("backward")[0]
    is_cleared = path.between(-1, first, "zero_grad") or path.between(place, len(path.steps), "zero_grad")
    if not step.is_bare or not is_cleared or path.after(place, "step") is not None:
        return None
    condition = decision.opposite_at(step)
    edits = step.under_condition(condition) if condition is not None else None
    return unsafe("Make no step for a batch that was found bad", edits)
