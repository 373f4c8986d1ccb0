"""What one run came to, and where its tensors are: in containers, dataclasses, distributions and plain objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_flatten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.confirm.worker.origin import Tracer

OVERFLOW = (
    "without overflow",
    "unsafe to autocast",
    "probability tensor contains",
    "contains NaN",
    "contained non-finite",
    "input contains infs or NaNs",
    "failed to converge",
)
"""What torch says when it refuses a value that is not finite or does not fit."""


@dataclass
class Outcome:
    """What one run came to."""

    forward: bool = False
    """The results are not finite."""
    backward: bool = False
    """The gradients are not finite."""
    error: str = ""
    refused: bool = False
    """torch itself refused a value: the run raised because of it."""
    damaged: list[torch.Tensor] = field(default_factory=list)
    tracer: Tracer | None = None
    trace: Any = None
    outputs: int = 0

    @property
    def is_bad(self) -> bool:
        """Whether anything is not finite."""
        return self.forward or self.backward or self.refused


def is_finite(tensor: torch.Tensor) -> bool:
    """Whether every element is finite."""
    return bool(torch.isfinite(tensor).all())


def has_bad_float(result: Any) -> bool:
    """Whether a plain number in the result is NaN or infinite."""
    return any(isinstance(one, float) and (one != one or abs(one) == float("inf")) for one in tree_flatten(result)[0])  # noqa: PLR0124 - NaN is the only value unlike itself


def left_behind(owner: Any, arguments: Any) -> tuple[list[torch.Tensor], list[float]]:
    """What a run may have damaged without returning it: attributes, weights and buffers, and what it was given."""
    given = list(arguments.values()) if isinstance(arguments, dict) else list(arguments)
    tensors: dict[int, torch.Tensor] = {}
    numbers: list[float] = []
    for thing in (owner, *given):
        held = [thing] if not isinstance(thing, torch.nn.Module) else _states(thing)
        kept = vars(thing) if hasattr(thing, "__dict__") and not isinstance(thing, (type, torch.Tensor)) else {}
        held += [value for name, value in kept.items() if not name.startswith("__")]
        for one in [*held, *(state for value in kept.values() for state in _states(value))]:
            tensors.update({id(found): found for found in tensors_in(one)})
        numbers += [value for value in kept.values() if isinstance(value, float)]
    return list(tensors.values()), numbers


def _states(thing: Any) -> list[Any]:
    """The weights and buffers of a module."""
    return [*thing.parameters(), *thing.buffers()] if isinstance(thing, torch.nn.Module) else []


def tensors_in(value: Any, depth: int = 0) -> list[torch.Tensor]:
    """The floating point tensors of a result: in containers, dataclasses and plain objects."""
    return list(_tensors_in(value, depth))


def _tensors_in(value: Any, depth: int) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        if value.is_floating_point() or value.is_complex():
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors_in(item, depth)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors_in(item, depth)
    elif isinstance(value, torch.distributions.Distribution):
        yield from _tensors_in([part for part in vars(value).values() if isinstance(part, torch.Tensor)], depth)
    elif (
        depth < 2
        and hasattr(value, "__dict__")
        and not isinstance(value, (torch.nn.Module, type))
        and not callable(value)
    ):
        yield from _tensors_in(vars(value), depth + 1)
