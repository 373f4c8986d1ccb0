"""`with watch(model, optimizer): ...`: no step with NaN or Inf is taken, and the origin is told.

The loop is the user's own and cannot be run again, so what is replayed is the model: its last call with the same
inputs, random states and autocast, and the backward pass from the gradients that came back to its outputs. What breaks
in the loss code behind the model is told as such.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from nanlint.errors import UsageError
from nanlint.nearest import did_you_mean
from nanlint.trace import ranks
from nanlint.trace.diagnose import gradient_symptom, loss_symptom
from nanlint.trace.diagnosis import ELSEWHERE, Diagnosis, NonFiniteError
from nanlint.trace.marks import Mark, Marks
from nanlint.trace.measure import is_checkable, stats_of
from nanlint.trace.names import Names
from nanlint.trace.optimizers import described, spoiled
from nanlint.trace.places import calling_places
from nanlint.trace.repro import write_repro
from nanlint.trace.scaling import Scaling
from nanlint.trace.static import add_finding
from nanlint.trace.text import report_text
from nanlint.trace.tracing import TracedStep
from nanlint.trace.vitals import Vitals, bad_gradients, bad_parameters, drop_gradients, parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanlint.trace.events import Event

CHOICES = ("raise", "skip", "report")


class Watch:
    """In force from `with` to its end."""

    def __init__(
        self,
        model: torch.nn.Module,
        optimizers: Sequence[torch.optim.Optimizer],
        on_nonfinite: Literal["raise", "skip", "report"],
        tell: Callable[[Diagnosis], None],
        folder: str,
    ) -> None:
        self.skipped = 0
        """Steps that were left out."""
        self.found: list[Diagnosis] = []
        """One for each origin that was met."""
        self._model, self._optimizers, self._action = model, optimizers, on_nonfinite
        self._tell, self._folder = tell, Path(folder)
        self._vitals, self._marks = Vitals(), Marks()
        self._scaling = Scaling(self._vitals.note_loss, self._on_skip)
        self._steps: dict[int, int] = {}
        self._call: _ModelCall | None = None
        self._hooks: list[Any] = []
        self._is_busy = False
        self._is_spread: bool | None = None
        """Not known before the first step: models are wrapped late."""
        self._backward = torch.autograd.backward

    def __enter__(self) -> Watch:  # noqa: PYI034 - typing.Self is not in Python 3.10
        self._marks.learn_buffers()
        self._scaling.install()
        self._hooks = [
            register_optimizer_step_pre_hook(self._before_step),
            self._model.register_forward_pre_hook(self._before_model, with_kwargs=True),
            self._model.register_forward_hook(self._after_model),
        ]
        torch.autograd.backward = self._watched_backward
        return self

    def __exit__(self, *_: object) -> None:
        for hook in self._hooks:
            hook.remove()
        torch.autograd.backward = self._backward
        self._scaling.remove()

    # -- what torch tells ------------------------------------------------------------------------------------------

    def _watched_backward(self, tensors: Any, *args: Any, **options: Any) -> None:
        for tensor in [tensors] if isinstance(tensors, torch.Tensor) else tensors:
            if not self._is_busy and not self._scaling.is_scaled(tensor):
                self._vitals.note_loss(tensor)
        self._backward(tensors, *args, **options)

    def _before_model(self, _model: torch.nn.Module, args: Any, options: Any) -> None:
        if not self._is_busy and torch.is_grad_enabled():
            self._call = _ModelCall(args, options, self._marks.take(0))

    def _after_model(self, _model: torch.nn.Module, _args: Any, result: Any) -> None:
        if not self._is_busy and self._call is not None:
            self._call.note(result)

    def _before_step(self, optimizer: torch.optim.Optimizer, _args: Any, _options: Any) -> None:
        if self._optimizers and not any(optimizer is each for each in self._optimizers):
            return
        step = self._steps[id(optimizer)] = self._steps.get(id(optimizer), 0) + 1
        reading = self._vitals.read(optimizer, step, self._scaling.scale)
        self._vitals.history.append(reading)
        losses = self._vitals.bad_losses() if reading.is_suspicious else []
        is_bad = bool(losses or (reading.is_suspicious and bad_gradients(optimizer)))
        if self._is_spread is None:
            self._is_spread = ranks.is_spread()
        if ranks.on_any_rank(is_bad) if self._is_spread else is_bad:
            self._act(optimizer, losses, step)
        self._vitals.losses.clear()

    def _on_skip(self, optimizer: torch.optim.Optimizer, scale: float) -> None:
        """The scaler leaves the step out itself; only a bad loss is worth a word."""
        step = self._steps[id(optimizer)] = self._steps.get(id(optimizer), 0) + 1
        self._vitals.history.append(self._vitals.read(optimizer, step, scale))
        losses = self._vitals.bad_losses()
        if losses:
            self._act(optimizer, losses, step)
        self._vitals.losses.clear()

    # -- what is done ----------------------------------------------------------------------------------------------

    def _act(self, optimizer: torch.optim.Optimizer, losses: Sequence[torch.Tensor], step: int) -> None:
        diagnosis, origin = self._diagnose(optimizer, losses, step)
        if self._is_new(diagnosis):
            repro = write_repro(diagnosis, origin, self._folder)
            diagnosis.repro = str(repro) if repro else ""
            add_finding(diagnosis)
            self.found.append(diagnosis)
            if self._action != "raise":
                self._tell(diagnosis)
        if self._action == "raise":
            raise NonFiniteError(diagnosis, report_text(diagnosis))
        if self._action == "skip":
            self.skipped += 1
            drop_gradients(optimizer)
            self._scaling.tell_skip()

    def _is_new(self, diagnosis: Diagnosis) -> bool:
        known = {(each.kind, each.place, each.operation) for each in self.found}
        return (diagnosis.kind, diagnosis.place, diagnosis.operation) not in known

    def _diagnose(
        self, optimizer: torch.optim.Optimizer, losses: Sequence[torch.Tensor], step: int
    ) -> tuple[Diagnosis, Event | None]:
        bad = bad_gradients(optimizer)
        total = sum(1 for _ in parameters(optimizer))
        symptom = loss_symptom(losses) if losses else ""
        if not symptom:
            symptom = (
                gradient_symptom(bad, Names.gather(), total) if bad else "loss and gradients are finite on this rank"
            )
        history = tuple(self._vitals.history)
        blank = Diagnosis(ELSEWHERE, step, symptom, history=history, optimizer=described(optimizer))
        blank.rank, blank.world = ranks.rank(), ranks.world()
        if bad_parameters(optimizer):
            return spoiled(blank, optimizer, step, calling_places()), None
        return self._replayed(blank)

    def _replayed(self, blank: Diagnosis) -> tuple[Diagnosis, Event | None]:
        """The model's last call again, under the tracer; afterwards gradients and random states are as they were."""
        if self._call is None:
            blank.notes.append("the model was not called since the watch began, so there is nothing to run again")
            return blank, None
        now = self._marks.take(0)
        kept = [(parameter, parameter.grad) for parameter in self._model.parameters()]
        for parameter, _ in kept:
            parameter.grad = None
        self._marks.return_to(self._call.mark)
        self._is_busy = True
        try:
            return self._call.replay(self._model, blank)
        finally:
            self._is_busy = False
            self._marks.return_to(now)
            for parameter, gradient in kept:
                parameter.grad = gradient


