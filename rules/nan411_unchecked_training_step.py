"""NAN411 unchecked-training-step."""

from __future__ import annotations

from nanlint.rule import Direction, Event, Facts, Finding, Hazard, Iterator, Rule, Severity, TrainingLoop

# They look at every operation, or at what the caller hands them.
WATCHED = frozenset(
    {"set_detect_anomaly", "detect_anomaly", "isnan", "isfinite", "isinf", "error_if_nonfinite", "GradScaler"}
)


class UncheckedTrainingStep(Rule):
    """A training loop that never asks whether its loss or its gradients are finite.

    ## Why it hurts
    One batch with an inf is enough: the step writes NaN into every weight, and the loop trains on, saves and logs NaN until
    somebody looks. The check costs one comparison per step.

    ## Flagged
        optimizer.zero_grad()
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()

    ## Instead
        optimizer.zero_grad()
        loss = model(batch).mean()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm):
            continue
        optimizer.step()

    ## Silent when
    the loop, the one around it or the function asks anything about finiteness, or detects anomalies; with a GradScaler,
    Accelerate, Fabric, Lightning or DeepSpeed, which have checks of their own.

    ## Fix
    None: skipping, raising and clipping are all right answers.
    """

    code = "NAN411"
    name = "unchecked-training-step"
    severity = Severity.WARNING
    direction = Direction.LOOP
    preview = True
    loops = frozenset({"backward"})

    def check_loop(self, loop: TrainingLoop, facts: Facts) -> Iterator[Finding]:
        """Judge one loop as a whole."""
        if loop.is_scaled or loop.is_framework or loop.checks or loop.outer_checks or facts.file_mentions(*WATCHED):
            return
        step = _last_plain_step(loop)
        if step is None:
            return
        message = f"`{step.quote(50)}` runs whether the loss and the gradients are finite or not"
        yield self.finding(step.span, message, hazard=Hazard("step", step.target, "gradients of inf or NaN"))


def _last_plain_step(loop: TrainingLoop) -> Event | None:
    steps = [event for event in loop.of("step") if not event.is_scaled]
    return steps[-1] if steps and loop.paths and not loop.of("opaque") else None
