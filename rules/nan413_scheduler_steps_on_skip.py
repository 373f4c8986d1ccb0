"""NAN413 scheduler-steps-on-skip."""

from __future__ import annotations

from nanlint.rule import Event, Finding, Hazard, Iterator, LoopRule, Path, TrainingLoop, items, show

BY_SCALER = "skips a step that is not finite"


class SchedulerStepsOnSkip(LoopRule):
    """The learning rate moves on although the optimizer's step was skipped.

    ## Why it hurts
    A warm-up of 1000 steps in which 200 batches were skipped ends after 800 real ones, at the full learning rate: just when the
    run is least stable. torch warns of it once, as of a scheduler called before the optimizer.

    ## Flagged
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if torch.isfinite(norm):
            optimizer.step()
        scheduler.step()

    ## Instead
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if torch.isfinite(norm):
            optimizer.step()
            scheduler.step()

    ## Silent when
    the scheduler steps only where the optimizer does; when it steps in another loop, as once per epoch; when it is given a metric or a number (`step(val_loss)`); when a condition asks for the
    scale or for a skipped step. At `info` right behind `scaler.step`, which skips a few steps of every run: a schedule that is a few
    steps short rarely breaks one.

    ## Fix
    Sketch: with a GradScaler, `scaler.get_scale()` before and after the update tells whether the step was made.
    """

    code = "NAN413"
    name = "scheduler-steps-on-skip"

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge every scheduler of one loop."""
        if loop.is_step_method:
            return
        # One that is given a metric, or the number of the step, does not count by itself.
        for schedule in (each for each in loop.of("schedule") if each.text.endswith("()")):
            ways = [path for path in loop.plain_paths if schedule in path.steps]
            reasons = [reason for path in ways if (reason := _skipped(path, schedule))]
            # Where every way asks for the scale, the author knows.
            if reasons and not any(_asks_for_scale(path) for path in ways):
                by_hand = [reason for reason in reasons if not reason.endswith(BY_SCALER)]
                message = f"`{schedule.quote(30)}` runs although {(by_hand or reasons)[0]}"
                fix = show("step it where the optimizer steps; a scale that has shrunk tells of a skipped step")
                hazard = Hazard("schedule", schedule.target, "a skipped step")
                yield self.finding(
                    schedule.span, message, fix=fix, hazard=hazard, evidence=() if by_hand else (items.MILD,)
                )


def _skipped(path: Path, schedule: Event) -> str:
    """Why the step before the scheduler may not have been made; "" if it was."""
    place = path.steps.index(schedule)
    step = path.before(place, "step")
    if step is not None:
        return f"`{step[1].quote(25)}` {BY_SCALER}" if step[1].is_scaled else ""
    if path.places("opaque", "step") or not path.places("backward"):
        return ""
    bad = [decision for at, decision in path.checks() if decision.is_bad and at < place]
    return f"`{bad[-1].quote(35)}` has skipped the step" if bad else ""


def _asks_for_scale(path: Path) -> bool:
    return any("scale" in each.text or "skip" in each.text for each in path.decisions(0, len(path.steps)))
