"""NAN403 clip-after-nan-check."""

from __future__ import annotations

from nanlint.rule import (
    Decision,
    Event,
    Finding,
    Fix,
    Hazard,
    Iterator,
    Label,
    LoopRule,
    Path,
    TrainingLoop,
    items,
    torch_names,
    unsafe,
    word_set,
)

# What they return says whether the gradients were finite; the others return nothing.
RETURNS_A_NORM = word_set("clip_grad_norm_ clip_grad_norm")
TORCHS_NORMS = torch_names("nn.utils.clip_grad_norm_ nn.utils.clip_grad_norm")
CLIPS = RETURNS_A_NORM | {"clip_grad_value_", "clip_gradients"}


class ClipAfterNanCheck(LoopRule):
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
    the norm decides anything before the step, or `error_if_nonfinite=True` is given; when a GradScaler makes the step, which skips a bad one,
    unless a setting switches it on (`GradScaler(enabled=args.fp16)`); with Fabric, whose clip raises; when nothing is checked at all (NAN411); for
    `clip_grad_value_` behind a check of the gradients. Where those are checked before another clip, only an overflow of the norm is left: info.
    With Accelerate, Lightning and DeepSpeed the precision decides: in float16 they skip such a step.

    ## Fix
    Unsafe: `error_if_nonfinite=True` stops the run where it went on with a broken model.
    """

    code = "NAN403"
    name = "clip-after-nan-check"

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge every clip of one loop that returns a norm; clips in two branches behind one check are one defect."""
        behind: dict[object, list[tuple[bool, Event, Decision]]] = {}
        for clip in loop.of("clip"):
            paths = [path for path in loop.paths if clip in path.steps]
            checks = [check for check in (_unchecked(path, clip) for path in paths) if check is not None]
            if checks and len(checks) == len(paths) and not _raises(clip):
                steps = [path.after(path.steps.index(clip), "step") for path in paths]
                is_switched = any(step is not None and step[1].may_be_off for step in steps)
                behind.setdefault(checks[0].test, []).append((is_switched, clip, checks[0]))
        for told in behind.values():
            told.sort(key=lambda each: each[0])  # where no scaler can be switched on it matters most
            is_open = loop.is_framework or told[0][0]
            yield self._judged([clip for _, clip, _ in told], told[0][2], is_open=is_open)

    def _judged(self, clips: list[Event], check: Decision, *, is_open: bool) -> Finding:
        clip, is_of_loss = clips[0], check.subject == "loss"
        passed = (
            "a finite loss can still have NaN gradients" if is_of_loss else "finite gradients can have a norm of inf"
        )
        checked = "only the loss is checked here" if is_of_loss else "the gradients are checked here, not their norm"
        unseen, asked = _left_unasked(clip)
        return self.finding(
            clip.span,
            f"{passed}, and {unseen}",
            fix=_fix(clips),
            hazard=Hazard("clip", clip.target, "a gradient of inf or NaN"),
            evidence=(*((items.DECIDED_ELSEWHERE,) * is_open), *((items.RARE,) * (not is_of_loss))),
            labels=(Label(check.span, checked),),
            help=f"make the step only if {asked}",
        )


def _left_unasked(clip: Event) -> tuple[str, str]:
    """What nobody asks behind a clip, and what to ask."""
    if _function(clip) in RETURNS_A_NORM:
        asked = f"torch.isfinite({clip.stored_as or 'norm'}), the norm that the clip returns"
        return f"nobody checks the norm that {_function(clip)} returns", asked
    return f"{_function(clip)} keeps them", "the gradients are finite: clip_grad_norm_ at inf returns their norm"


def _unchecked(path: Path, clip: Event) -> Decision | None:
    """The check before the clip, if none follows and a plain step does."""
    place = path.steps.index(clip)
    step = path.after(place, "step")
    if step is None or path.between(place, step[0], "opaque") or _is_skipped(path, place, step[1]):
        return None
    if any(_asks(decision, clip) for decision in path.decisions(place, step[0])):
        return None
    before = [decision for at, decision in path.checks() if at < place and not decision.is_bad]
    if _function(clip) not in RETURNS_A_NORM and any(decision.subject != "loss" for decision in before):
        return None
    # The last check before the clip is the closest to it.
    return before[-1] if before else None


def _is_skipped(path: Path, place: int, step: Event) -> bool:
    """Whether a scaler that no setting switches leaves out a step that is not finite, that of a framework included."""
    start = path.before(place, "backward")
    return (step.is_scaled and not step.may_be_off) or (
        start is not None and start[1].is_framework and start[1].is_scaled
    )


def _asks(decision: Decision, clip: Event) -> bool:
    """Whether a condition is about the norm, or about finiteness of anything."""
    return decision.check is not None or bool(clip.stored_as and clip.stored_as in decision.text)


def _function(clip: Event) -> str:
    return clip.function.rpartition(".")[2]


def _raises(clip: Event) -> bool:
    """Whether it may look at the gradients itself, as Fabric's clip does."""
    is_others = _function(clip) not in CLIPS or "fabric" in clip.by.lower()
    return is_others or clip.argument("error_if_nonfinite") is not None


def _fix(clips: list[Event]) -> Fix | None:
    if not all(clip.function in TORCHS_NORMS for clip in clips):
        return None
    return unsafe("Raise when the norm is not finite", *(clip.keyword("error_if_nonfinite", "True") for clip in clips))
