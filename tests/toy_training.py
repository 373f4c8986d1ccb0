"""The smallest things that a training loop can be run with, for fixtures of rules about loops: `truth.py` of a folder uses them.

Nothing here needs more than torch; accelerators and trainers are stand-ins that do what the real ones promise.
"""

from __future__ import annotations

import inspect
import sys
from contextlib import contextmanager, suppress
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

RATE = 0.1
"""The learning rate: ordinary steps must not happen to end at 0, where inf * 0 is NaN."""

STEEP = 1e5
"""The norm of the gradient of `steep_loss`."""


def line() -> torch.nn.Linear:
    """A model with one weight of 1 and no bias."""
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.ones_(model.weight)
    return model


def steep_loss(model: torch.nn.Module) -> torch.Tensor:
    """A finite loss whose gradient has the norm STEEP."""
    loss: torch.Tensor = model(torch.full((1, 1), STEEP)).sum()
    return loss


class Accelerator:
    """What `accelerate.Accelerator` does with one process and no mixed precision."""

    def backward(self, loss: torch.Tensor) -> None:
        """Start the backward at `loss`."""
        loss.backward()  # type: ignore[no-untyped-call] # torch has no types for it

    def clip_grad_norm_(self, parameters: Iterator[torch.Tensor], max_norm: float) -> torch.Tensor:
        """Clip as torch does."""
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm)


def call_with(function: Callable[..., Any], things: dict[str, Any]) -> object:
    """Call `function`, or the method of the class that it is, with the things that its parameters name."""
    if inspect.isclass(function):
        methods = [value for name, value in vars(function).items() if inspect.isfunction(value) and name != "__init__"]
        function = getattr(function(), methods[0].__name__)
    wanted = inspect.signature(function).parameters.values()
    needed = [parameter.name for parameter in wanted if parameter.default is parameter.empty]
    return function(**{name: things[name] for name in needed})


def weights_after(function: Callable[..., Any], things: Callable[[torch.nn.Module], dict[str, Any]]) -> torch.Tensor:
    """The weights of `line()` after `function` has trained it; an error that it raises stops it, as it would a run."""
    model = line()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    with suppress(ValueError, AssertionError):
        call_with(function, {"model": model, "optimizer": optimizer, **things(model)})
    return model.weight.detach().clone()


def poisoned_batches(fault: float) -> Sequence[torch.Tensor]:
    """Two batches; the forward of the second meets `fault`."""
    return [torch.ones(1, 1), torch.full((1, 1), fault), torch.ones(1, 1)]


def one_steep_step(model: torch.nn.Module) -> dict[str, Any]:
    """What a function that makes one step may be given: a steep loss, and settings that set nothing."""
    return {
        "loss": steep_loss(model),
        "config": SimpleNamespace(clip=None),
        "settings": {},
        "accelerator": Accelerator(),
    }


@contextmanager
def stand_ins(**modules: dict[str, Any]) -> Iterator[None]:
    """Let `import name` find a module with the given contents meanwhile."""
    before = {name: sys.modules.get(name) for name in modules}
    for name, contents in modules.items():
        module = ModuleType(name)
        vars(module).update(contents)
        sys.modules[name] = module
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                del sys.modules[name]
            else:
                sys.modules[name] = old
