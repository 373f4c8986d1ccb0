"""NAN405 step-after-nonfinite."""

from __future__ import annotations

from nanlint.rule import (
    Decision,
    Direction,
    Event,
    Facts,
    Finding,
    Hazard,
    Iterator,
    Path,
    Rule,
    Severity,
    TrainingLoop,
)

SUBJECTS = frozenset({"loss", "gradients", "norm"})


class StepAfterNonfinite(Rule):
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
    before the step; when the gradients are computed again in between; when a GradScaler makes the step, which skips a bad
    one; with Accelerate, Fabric, Lightning and DeepSpeed; when the check calls code of another file that may stop the run.

    ## Fix
    None: what else is to be skipped with the step (a scheduler, a counter, a log line) is for the author to say.
    """

    code = "NAN405"
    name = "step-after-nonfinite"
    severity = Severity.ERROR
    direction = Direction.LOOP
    loops = frozenset({"backward"})

    def check_loop(self, loop: TrainingLoop, facts: Facts) -> Iterator[Finding]:
        """Judge every check of one loop."""
        del facts
        if loop.is_framework:
            return
        told: set[object] = set()
        for path in loop.paths:
            for place, decision in path.checks():
                step = _step_behind(path, place, decision)
                if step is None or decision.test in told:
                    continue
                told.add(decision.test)
                message = f"`{decision.quote(40)}` finds it, and `{step.quote(30)}` still runs"
                hazard = Hazard("step", decision.check.thing if decision.check else "", "inf or NaN")
                yield self.finding(decision.span, message, hazard=hazard)


def _step_behind(path: Path, place: int, decision: Decision) -> Event | None:
    """The plain step that follows a bad answer, unless something in between may make it good."""
    check = decision.check
    if check is None or not decision.is_bad or not check.is_sure or check.subject not in SUBJECTS:
        return None
    step = path.after(place, "step")
    if step is None or step[1].is_scaled or path.between(place, step[0], "opaque", "unscale_"):
        return None
    # A check of what another step has made is no matter of this one.
    if path.between(-1, place, "step") or path.before(step[0], "backward") is None or decision.may_stop:
        return None
    computed_again = path.before(place, "backward") is not None and path.between(place, step[0], "backward")
    return step[1] if not computed_again else None
