"""`with watch(model, optimizer): ...`: no step with NaN or Inf is taken, the origin is told, and training may go on.

The loop is the user's own and cannot be run again, so what is replayed is the model: its last call with the same
inputs, random states and autocast, and the backward pass from the gradients that came back to its outputs. What breaks
in the loss code behind the model is told as such.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from nanlint.errors import UsageError
from nanlint.nearest import did_you_mean
from nanlint.trace import ranks
from nanlint.trace.diagnosis import Diagnosis, NonFiniteError
from nanlint.trace.hooks import follow_calls
from nanlint.trace.marks import Marks
from nanlint.trace.model_calls import ModelCall
from nanlint.trace.recovery import Recovery
from nanlint.trace.repro import write_repro
from nanlint.trace.scaling import Scaling
from nanlint.trace.static import add_finding
from nanlint.trace.step_log import StepLog, read_scalars
from nanlint.trace.steps import Steps
from nanlint.trace.text import report_text
from nanlint.trace.vitals import Vitals, bad_gradients, bad_parameters, drop_gradients

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nanlint.trace.events import Event
    from nanlint.trace.step_log import Scalar

CHOICES = ("raise", "stop", "skip", "rollback", "report")
Action = Literal["raise", "stop", "skip", "rollback", "report"]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user asked for."""

    action: Action
    tell: Callable[[Diagnosis], None]
    folder: Path
    max_skips: int | None
    checkpoints: str = ""
    """Where the last clean checkpoint is looked for when memory holds no good state."""


class Watch:
    """In force from `with` to its end."""

    def __init__(
        self, model: torch.nn.Module, optimizers: Sequence[torch.optim.Optimizer], wishes: Wishes, vitals: Vitals
    ) -> None:
        self.skipped = 0
        """Steps that were left out."""
        self.found: list[Diagnosis] = []
        """One for each origin that was met."""
        self._model, self._optimizers, self._wishes = model, optimizers, wishes
        self._vitals, self._marks = vitals, Marks()
        self._recovery = Recovery(self._marks)
        self._skipped_in_a_row = 0
        self.restored: list[str] = []
        """Checkpoints that were gone back to."""
        self._scaling = Scaling(self._vitals.note_loss, self._on_skip)
        self._steps = Steps(self._vitals)
        self._call: ModelCall | None = None
        self._hooks: list[Any] = []
        self._is_busy = False
        self._has_let_pass = False
        """Whether a bad step was told of and made all the same."""
        self._is_spread: bool | None = None
        """Not known before the first step: models are wrapped late."""
        self._backward = torch.autograd.backward

    def __enter__(self) -> Watch:  # noqa: PYI034 - typing.Self is not in Python 3.10
        self._marks.learn()
        self._scaling.install()
        self._hooks = [
            register_optimizer_step_pre_hook(self._before_step),
            register_optimizer_step_post_hook(self._after_step),
            *follow_calls(self._model, self._before_model, self._after_model),
        ]
        self._vitals.install()
        torch.autograd.backward = self._watched_backward
        return self

    def __exit__(self, *_: object) -> None:
        self._recovery.reset_settings()
        for hook in self._hooks:
            hook.remove()
        torch.autograd.backward = self._backward
        self._vitals.remove()
        self._scaling.remove()

    # -- what torch tells ------------------------------------------------------------------------------------------

    def _watched_backward(self, tensors: Any, *args: Any, **options: Any) -> None:
        for tensor in [tensors] if isinstance(tensors, torch.Tensor) else tensors:
            if not self._is_busy and not self._scaling.is_scaled(tensor):
                self._vitals.note_loss(tensor)
        self._backward(tensors, *args, **options)

    def _before_model(self, _model: torch.nn.Module, args: Any, options: Any) -> None:
        if not self._is_busy and torch.is_grad_enabled():
            self._call = ModelCall(self._model, args, options, self._marks.take(0))
            if self._wishes.action == "rollback":
                self._recovery.begin(self._call.mark)

    def _after_model(self, _model: torch.nn.Module, _args: Any, result: Any) -> None:
        if not self._is_busy and self._call is not None:
            self._call.note(result)

    def _before_step(self, optimizer: torch.optim.Optimizer, _args: Any, _options: Any) -> None:
        if self._optimizers and not any(optimizer is each for each in self._optimizers):
            return
        self._steps.meet(optimizer)
        reading = self._vitals.read(optimizer, self._steps.present(optimizer), self._scaling.scale)
        self._vitals.remember(reading)
        losses = self._vitals.bad_losses() if reading.is_suspicious else []
        is_bad = bool(losses or (reading.is_suspicious and bad_gradients(optimizer)))
        if self._is_spread is None:
            self._is_spread = ranks.is_spread()
        if ranks.on_any_rank(is_bad) if self._is_spread else is_bad:
            self._act(optimizer, losses)
        else:
            self._skipped_in_a_row = 0
            if self._wishes.action == "rollback":
                self._recovery.before_good_step(optimizer)
        self._vitals.losses.clear()

    def _after_step(self, optimizer: torch.optim.Optimizer, _args: Any, _options: Any) -> None:
        if id(optimizer) in self._steps.optimizers:
            self._vitals.after_step(self._steps.present(optimizer))
            self._steps.count(optimizer)

    def _on_skip(self, optimizer: torch.optim.Optimizer, scale: float) -> None:
        """The scaler leaves the step out itself; only a bad loss is worth a word."""
        self._steps.meet(optimizer)
        reading = self._vitals.read(optimizer, self._steps.present(optimizer), scale)
        self._vitals.remember(replace(reading, skipped=True))
        losses = self._vitals.bad_losses()
        if losses:
            self._act(optimizer, losses)
        self._vitals.losses.clear()
        self._steps.count(optimizer)

    # -- what is done ----------------------------------------------------------------------------------------------

    def _act(self, optimizer: torch.optim.Optimizer, losses: Sequence[torch.Tensor]) -> None:
        action = self._wishes.action
        if self._has_let_pass and bad_parameters(optimizer):
            return  # what was told already has spoiled them
        self._has_let_pass = action == "report"
        diagnosis, origin = self._diagnose(optimizer, losses)
        self._skipped_in_a_row += 1
        most = self._wishes.max_skips
        is_end = action in {"raise", "stop"} or (most is not None and self._skipped_in_a_row > most)
        if action == "rollback" and self._wishes.checkpoints and self._needs_disk(optimizer, is_end=is_end):
            is_end = False
            self._go_to_disk(optimizer, diagnosis)
        if self._is_new(diagnosis):
            repro = write_repro(diagnosis, origin, self._wishes.folder)
            diagnosis.repro = str(repro) if repro else ""
            add_finding(diagnosis)
            self.found.append(diagnosis)
            if not is_end:
                self._wishes.tell(diagnosis)
        if is_end:
            if action not in {"raise", "stop"}:
                diagnosis.notes.append(f"more than {most} steps in a row were bad (max_skips)")
            raise NonFiniteError(diagnosis, report_text(diagnosis))
        if action != "report":
            self._leave_out(optimizer)

    def _needs_disk(self, optimizer: torch.optim.Optimizer, *, is_end: bool) -> bool:
        """Whether memory has no good weights, or its good ones have failed too often and disk was not tried yet."""
        return not self._recovery.has_good_weights(optimizer) or (is_end and not self.restored)

    def _go_to_disk(self, optimizer: torch.optim.Optimizer, diagnosis: Diagnosis) -> None:
        from nanlint.trace.from_disk import last_clean  # noqa: PLC0415 - for those who have nothing better

        path = last_clean(Path(self._wishes.checkpoints))
        done = self._recovery.go_to_disk(path, self._model, optimizer, self._scaling.scalers)
        self.restored.append(str(path))
        self._skipped_in_a_row = 0
        diagnosis.notes.append(f"rolled back to {path} ({', '.join(done)})")

    def _leave_out(self, optimizer: torch.optim.Optimizer) -> None:
        self.skipped += 1
        self._vitals.mark_skipped()
        if self._wishes.action == "rollback":
            self._recovery.go_back(optimizer, self._scaling.scalers)
        drop_gradients(optimizer)
        self._scaling.tell_skip()

    def _is_new(self, diagnosis: Diagnosis) -> bool:
        known = {(each.kind, each.place, each.operation) for each in self.found}
        return (diagnosis.kind, diagnosis.place, diagnosis.operation) not in known

    def _diagnose(
        self, optimizer: torch.optim.Optimizer, losses: Sequence[torch.Tensor]
    ) -> tuple[Diagnosis, Event | None]:
        symptom = self._steps.symptom(optimizer, losses, bad_gradients(optimizer))
        blank = self._steps.blank(symptom, optimizer, self._scaling)
        blank.rank, blank.world = ranks.rank(), ranks.world()
        lost = self._steps.spoiled(blank)
        return self._replayed(blank) if lost is None else (lost, None)

    def _replayed(self, blank: Diagnosis) -> tuple[Diagnosis, Event | None]:
        """The model's last call again, under the tracer; afterwards gradients and random states are as they were."""
        if self._call is None:
            blank.notes.append("the model was not called since the watch began, so there is nothing to run again")
            return blank, None
        self._is_busy = True
        try:
            return self._call.replay(self._marks, blank)
        finally:
            self._is_busy = False


