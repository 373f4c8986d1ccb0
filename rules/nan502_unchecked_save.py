"""NAN502 unchecked-save."""

from __future__ import annotations

import re

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
    saving,
    unsafe,
    word_set,
)

# A name that changes from one save to the next leaves the last good checkpoint alone.
CHANGING = re.compile(
    r"epoch|step|iter|time|date|round|batch|idx|index|count|num|\bi\b|\bn\b|\bt\b|\be\b|version|\{", re.IGNORECASE
)
BETTER = re.compile(r"best|<|>|improv|lowest|highest|early|min_|max_", re.IGNORECASE)
WEIGHTS = re.compile(r"model|net|state|dict|ckpt|check|weight|param|ema", re.IGNORECASE)
# The state of these is no weight.
BESIDE = re.compile(r"optim|sched|scaler", re.IGNORECASE)
MODELS = re.compile(r"model|net|ckpt|check|weight|param|ema", re.IGNORECASE)
ELSEWHERE = word_set("isnan isfinite isinf GradScaler detect_anomaly set_detect_anomaly")


class UncheckedSave(LoopRule):
    """A checkpoint is written over the last one, whether the weights are still finite or not.

    ## Why it hurts
    The run diverges at night, the next save puts NaN over the last good weights, and in the morning there is nothing left to resume from.

    ## Flagged
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        torch.save(model.state_dict(), "last.pt")

    ## Instead
        loss = model(batch).mean()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm):
            raise FloatingPointError(f"the gradient norm is {norm}")
        optimizer.step()
        torch.save(model.state_dict(), "last.pt")

    ## Silent when
    anything in the file asks about finiteness, or a GradScaler keeps NaN out of the weights; when the file's name has an epoch, a step or a time
    in it, or that of another save in the loop has, so that older checkpoints stay; when no weights are saved; when a condition on this save or another one compares a metric,
    which is never better for NaN; when it cannot be told what the file is called, as in a function that is told where; with Accelerate,
    Fabric, Lightning and DeepSpeed.

    ## Fix
    Unsafe: the save goes under a test that the parameters of the model are finite, which costs one look at each of them per save;
    a model that is broken is no longer saved, and the run goes on as before. Offered where `model.state_dict()` is written in the call,
    of one model; none where the save is a part of another statement, or what it saves is made elsewhere.
    """

    code = "NAN502"
    name = "unchecked-save"
    evidence = (items.MILD,)

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge every save of one loop and of the one around it."""
        if loop.is_framework or loop.is_scaled or loop.is_step_method or loop.file_mentions(*ELSEWHERE):
            return
        saves = [event for event in loop.around if event.kind == "save" and event.call is not None]
        if any(CHANGING.search(f"{save.target} {saving.file_of(save)}") or _is_chosen(save, loop) for save in saves):
            return
        for save in saves:
            if _overwrites(save) and not loop.is_told_where(save):
                message = f"`{save.quote(50)}` overwrites the last checkpoint, finite or not"
                hazard = Hazard("save", save.target, "parameters of inf or NaN")
                yield self.finding(save.span, message, fix=_fix(save, loop), hazard=hazard)


def _overwrites(save: Event) -> bool:
    """Whether the file has one name for all saves, for all that is written here."""
    if save.function != "torch.save":
        return False
    what = save.text_of("obj")
    if BESIDE.search(what) and not MODELS.search(what):
        return False
    return WEIGHTS.search(what) is not None and bool(saving.file_of(save))


def _is_chosen(save: Event, loop: TrainingLoop) -> bool:
    """Whether a comparison decides about the save."""
    return any(BETTER.search(text) for text in loop.conditions_of(save)) or any(
        _compares(path, save) for path in loop.paths if save in path.steps
    )


def _compares(path: Path, save: Event) -> bool:
    return any(BETTER.search(decision.text) for decision in path.decisions(0, path.steps.index(save)))


def _fix(save: Event, loop: TrainingLoop) -> Fix | None:
    models, spelled = saving.saved_models(save), loop.name_for(save, "torch.isfinite")
    if len(models) != 1 or spelled is None or not save.is_statement:
        return None
    edits = save.under_condition(f"all({spelled}(p).all() for p in {models[0]}.parameters())")
    return unsafe("Save finite parameters only", edits)
