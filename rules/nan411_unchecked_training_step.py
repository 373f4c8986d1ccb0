"""NAN411 unchecked-training-step."""

from __future__ import annotations

from nanlint.rule import (
    Edit,
    Event,
    Finding,
    Fix,
    Hazard,
    Item,
    Iterator,
    LoopRule,
    Path,
    TrainingLoop,
    items,
    unsafe,
    word_set,
)

CLIP = "torch.nn.utils.clip_grad_norm_"
# They look at every operation, or at what the caller hands them.
WATCHED = word_set("set_detect_anomaly detect_anomaly isnan isfinite isinf error_if_nonfinite")


class UncheckedTrainingStep(LoopRule):
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
    the file asks anything about finiteness, or detects anomalies; where a GradScaler or apex makes the step on every way, which skip one that is
    not finite; with Lightning, DeepSpeed and Fabric's clip, and with Accelerate and Fabric in float16. Where a setting switches the GradScaler on
    (`GradScaler(enabled=args.fp16)`), or may tell Accelerate and Fabric to compute in bfloat16 or float32, in which they skip nothing, it is told of with less weight.

    ## Fix
    Unsafe: the run stops where it went on with a broken model, and steps with finite gradients are what they were. A `clip_grad_norm_`
    before the step gets `error_if_nonfinite=True`; without one, such a clip at inf, which measures and cuts nothing, goes above the step.
    None where the loop makes several steps, or one with a closure.
    """

    code = "NAN411"
    name = "unchecked-training-step"
    preview = True

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge one loop as a whole."""
        if loop.checks or loop.file_mentions(*WATCHED):
            return
        found = [each for path in loop.paths for each in _unprotected_steps(path)]
        plain = [step for step, skipped_if in found if not skipped_if]
        if plain:
            yield self._unchecked(
                plain[-1], "whether the loss and the gradients are finite or not", _fix(plain[-1], loop)
            )
        elif found:
            step, skipped_if = found[-1]
            yield self._unchecked(step, f"on inf and NaN too, unless {skipped_if}", None, items.DECIDED_ELSEWHERE)

    def _unchecked(self, step: Event, when: str, fix: Fix | None, *evidence: Item) -> Finding:
        message = f"`{step.quote(50)}` runs {when}"
        hazard = Hazard("step", step.target, "gradients of inf or NaN")
        return self.finding(step.span, message, fix=fix, hazard=hazard, evidence=evidence)


def _unprotected_steps(path: Path) -> Iterator[tuple[Event, str]]:
    """The last step of a way, if it may write NaN, with what keeps it from that where a setting decides."""
    starts, steps = path.events("backward"), path.events("step")
    is_raising = any("fabric" in clip.by.lower() for clip in path.events("clip"))
    if not starts or not steps or is_raising or path.places("opaque"):
        return
    start, step = starts[-1], steps[-1]
    if step.is_scaled or start.is_scaled:
        if step.may_be_off or start.may_be_off:
            yield step, f"`{step.by or start.by}` is switched on"
    elif start.may_be_off:
        yield step, f"`{start.by}` computes in float16"
    elif not (start.is_framework or step.is_framework):
        yield step, ""


def _fix(step: Event, loop: TrainingLoop) -> Fix | None:
    if len(loop.of("step")) != 1 or not step.is_bare:
        return None
    clip = _clip_before(step, loop)
    edit = clip.keyword("error_if_nonfinite", "True") if clip is not None else _measured(step, loop)
    return unsafe("Raise when the gradients are not finite", edit)


def _clip_before(step: Event, loop: TrainingLoop) -> Event | None:
    """The clip by torch's own function that comes before the step on every way; None if there is none."""
    ways = [(path, path.steps.index(step)) for path in loop.paths if step in path.steps]
    clips = {clip[1] if (clip := path.before(place, "clip")) is not None else None for path, place in ways}
    found = clips.pop() if len(clips) == 1 else None
    return found if found is not None and found.function == CLIP else None


def _measured(step: Event, loop: TrainingLoop) -> Edit | None:
    """A clip that cuts nothing, and raises when the norm is not finite, above the step."""
    spelled, model = loop.name_for(step, CLIP), loop.model_of(step)
    if spelled is None:
        return None
    measure = f'{spelled}({{}}, float("inf"), error_if_nonfinite=True)'
    if model:
        return step.line_before(measure.format(f"{model}.parameters()"))
    if step.mentions("params"):
        return None
    every = f'params = [p for group in {step.receiver}.param_groups for p in group["params"]]'
    return step.line_before(every, measure.format("params"))
