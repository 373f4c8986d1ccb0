"""NAN408 scaler-misuse."""

from __future__ import annotations

from nanlint.rule import (
    Event,
    Finding,
    Fix,
    Hazard,
    Iterator,
    LoopRule,
    Path,
    TrainingLoop,
    items,
    safe,
    unsafe,
    unscaling,
    word_set,
)

Misuse = tuple[Event, str, Fix | None]


class ScalerMisuse(LoopRule):
    """A GradScaler is used out of order: a step beside it, no update, unscaled twice, a backward under autocast.

    ## Why it hurts
    `optimizer.step()` on scaled gradients makes a step 65536 times too long, and behind `scaler.step` one that is not skipped
    for an inf. Without `update()` the scaler raises at the
    next step, or never lowers a scale that overflows. `unscale_` raises when it is called twice before an update, also
    when a batch was skipped in between. A backward under autocast computes in dtypes that the forward did not choose, and
    bfloat16, which has the range of float32, needs no scaler at all.

    ## Flagged
        scaler.scale(loss).backward()
        optimizer.step()
        scaler.update()

    ## Instead
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    ## Silent when
    the plain step also follows an unscaled backward on another path, or stands beside that of the scaler under one condition; when the update is left to the caller of a step method, or to code
    of another file; when a condition asks the scaler for its stage; with Accelerate, Fabric, Lightning and DeepSpeed. A backward under autocast, and a scaler beside
    bfloat16, do no harm at once: info.

    ## Fix
    Safe where the code as it is ends in an error: `update()` behind the last step, or above a `continue` that goes without; the
    second `unscale_` goes; `scaler.step(optimizer)` where an update follows, which raises after a plain step. Unsafe: the
    same where an update must be added, since steps become 65536 times shorter; a backward, with what follows it, moved out of autocast.
    None where that takes more than a line, nor for bfloat16, where the scaler itself is in question.
    """

    code = "NAN408"
    name = "scaler-misuse"
    evidence = (items.LOST_AT_ONCE,)
    beside = word_set("scale GradScaler autocast unscale_")

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge how one loop uses its scaler."""
        misuses = (*_plain_steps(loop), *_missing_updates(loop), *_unscalings(loop))
        for event, message, fix in misuses if not loop.is_framework else ():
            hazard = Hazard(event.kind.value, event.target, "scaled gradients")
            yield self.finding(event.span, message, fix=fix, hazard=hazard)
        for event in loop.of("backward"):
            if event.autocast:
                message = f"`{event.quote(50)}` runs under autocast, which is for the forward"
                # Behind the `with`, if autocast is the innermost one around it.
                edits = event.moved_out() if event.is_right_under_autocast else None
                fix = unsafe("Leave autocast before the backward", edits)
                yield self.finding(event.span, message, fix=fix, evidence=(items.MILD,))
        for event in loop.of("scale"):
            if any(other.autocast == "bfloat16" for other in loop.of("forward", "loss")):
                message = f"`{event.quote(40)}` scales gradients of bfloat16, which do not underflow"
                yield self.finding(event.span, message, evidence=(items.MILD,))


def _plain_steps(loop: TrainingLoop) -> Iterator[Misuse]:
    """Steps of the optimizer itself, where every backward before them was scaled."""
    for step in loop.of("step"):
        ways = [path for path in loop.paths if step in path.steps]
        starts = [start for path in ways if (start := _start_of(path, step)) is not None and start.is_scaled]
        is_plain = not (step.is_scaled or step.is_framework or unscaling.is_instead(step, loop.paths))
        if is_plain and ways and len(starts) == len(ways):
            message = f"`{step.quote(35)}` uses the gradients that `{starts[0].by}` has scaled"
            yield step, message, _by_the_scaler(step, starts[0].by, ways, loop)
        elif step in unscaling.stepped_again(loop.paths):
            yield step, f"`{step.quote(35)}` is a second step, behind the one that the scaler has made", None


def _start_of(path: Path, step: Event) -> Event | None:
    """The backward behind a step; None if something may have unscaled or stepped in between."""
    place = path.steps.index(step)
    start = path.before(place, "backward")
    return start[1] if start is not None and not path.between(start[0], place, "unscale_", "opaque") else None


def _by_the_scaler(step: Event, scaler: str, ways: list[Path], loop: TrainingLoop) -> Fix | None:
    """The step made by the scaler, with an update if there is none; none where some updates come at another time."""
    own = next((event.receiver for event in loop.of("scale") if event.code is step.code and event.by == scaler), "")
    step_by_scaler = step.rewritten(f"{own}.step({step.receiver})") if own and step.is_bare else None
    if step_by_scaler is None:
        return None
    if all(path.after(path.steps.index(step), "update") is not None for path in ways):
        make = safe if len(loop.of("step")) == 1 else unsafe
        return make("Let the scaler make the step", step_by_scaler)
    update = step.line_after(f"{own}.update()") if not _is_updated(loop) else None
    return unsafe("Let the scaler make the step, and update it", step_by_scaler, update)


def _is_updated(loop: TrainingLoop) -> bool:
    """Whether the scaler is updated somewhere, for all that anybody can tell."""
    return any(event.kind in {"update", "opaque"} for event in loop.around)


def _missing_updates(loop: TrainingLoop) -> Iterator[Misuse]:
    steps = [event for event in loop.of("step") if event.is_scaled]
    if not steps or loop.is_step_method or _is_updated(loop):
        return
    last = steps[-1]
    message = f"`{last.quote(40)}` is not followed by `{last.by}.update()` anywhere in the loop"
    ways = [path.events("step") for path in loop.paths]
    is_last = all(last is way[-1] for way in ways if way) and len({step.by for step in steps}) == 1
    update = last.line_after(f"{last.receiver}.update()") if is_last else None
    yield last, message, safe("Update the scaler after the step", update)


def _unscalings(loop: TrainingLoop) -> Iterator[Misuse]:
    """`unscale_` a second time before an update, in one round or by way of a round that was cut short."""
    again = unscaling.unscaled_again(loop.paths)
    for event, is_always in again:
        fix = safe("Unscale once", event.taken_out() if is_always else None)
        yield event, f"`{event.quote(40)}` is the second one since the last update: it raises", fix
    for cut in unscaling.cut_short(loop.paths):
        if cut.event not in {event for event, _ in again}:
            message = f"`{cut.event.quote(40)}`, then `continue` without an update: the next one raises"
            yield cut.event, message, safe("Update the scaler before the next batch", *cut.updated())
