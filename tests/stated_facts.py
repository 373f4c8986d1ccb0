"""Whether a value that torch computed is what a line of tests/ranges states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from nanlint.ops.interval import FINITE, Interval
from tests.ops_sampling import outside

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reveal_files import Fact

_KINDS: dict[str, Callable[[Any], bool]] = {
    "tensor": lambda value: isinstance(value, torch.Tensor),
    "number": lambda value: isinstance(value, (bool, int, float)),
    "module": lambda value: isinstance(value, nn.Module),
    "tuple": lambda value: isinstance(value, (tuple, list)),
    "text": lambda value: isinstance(value, str),
    "none": lambda value: value is None,
    "dtype": lambda value: isinstance(value, torch.dtype),
    "function": callable,
    "class": lambda value: isinstance(value, type),
    "instance": lambda value: not isinstance(value, (torch.Tensor, int, float, str, type)),
}


def disagreement(name: str, fact: Fact, value: Any) -> str | None:
    """What is wrong with `value`, if the fact of that name excludes it."""
    if isinstance(fact, Interval):
        return _outside(fact, value)
    if name == "kind":
        return None if _KINDS.get(fact, lambda _: True)(value) else f"a {type(value).__name__}"
    if not isinstance(value, torch.Tensor) or fact in {"unknown", "yes"}:
        return None
    if name == "gradient":
        return "a tensor that requires grad" if value.requires_grad else None
    kept = str(value.dtype).removeprefix("torch.")
    dtype = kept if value.is_floating_point() or kept == "bool" else "int"
    return None if dtype == fact else f"dtype {dtype}"


def _outside(fact: Interval, value: Any) -> str | None:
    if isinstance(value, (bool, int, float)):
        value = torch.tensor(float(value), dtype=torch.float64)
    if not isinstance(value, torch.Tensor):
        return None if fact == FINITE else str(value)
    odd = outside(fact, value) if value.numel() else []
    return str(odd) if odd else None