class _ModelCall:
    """One call of the model, with all that is needed to make it again."""

    def __init__(self, args: tuple[Any, ...], options: dict[str, Any], mark: Mark) -> None:
        self.mark = mark
        self._args, self._options = args, options
        self._gradients: dict[int, torch.Tensor] = {}
        device = "cuda" if torch.is_autocast_enabled("cuda") else "cpu"
        self._autocast = (device, torch.get_autocast_dtype(device), torch.is_autocast_enabled(device))

    def note(self, result: Any) -> None:
        """Keep the gradients that will come back to its outputs."""
        for index, output in enumerate(_outputs(result)):
            if output.requires_grad:
                output.register_hook(lambda gradient, index=index: self._keep(index, gradient))

    def _keep(self, index: int, gradient: torch.Tensor) -> None:
        self._gradients[index] = gradient.detach()

    def replay(self, model: torch.nn.Module, blank: Diagnosis) -> tuple[Diagnosis, Event | None]:
        """Forward and backward under the tracer, and what is to be said of it."""
        device, dtype, enabled = self._autocast
        tracer = TracedStep()
        tracer.start()
        try:
            with torch.enable_grad(), torch.autocast(device, dtype, enabled=enabled):
                outputs = _outputs(model(*self._args, **self._options))
            bad = [output for output in outputs if tracer.maker_of(output) is not None]
            if not bad:
                self._run_backward(outputs)
        finally:
            tracer.stop()
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        targets = bad or [gradient for gradient in gradients if tracer.maker_of(gradient) is not None]
        if targets or tracer.events:
            found, origin = tracer.conclude(targets, replace(blank))
            if found.kind != ELSEWHERE and not self._comes_from_behind(found):
                return found, origin
        blank.kind = ELSEWHERE
        blank.inputs = tuple(stats_of(f"output[{index}]", output) for index, output in enumerate(outputs))
        blank.notes.append(
            "the model itself stays finite: it breaks in the loss code behind the model (nanlint trace names the line)"
        )
        return blank, None

    def _run_backward(self, outputs: Sequence[torch.Tensor]) -> None:
        pairs = [(output, self._gradients[index]) for index, output in enumerate(outputs) if index in self._gradients]
        if pairs:
            torch.autograd.backward([output for output, _ in pairs], [gradient for _, gradient in pairs])

    def _comes_from_behind(self, found: Diagnosis) -> bool:
        """Whether the gradients that came back to the model were bad already."""
        return found.is_backward and any(
            is_checkable(gradient) and not bool(torch.isfinite(gradient).all()) for gradient in self._gradients.values()
        )


def _outputs(result: Any) -> list[torch.Tensor]:
    from torch.utils._pytree import tree_flatten  # noqa: PLC0415 - at a failure only

    leaves = tree_flatten(result)[0]
    if not any(isinstance(leaf, torch.Tensor) for leaf in leaves) and hasattr(result, "values"):
        leaves = tree_flatten(list(result.values()))[0]
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and is_checkable(leaf)]


def _print(diagnosis: Diagnosis) -> None:
    sys.stderr.write(report_text(diagnosis))


def watch(
    model: torch.nn.Module,
    *optimizers: torch.optim.Optimizer,
    on_nonfinite: Literal["raise", "skip", "report"] = "raise",
    tell: Callable[[Diagnosis], None] = _print,
    folder: str = "nanlint-trace",
) -> Watch:
    """Watch the steps of `optimizers` (of all, if none is named).

    "raise" stops a bad step with NonFiniteError, which has the diagnosis. "skip" leaves it out, on all ranks alike, with
    the gradients dropped and the GradScaler told. "report" changes nothing. Each origin is told once, through `tell`.
    """
    if on_nonfinite not in CHOICES:
        hint = did_you_mean(on_nonfinite, CHOICES)
        raise UsageError(f"watch: on_nonfinite is one of {', '.join(CHOICES)}, not {on_nonfinite!r}{hint}")
    return Watch(model, optimizers, on_nonfinite, tell, folder)
