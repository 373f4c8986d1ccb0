"""What is looked at now and then: how far a step moves each weight, and how large the results of modules are.

Of a weight some hundred values are compared before and after a step, every TENTH step and in the first steps. Results of modules
are looked at in every FIFTIETH step, by hooks that are there in that step only; nothing is hooked once something was compiled.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules.module import register_module_forward_hook
from torch.utils._pytree import tree_flatten

from nanlint.trace.measure import is_checkable
from nanlint.trace.names import Names, compiled_functions

if TYPE_CHECKING:
    from collections.abc import Iterable

TENTH = 10
FIFTIETH = 50
FIRST = 20
"""Steps in which every update is measured: a rate that is too high shows at once."""
VALUES = 256
"""Of each weight."""
SHOWN = 12
"""Layers that are kept of a sample: those nearest to trouble."""


class Sampler:
    """Takes the samples of one run."""

    def __init__(self) -> None:
        self.ratios: dict[str, float] = {}
        """The last update of each weight over the weight itself, the largest first."""
        self._activations: dict[str, float] = {}
        self._margin: float | None = None
        self._names: Names | None = None
        self._before: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._hook: Any = None
        self._seen: dict[int, tuple[torch.nn.Module, torch.Tensor, torch.dtype]] = {}
        self._compiled = compiled_functions()

    def before_step(self, parameters: Iterable[torch.Tensor], step: int) -> None:
        """Read what modules returned, if this was a step to look at it; note weights, if it is one to measure updates."""
        self._read_activations()
        self._before = []
        if step <= FIRST or step % TENTH == 0:
            with torch.no_grad():
                self._before = [(each, _some(each).clone()) for each in parameters if _is_weight(each)]

    def after_step(self, step: int) -> bool:
        """Whether updates were measured; and begin to look at modules, if the next step is one to do so."""
        if step + 1 == 2 or (step + 1) % FIFTIETH == 0:
            self._watch_modules()
        if not self._before:
            return False
        noted, self._before = self._before, []
        with torch.no_grad():
            old = [values for _, values in noted]
            moved = torch._foreach_norm(torch._foreach_sub([_some(each) for each, _ in noted], old))  # noqa: SLF001 - fused
            sizes = torch._foreach_norm(old)  # noqa: SLF001 - same
            shares = (torch.stack(list(moved)).float() / torch.stack(list(sizes)).float().clamp_min(1e-12)).tolist()
        names = self._gathered()
        found = {names.of_tensor(each) or f"parameter {index}": share for index, ((each, _), share) in enumerate(zip(noted, shares, strict=True))}  # fmt: skip
        self.ratios = dict(sorted(found.items(), key=lambda item: -item[1])[:SHOWN])
        return True

    def taken(self) -> tuple[dict[str, float], float | None]:
        """The largest results of modules and the margin to the end of the format, if this was a step to look at them."""
        found = (self._activations, self._margin)
        self._activations, self._margin = {}, None
        return found

    def remove(self) -> None:
        """Leave no hook behind."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def _gathered(self) -> Names:
        if self._names is None:
            self._names = Names.gather()
        return self._names

    def _watch_modules(self) -> None:
        if self._hook is None and compiled_functions() == self._compiled:
            self._seen.clear()
            self._hook = register_module_forward_hook(self._after_module)

    def _after_module(self, module: torch.nn.Module, _arguments: Any, result: Any) -> None:
        if not torch.is_grad_enabled():
            return
        for tensor in [result] if isinstance(result, torch.Tensor) else tree_flatten(result)[0]:
            if is_checkable(tensor) and tensor.numel() and not tensor.is_complex():
                with torch.no_grad():
                    self._seen[id(module)] = (module, tensor.detach().abs().amax(), tensor.dtype)

    def _read_activations(self) -> None:
        if self._hook is None:
            return
        self.remove()
        seen, self._seen = list(self._seen.values()), {}
        if not seen:
            return
        values = torch.stack([value.float() for _, value, _ in seen]).tolist()
        names = self._gathered()
        rows = [
            (torch.finfo(dtype).max / max(value, 1e-30), names.of_module(module), value)
            for (module, _, dtype), value in zip(seen, values, strict=True)
        ]
        rows.sort()
        self._margin = rows[0][0]
        self._activations = {name: value for _, name, value in rows[:SHOWN]}


def _is_weight(parameter: torch.Tensor) -> bool:
    return parameter.grad is not None and parameter.ndim >= 2 and type(parameter) is torch.nn.Parameter


def _some(parameter: torch.Tensor) -> torch.Tensor:
    """A view of values all over the weight."""
    values = parameter.detach()
    flat = values.view(-1) if values.is_contiguous() else values.reshape(-1)
    return flat[:: max(1, flat.numel() // VALUES)]
