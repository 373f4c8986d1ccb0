"""NAN402 clip-before-unscale."""

from __future__ import annotations

from nanlint.rule import (
    Direction,
    Event,
    Finding,
    Fix,
    Hazard,
    Iterator,
    Path,
    Rule,
    TrainingLoop,
    items,
    safe,
    torch_names,
    word_set,
)

CLIPS = torch_names("nn.utils.clip_grad_norm_ nn.utils.clip_grad_value_")


class ClipBeforeUnscale(Rule):
    """Gradients are clipped while they are still multiplied by the scale of a GradScaler.

    ## Why it hurts
    A GradScaler multiplies the loss by 65536 and more, so that small gradients survive float16. A clip before
    `unscale_` sees norms that are as many times too large: it cuts nearly every step down, and `scaler.step` then
    divides what is left by the scale. The weights all but stand still, and a real explosion looks like any other step.

    ## Flagged
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()

    ## Instead
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()

    ## Silent when
    `unscale_` comes between the backward and the clip on some path, also in a helper of the file, or anywhere in the file if the function with the clip makes the step and no backward; when code of another
    file gets the scaler or the optimizer in between; when the clip stands in the branch without a scaler; when the scaler
    is made with `enabled=False`; with Accelerate, Fabric, Lightning and DeepSpeed, which unscale by themselves.

    ## Fix
    Safe: `scaler.unscale_(optimizer)` goes above the clip. Gradients below the bound then make the step they were meant
    to make; `scaler.step` knows that they are unscaled already. None where an `unscale_` follows, since
    a second one raises, nor where the same clip also runs without a scaler.
    """

    code = "NAN402"
    name = "clip-before-unscale"
    evidence = (items.LOST_AT_ONCE,)
    direction = Direction.LOOP
    loops = word_set("backward clip_grad_norm_ clip_grad_value_")

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge every clip of one loop."""
        for clip in loop.of("clip"):
            ways = [_scaled_way(path, clip) for path in loop.paths if clip in path.steps]
            scaled = [way for way in ways if way is not None]
            if clip.is_framework or not scaled or any(is_unscaled for _, is_unscaled, _ in scaled):
                continue
            step, _, is_late = scaled[0]
            # Where the same clip also runs without a scaler, there is none to call.
            fix = _fix(clip, step) if not is_late and len(scaled) == len(ways) else None
            message = f"`{clip.quote(38)}` clips gradients that `{step.by}` has scaled and not unscaled"
            hazard = Hazard("clip", clip.target, "gradients times the loss scale")
            yield self.finding(clip.span, message, fix=fix, hazard=hazard)

    def check_step(self, step: TrainingLoop) -> Iterator[Finding]:
        """Judge a clip in a function that makes the step alone: the scaler says that the gradients are scaled."""
        if step.file_mentions("unscale_", "unscale", "unscale_gradients"):
            return
        for clip in (each for each in step.of("clip") if each.function in CLIPS):
            ways = [path.after(path.steps.index(clip), "step") for path in step.paths if clip in path.steps]
            by = next((way[1].by for way in ways if way is not None and way[1].is_scaled), "")
            if by:
                message = f"`{clip.quote(38)}` clips gradients that `{by}` has scaled and not unscaled"
                yield self.finding(clip.span, message, hazard=Hazard("clip", by, "gradients times the loss scale"))
                return


def _scaled_way(path: Path, clip: Event) -> tuple[Event, bool, bool] | None:
    """The scaled step behind the clip, whether something unscales before the clip, and after; None where nothing is scaled."""
    place = path.steps.index(clip)
    start, step = path.before(place, "backward"), path.after(place, "step")
    if start is None or step is None or not start[1].is_scaled or not step[1].is_scaled:
        return None
    if path.between(start[0], place, "step"):
        return None
    unscaling = "unscale_", "opaque"
    return step[1], path.between(start[0], place, *unscaling), path.between(place, step[0], *unscaling)


def _fix(clip: Event, step: Event) -> Fix | None:
    # Names of another function may mean something else here.
    if step.code is not clip.code or not step.first_argument():
        return None
    edit = clip.line_before(f"{step.receiver}.unscale_({step.first_argument()})")
    return safe("Unscale the gradients first", edit)
