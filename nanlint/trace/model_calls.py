"""The last call of a model, kept so that it can be made again when the loop around it cannot be.

Kept are the arguments without their history, the random state of torch, and the gradients that came back to the outputs while
they are small. Nothing is copied.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_flatten, tree_map_only

from nanlint.trace.diagnosis import ELSEWHERE, Diagnosis
from nanlint.trace.hooks import follow_calls
from nanlint.trace.measure import bytes_of, flaws_of, is_checkable, stats_of
from nanlint.trace.names import compiled_functions, is_wrapped, living_modules, roots
from nanlint.trace.tracing import TracedStep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nanlint.trace.events import Event
    from nanlint.trace.marks import Mark, Marks

KEPT_BYTES = 1 << 22
"""Of gradients of outputs: those of a language model's logits are as large as the model's memory."""
AGAIN = "found in the last call of the model, which was made again by itself"
BEHIND = "the model itself stays finite: it breaks in the loss code behind the model"


class ModelCall:
    """One call of a model, with all that is needed to make it again."""

    def __init__(self, model: torch.nn.Module, args: tuple[Any, ...], options: dict[str, Any], mark: Mark) -> None:
        self.model, self.mark = model, mark
        self._args, self._options = tree_map_only(torch.Tensor, _without_history, (args, options))
        self._gradients: dict[int, torch.Tensor] = {}
        device = "cuda" if torch.is_autocast_enabled("cuda") else "cpu"
        self._autocast = (device, torch.get_autocast_dtype(device), torch.is_autocast_enabled(device))

    def note(self, result: Any) -> None:
        """Keep the gradients that will come back to its outputs."""
        for index, output in enumerate(_outputs(result)):
            if output.requires_grad and bytes_of(output) <= KEPT_BYTES:
                output.register_hook(lambda gradient, index=index: self._keep(index, gradient))

    def _keep(self, index: int, gradient: torch.Tensor) -> None:
        self._gradients[index] = gradient.detach()

    def arguments(self) -> list[tuple[str, torch.Tensor]]:
        """Its tensors under the names that the model gives them."""
        try:
            named = inspect.signature(self.model.forward).bind_partial(*self._args, **self._options).arguments
        except (TypeError, ValueError):
            named = {f"argument {index}": value for index, value in enumerate(self._args)} | self._options
        return [(name, leaf) for name, value in named.items() for leaf in tree_flatten(value)[0] if is_checkable(leaf)]

    def replay(self, marks: Marks, blank: Diagnosis) -> tuple[Diagnosis, Event | None]:
        """The call again under the tracer, forward and backward; afterwards gradients and random states are as they were."""
        now = marks.take(0)
        kept = [(parameter, parameter.grad) for parameter in self.model.parameters()]
        for parameter, _ in kept:
            parameter.grad = None
        marks.return_to(self.mark)
        try:
            return self._replayed(blank)
        finally:
            marks.return_to(now)
            for parameter, gradient in kept:
                parameter.grad = gradient

    def _replayed(self, blank: Diagnosis) -> tuple[Diagnosis, Event | None]:
        tracer = TracedStep()
        outputs, error = self._run(tracer)
        bad = [output for output in outputs if tracer.maker_of(output) is not None]
        gradients = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]
        targets = bad or [gradient for gradient in gradients if tracer.maker_of(gradient) is not None]
        # A model may raise, or return something that has no tensors to follow back from, such as a distribution.
        if targets or (tracer.events and (error is not None or not outputs)):
            found, origin = tracer.conclude(targets, replace(blank), self.arguments())
            if found.kind != ELSEWHERE and not self._comes_from_behind(found):
                return found, origin
        blank.kind = ELSEWHERE
        blank.inputs = tuple(stats_of(f"output[{index}]", output) for index, output in enumerate(outputs))
        if not error and not any(flaws_of(output) for output in outputs):
            blank.notes.append(f"{BEHIND} (nanlint trace names the line)")
        return blank, None

    def _run(self, tracer: TracedStep) -> tuple[list[torch.Tensor], Exception | None]:
        """The outputs, and what the model raised."""
        device, dtype, enabled = self._autocast
        outputs: list[torch.Tensor] = []
        tracer.start()
        try:
            with torch.enable_grad(), torch.autocast(device, dtype, enabled=enabled):
                outputs = _outputs(self.model(*self._args, **self._options))
            if all(tracer.maker_of(output) is None for output in outputs):
                self._run_backward(outputs)
        except Exception as error:  # noqa: BLE001 - the user's model; what it raised before, it raises again
            return outputs, error
        finally:
            tracer.stop()
        return outputs, None

    def _run_backward(self, outputs: Sequence[torch.Tensor]) -> None:
        pairs = [(output, self._gradients[index]) for index, output in enumerate(outputs) if index in self._gradients]
        if pairs:
            torch.autograd.backward([output for output, _ in pairs], [gradient for _, gradient in pairs])

    def _comes_from_behind(self, found: Diagnosis) -> bool:
        """Whether the gradients that came back to the model were bad already."""
        return found.is_backward and any(
            is_checkable(gradient) and flaws_of(gradient) for gradient in self._gradients.values()
        )


class ModelCalls:
    """The last call of each model that is trained; `follow` begins to note them."""

    def __init__(self, marks: Marks) -> None:
        self.is_paused = False
        self._marks = marks
        self._last: dict[int, ModelCall] = {}
        self._lost: list[ModelCall] = []
        self._hooks: list[Any] = []
        self._followed: set[int] = set()
        self._compiled = compiled_functions()

    def follow(self, parameters: Iterable[torch.Tensor]) -> None:
        """Note the calls of the outermost modules that own any of `parameters`; nothing is hooked into compiled code."""
        wanted = {id(parameter) for parameter in parameters}
        for model in roots(living_modules()):
            is_ours = id(model) not in self._followed and any(id(each) in wanted for each in model.parameters())
            if (
                is_ours
                and not is_wrapped(model)
                and (type(model).__name__ == "OptimizedModule" or compiled_functions() == self._compiled)
            ):
                self._followed.add(id(model))
                self._hooks += follow_calls(model, self._before, self._after)

    def remove(self) -> None:
        """Note nothing any more."""
        for hook in self._hooks:
            hook.remove()

    def keep(self) -> None:
        """The step is lost: these calls are the ones to make again, whatever comes after."""
        self._lost = list(reversed(self._last.values()))

    def last_arguments(self) -> list[tuple[str, Any]]:
        """What the model that was called last was given, by name."""
        return list(next(reversed(self._last.values())).arguments()) if self._last else []

    def locate(self, pending: Diagnosis) -> tuple[Diagnosis, Event | None]:
        """Make the kept calls again, the latest first, until one breaks; `pending` itself if all stay finite."""
        self.is_paused = True
        try:
            for call in self._lost:
                found, origin = call.replay(self._marks, replace(pending, notes=[AGAIN]))
                if found.kind != ELSEWHERE:
                    return found, origin
        finally:
            self.is_paused = False
        return pending, None

    def _before(self, model: torch.nn.Module, args: Any, options: Any) -> None:
        if not self.is_paused and torch.is_grad_enabled():
            self._last.pop(id(model), None)
            self._last[id(model)] = ModelCall(model, args, options, self._marks.take_torch_state())

    def _after(self, model: torch.nn.Module, _args: Any, result: Any) -> None:
        if not self.is_paused and torch.is_grad_enabled() and id(model) in self._last:
            self._last[id(model)].note(result)


def _without_history(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().requires_grad_(tensor.requires_grad) if tensor.requires_grad else tensor


def _outputs(result: Any) -> list[torch.Tensor]:
    leaves = tree_flatten(result)[0]
    if not any(isinstance(leaf, torch.Tensor) for leaf in leaves) and hasattr(result, "values"):
        leaves = tree_flatten(list(result.values()))[0]
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and is_checkable(leaf)]
