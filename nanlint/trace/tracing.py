"""The ways of looking at a step: at every operation, or at modules only."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Protocol

from torch.nn.modules.module import register_module_forward_hook
from torch.utils._pytree import tree_flatten

from nanlint.trace.diagnose import diagnose, nearest_parameters, what
from nanlint.trace.diagnosis import MODULE, Diagnosis
from nanlint.trace.measure import Flaws, flaws_of, is_checkable, is_finite, stats_of
from nanlint.trace.names import Names
from nanlint.trace.places import Place, is_foreign
from nanlint.trace.tracer import Tracer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch

    from nanlint.trace.came_in import Batch
    from nanlint.trace.events import Event


class Looker(Protocol):
    """What a session turns on for a step."""

    is_paused: bool

    def start(self) -> None:
        """Begin to look."""

    def stop(self) -> None:
        """Look no longer."""

    def forget(self) -> None:
        """Begin a new step."""

    def conclude(
        self, targets: Sequence[torch.Tensor], blank: Diagnosis, batch: Batch
    ) -> tuple[Diagnosis, Event | None]:
        """Where what is bad in `targets` began; `batch` is what the step was given."""
        ...


class TracedStep(Tracer):
    """Every operation; names the line."""

    def conclude(
        self, targets: Sequence[torch.Tensor], blank: Diagnosis, batch: Batch
    ) -> tuple[Diagnosis, Event | None]:
        """Where what is bad in `targets` began."""
        return diagnose(self, targets, blank, batch)


class HookedStep:
    """The results of modules and the gradients that come back to them.

    Names the module and no line, and works where operations cannot be looked at.
    """

    def __init__(self) -> None:
        self.is_paused = False
        self._broken: list[tuple[Any, torch.Tensor, tuple[torch.Tensor, ...]]] = []
        self._gradients: list[tuple[Any, Flaws]] = []
        self._hook: Any = None

    def start(self) -> None:
        """Look at every module that is called from now on."""
        self._hook = register_module_forward_hook(self._after_module)

    def stop(self) -> None:
        """Look no longer."""
        self._hook.remove()

    def forget(self) -> None:
        """Begin a new step."""
        self._broken.clear()
        self._gradients.clear()

    def _after_module(self, module: torch.nn.Module, arguments: Any, result: Any) -> None:
        if self.is_paused:
            return
        inputs = tuple(_floats(arguments))
        for tensor in _floats(result):
            if not is_finite(tensor) and all(map(is_finite, inputs)) and _is_broken(tensor):
                self._broken.append((module, tensor.detach(), inputs))
            if tensor.requires_grad:
                tensor.register_hook(lambda gradient, owner=module: self._note_gradient(owner, gradient))

    def _note_gradient(self, module: torch.nn.Module, gradient: torch.Tensor) -> None:
        if is_checkable(gradient):
            self._gradients.append((module, flaws_of(gradient)))

    def conclude(
        self, targets: Sequence[torch.Tensor], blank: Diagnosis, batch: Batch
    ) -> tuple[Diagnosis, Event | None]:
        """The first module that made bad values of good ones, or through which a gradient turned bad."""
        del targets, batch
        names = Names.gather()
        if self._broken:
            module, result, inputs = self._broken[0]
            blank.output = stats_of("result", result)
            blank.inputs = tuple(stats_of(f"input[{index}]", tensor) for index, tensor in enumerate(inputs))
            blank.reason = f"its inputs were finite, and {what(flaws_of(result))} came out"
        else:
            module = self._turning_point()
            blank.is_backward = True
            blank.reason = "the gradient that came back to it was finite, and the next one was not" if module else ""
        if module is None:
            return blank, None
        blank.kind, blank.module, blank.operation = MODULE, names.of_module(module), type(module).__name__
        blank.places, blank.parameters = _definition(module), nearest_parameters(module, names)
        blank.notes.append("the mode `hooks` sees modules only; --mode replay or live names the line")
        return blank, None

    def _turning_point(self) -> Any:
        last_good = None
        for module, flaws in self._gradients:
            if flaws:
                return last_good or module
            last_good = module
        return last_good


def _floats(value: Any) -> Iterator[torch.Tensor]:
    return (leaf for leaf in tree_flatten(value)[0] if is_checkable(leaf) and leaf.numel() > 0)


def _is_broken(tensor: torch.Tensor) -> bool:
    """-inf alone is what masks are made of."""
    flaws = flaws_of(tensor)
    return flaws.nan or flaws.above


def _definition(module: torch.nn.Module) -> tuple[Place, ...]:
    """Where its forward is written, if that is not in torch."""
    code = inspect.unwrap(type(module).forward).__code__
    return () if is_foreign(code.co_filename) else (Place(code.co_filename, code.co_firstlineno, code.co_name),)


class Paused:
    """Our own arithmetic is none of the script's."""

    def __init__(self, looker: Looker | None) -> None:
        self._looker = looker
        self._before = False

    def __enter__(self) -> None:
        if self._looker is not None:
            self._before, self._looker.is_paused = self._looker.is_paused, True

    def __exit__(self, *_: object) -> None:
        if self._looker is not None:
            self._looker.is_paused = self._before
