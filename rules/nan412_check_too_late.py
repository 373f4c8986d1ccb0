"""NAN412 check-too-late."""

from __future__ import annotations

from nanlint.rule import Decision, Finding, Hazard, Iterator, LoopRule, Path, TrainingLoop, show, word_set

STOPPING = word_set("raise exit break return")


class CheckTooLate(LoopRule):
    """The loss or the gradients are checked after the step that has already used them.

    ## Why it hurts
    When the check finds a NaN, the optimizer has written it into the weights, and the moving average has taken it over.
    Skipping the rest of the round saves nothing: every batch from here on is NaN.

    ## Flagged
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        if not torch.isfinite(loss):
            print("skipped a bad batch")
            continue

    ## Instead
        loss = model(batch).mean()
        if not torch.isfinite(loss):
            print("skipped a bad batch")
            continue
        loss.backward()
        optimizer.step()

    ## Silent when
    the check stops the run before anything is saved: raise, exit, break, return; when there is another check before the
    step; when a GradScaler makes the step, which skips a bad one; with Accelerate, Fabric, Lightning and DeepSpeed;
    for parameters, which are checked after a step by their nature.

    ## Fix
    Sketch: the check belongs above the backward of a loss, or above the step for gradients and norms.
    """

    code = "NAN412"
    name = "check-too-late"

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge every check of one loop."""
        told: set[object] = set()
        for path in loop.plain_paths:
            for place, decision in path.checks():
                if decision.test in told or not _is_late(path, place, decision):
                    continue
                told.add(decision.test)
                step = path.events("step")[0]
                message = f"`{decision.quote(45)}` is asked after `{step.quote(30)}` has used it"
                hazard = Hazard("step", decision.thing, "inf or NaN")
                fix = show(f"ask it before `{step.quote(30)}`, and make no step if it is bad")
                yield self.finding(decision.span, message, fix=fix, hazard=hazard)


def _is_late(path: Path, place: int, decision: Decision) -> bool:
    """Whether a bad answer comes after the only step of the round, and the run goes on or saves."""
    check = decision.check
    if not decision.is_bad or check is None or check.subject == "parameters" or decision.may_stop:
        return False
    step, start = path.before(place, "step"), path.after(-1, "backward")
    if step is None or start is None or step[1].is_scaled or start[0] > step[0] or len(path.places("step")) != 1:
        return False
    if any(at < step[0] for at, _ in path.checks()) or path.places("opaque") or path.after(place, "backward"):
        return False
    return path.end not in STOPPING or path.between(step[0], len(path.steps), "save")