def _print(diagnosis: Diagnosis) -> None:
    sys.stderr.write(report_text(diagnosis))


def _print_warning(text: str) -> None:
    sys.stderr.write(f"nanlint: warning: {text}\n")


def watch(  # noqa: PLR0913 - options, each by name
    model: torch.nn.Module,
    *optimizers: torch.optim.Optimizer,
    on_nonfinite: Action = "raise",
    max_skips: int | None = None,
    tell: Callable[[Diagnosis], None] = _print,
    warn: Callable[[str], None] = _print_warning,
    folder: str = "nanlint-trace",
    checkpoints: str = "",
    log: str = "",
    scalars: Mapping[str, Scalar] | None = None,
) -> Watch:
    """Watch the steps of `optimizers` (of all, if none is named).

    "raise", also called "stop", stops a bad step with NonFiniteError, which has the diagnosis. "skip" leaves it out, on all
    ranks alike, with the gradients dropped and the GradScaler told. "rollback" also sets back what the batch has changed:
    random states, buffers such as those of BatchNorm, schedulers and scalers, and weights and optimizer if the step before
    has spoiled them; then training goes on as if the batch had never come. More than `max_skips` bad steps in a row are an
    error. With `checkpoints`, a folder, "rollback" goes back to the last clean checkpoint in it where memory holds no finite
    weights, and once instead of that error. "report" changes nothing. Each origin is told once, through `tell`; what may go wrong soon, through `warn`.
    `log` names a file that gets a line of JSON for every step, with the values of `scalars` in it.
    """
    if on_nonfinite not in CHOICES:
        hint = did_you_mean(on_nonfinite, CHOICES)
        raise UsageError(f"watch: on_nonfinite is one of {', '.join(CHOICES)}, not {on_nonfinite!r}{hint}")
    read_scalars(scalars or {})
    vitals = Vitals(warn, log=StepLog(log) if log and ranks.rank() == 0 else None, scalars=scalars)
    return Watch(model, optimizers, Wishes(on_nonfinite, tell, Path(folder), max_skips, checkpoints), vitals)
