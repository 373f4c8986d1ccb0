"""NAN504 poisoned-average."""

from __future__ import annotations

from nanlint.rule import Event, Finding, Hazard, Iterator, LoopRule, Path, TrainingLoop, show


class PoisonedAverage(LoopRule):
    """A moving average of the weights takes over what a step may have broken.

    ## Why it hurts
    An average with a decay of 0.999 forgets a wrong weight in a few thousand steps, and a NaN never: 0.999 * NaN is NaN. The
    model can be loaded from the last checkpoint; the average, which is what people evaluate, is lost.

    ## Flagged
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        ema.update(model)

    ## Instead
        loss = model(batch).mean()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm):
            continue
        optimizer.step()
        ema.update(model)

    ## Silent when
    the loop asks about finiteness before the step; when a GradScaler makes the step; where Accelerate, Fabric, Lightning or DeepSpeed makes it and may scale the loss.

    ## Fix
    Sketch: the check belongs before the step.
    """

    code = "NAN504"
    name = "poisoned-average"
    preview = True

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge every update of an average in one loop."""
        if loop.is_scaled or loop.file_mentions("isnan", "isfinite", "isinf"):
            return
        for average in loop.of("average"):
            ways = [path for path in loop.plain_paths if average in path.steps]
            if ways and all(_follows_a_step(path, average) for path in ways):
                message = f"`{average.quote(45)}` takes over the weights, finite or not"
                fix = show("check the norm before the step, and average what a good step has made")
                hazard = Hazard("average", average.target, "weights of NaN")
                yield self.finding(average.span, message, fix=fix, hazard=hazard)


def _follows_a_step(path: Path, average: Event) -> bool:
    """Whether a plain step comes before the average, and no check before that."""
    place = path.steps.index(average)
    is_checked = any(at < place for at, _ in path.checks())
    return path.before(place, "step") is not None and not path.places("opaque") and not is_checked
