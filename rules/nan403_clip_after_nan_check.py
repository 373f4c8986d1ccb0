"""NAN403 clip-after-nan-check."""

from __future__ import annotations

from nanlint.rule import (
    Decision,
    Direction,
    Event,
    Finding,
    Fix,
    Hazard,
    Iterator,
    Label,
    Path,
    Rule,
    TrainingLoop,
    items,
    unsafe,
)

RETURNS_A_NORM = frozenset({"clip_grad_norm_", "clip_grad_norm"})


class ClipAfterNanCheck(Rule):
    """The loss is checked before the backward, and nobody checks the norm that the clip returns.

    ## Why it hurts
    A finite loss can have a gradient that is not finite: a root at 0, a `where` over a bad branch, an overflow in
    half. The check has passed by then. `clip_grad_norm_` divides by the norm: one inf in one gradient makes that one
    NaN, one NaN makes every gradient of the model NaN, and the step writes them into the weights.

    ## Flagged
        loss = model(batch).mean()
        if not torch.isfinite(loss):
            continue
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    ## Instead
        loss = model(batch).mean()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if torch.isfinite(norm):
            optimizer.step()
        optimizer.zero_grad()

    ## Silent when
    the norm decides anything before the step, or `error_if_nonfinite=True` is given; when a GradScaler makes the step and
    so skips a bad one; with Accelerate, Fabric, Lightning and DeepSpeed; when nothing is checked at all (NAN411); for
    `clip_grad_value_`, which returns nothing. Where the gradients themselves are checked before the clip, only
    an overflow of the norm is left: info.

    ## Fix
    Unsafe: `error_if_nonfinite=True` stops the run where it went on with a broken model.
    """

    code = "NAN403"
    name = "clip-after-nan-check"
    direction = Direction.LOOP
    loops = frozenset({"backward"})

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge every clip of one loop that returns a norm; clips in two branches behind one check are one defect."""
        if loop.is_framework:
            return
        behind: dict[object, list[tuple[Event, Decision]]] = {}
        for clip in loop.of("clip"):
            ways = [_unchecked(path, clip) for path in loop.paths if clip in path.steps]
            checks = [way for way in ways if way is not None]
            if checks and len(checks) == len(ways) and not _raises(clip):
                behind.setdefault(checks[0].test, []).append((clip, checks[0]))
        for pairs in behind.values():
            yield self._judged([clip for clip, _ in pairs], pairs[0][1])

    def _judged(self, clips: list[Event], check: Decision) -> Finding:
        clip, is_of_loss = clips[0], check.check is not None and check.check.subject == "loss"
        returned = f"and nobody checks the norm that {_function(clip)} returns"
        passed = (
            "a finite loss can still have NaN gradients" if is_of_loss else "finite gradients can have a norm of inf"
        )
        checked = "only the loss is checked here" if is_of_loss else "the gradients are checked here, not their norm"
        return self.finding(
            clip.span,
            f"{passed}, {returned}",
            fix=_fix(clips),
            hazard=Hazard("clip", clip.target, "a gradient of inf or NaN"),
            evidence=() if is_of_loss else (items.RARE,),
            labels=(Label(check.span, checked),),
            help=f"make the step only if torch.isfinite({clip.stored_as or 'norm'}), the norm that the clip returns",
        )


def _unchecked(path: Path, clip: Event) -> Decision | None:
    """The check before the clip, if none follows and a plain step does."""
    place = path.steps.index(clip)
    step = path.after(place, "step")
    if step is None or step[1].is_scaled or path.between(place, step[0], "opaque"):
        return None
    if any(_asks(decision, clip) for decision in path.decisions(place, step[0])):
        return None
    before = [decision for at, decision in path.checks() if at < place and not decision.is_bad]
    # The last check before the clip is the closest to it.
    return before[-1] if before else None


def _asks(decision: Decision, clip: Event) -> bool:
    """Whether a condition is about the norm, or about finiteness of anything."""
    return decision.check is not None or bool(clip.stored_as and clip.stored_as in decision.text)


def _function(clip: Event) -> str:
    return clip.function.rpartition(".")[2]


def _raises(clip: Event) -> bool:
    if _function(clip) not in RETURNS_A_NORM:
        return True
    return clip.argument("error_if_nonfinite") is not None


def _fix(clips: list[Event]) -> Fix | None:
    edits = [clip.keyword("error_if_nonfinite", "True") for clip in clips if _is_of_torch(clip)]
    found = [edit for edit in edits if edit is not None]
    return unsafe("Raise when the norm is not finite", *found) if len(found) == len(clips) else None


def _is_of_torch(clip: Event) -> bool:
    return clip.function.startswith("torch.nn.utils")
