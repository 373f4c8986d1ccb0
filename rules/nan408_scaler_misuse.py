"""NAN408 scaler-misuse."""

from __future__ import annotations

from nanlint.rule import Direction, Event, Facts, Finding, Hazard, Iterator, Path, Rule, Severity, TrainingLoop


class ScalerMisuse(Rule):
    """A GradScaler is used out of order: a step beside it, no update, unscaled twice, a backward under autocast.

    ## Why it hurts
    `optimizer.step()` on scaled gradients makes a step 65536 times too long. Without `update()` the scaler raises at the
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
    the plain step also follows an unscaled backward on another path; when the update is left to the caller of a step method, or to code
    of another file; when a condition asks the scaler for its stage; with Accelerate, Fabric, Lightning and DeepSpeed. A backward under autocast, and a scaler beside
    bfloat16, do no harm at once: info.

    ## Fix
    None: the order is for the author to put right.
    """

    code = "NAN408"
    name = "scaler-misuse"
    severity = Severity.ERROR
    direction = Direction.LOOP
    loops = frozenset({"backward"})
    beside = frozenset({"scale", "GradScaler", "autocast", "unscale_"})

    def check_loop(self, loop: TrainingLoop, facts: Facts) -> Iterator[Finding]:
        """Judge how one loop uses its scaler."""
        if not loop.is_framework:
            for event, message in _misuses(loop):
                hazard = Hazard(event.kind.value, event.target, "scaled gradients")
                yield self.finding(event.span, message, hazard=hazard)
        for event in loop.of("backward"):
            if facts.is_autocast(event):
                message = f"`{event.quote(50)}` runs under autocast, which is for the forward"
                yield self.finding(event.span, message, severity=Severity.INFO)
        for event in loop.of("scale"):
            if any(facts.autocast_dtype(other) == "bfloat16" for other in loop.of("forward", "loss")):
                message = f"`{event.quote(40)}` scales gradients of bfloat16, which do not underflow"
                yield self.finding(event.span, message, severity=Severity.INFO)


def _misuses(loop: TrainingLoop) -> Iterator[tuple[Event, str]]:
    yield from _plain_steps(loop)
    yield from _missing_updates(loop)
    told: set[Event] = set()
    for path in loop.paths:
        for event, message in _unscaled_twice(path):
            if event not in told:
                told.add(event)
                yield event, message


def _plain_steps(loop: TrainingLoop) -> Iterator[tuple[Event, str]]:
    """Steps of the optimizer itself, where every backward before them was scaled."""
    for step in loop.of("step"):
        ways = [path for path in loop.paths if step in path.steps]
        if step.is_scaled or step.is_framework or not ways:
            continue
        starts = [_start_of(path, step) for path in ways]
        if all(start is not None and start.is_scaled for start in starts):
            yield step, f"`{step.quote(35)}` uses the gradients that `{starts[0].by if starts[0] else ''}` has scaled"


def _start_of(path: Path, step: Event) -> Event | None:
    """The backward behind a step; None if something may have unscaled or stepped in between."""
    place = path.steps.index(step)
    start = path.before(place, "backward")
    return start[1] if start is not None and not path.between(start[0], place, "unscale_", "opaque") else None


def _missing_updates(loop: TrainingLoop) -> Iterator[tuple[Event, str]]:
    steps = [event for event in loop.of("step") if event.is_scaled]
    around = {event.kind.value for event in loop.around}
    if not steps or loop.is_step_method or {"update", "opaque"} & around:
        return
    yield steps[-1], f"`{steps[-1].quote(40)}` is not followed by `{steps[-1].by}.update()` anywhere in the loop"


def _unscaled_twice(path: Path) -> Iterator[tuple[Event, str]]:
    """`unscale_` a second time before an update, in one round or by way of a round that was cut short."""
    unscaled: dict[str, Event] = {}
    for event in path.events("unscale_", "update", "opaque"):
        if event.kind != "unscale_":
            unscaled.clear()
        elif event.target in unscaled and not any("stage" in text.lower() for text in event.conditions):
            yield event, f"`{event.quote(40)}` is the second one since the last update: it raises"
        elif not event.is_framework:
            unscaled[event.target] = event
    if path.end == "continue" and unscaled:
        event = next(iter(unscaled.values()))
        yield event, f"`{event.quote(40)}`, then `continue` without an update: the next one raises"
