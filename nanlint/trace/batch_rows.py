"""The batch of a bad step: what it was, which of its rows stand out, and a file that holds it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_flatten

from nanlint.trace.came_in import variable_of, where_bad
from nanlint.trace.diagnosis import Given
from nanlint.trace.measure import is_checkable, stats_of
from nanlint.trace.words import number

if TYPE_CHECKING:
    from collections.abc import Iterable

STANDS_OUT = 100.0
"""Times above the median row."""
MOST = 12
"""Tensors that are told of."""


def tensors_in(values: Iterable[tuple[str, Any]]) -> dict[str, torch.Tensor]:
    """Every tensor of a batch by the name that the script or the loader has for it."""
    found: dict[str, torch.Tensor] = {}
    for name, value in values:
        leaves = [leaf for leaf in tree_flatten(value)[0] if type(leaf) is torch.Tensor]
        for index, leaf in enumerate(leaves):
            known = variable_of(leaf) if is_checkable(leaf) else ""
            place = f"{name or 'batch'}[{index}]" if len(leaves) > 1 or not name else name
            found.setdefault(known or place, leaf.detach())
    return dict(list(found.items())[:MOST])


def told(batch: dict[str, torch.Tensor]) -> tuple[Given, ...]:
    """Shape, range and rows of each."""
    return tuple(Given(stats_of(name, tensor), rows_of(tensor)) for name, tensor in batch.items())


def rows_of(tensor: torch.Tensor) -> str:
    """The rows with values that are not finite, or the one that is far larger than the others; empty if none stands out."""
    if tensor.ndim == 0 or not tensor.numel() or not is_checkable(tensor) or tensor.is_complex():
        return ""
    bad = where_bad(tensor)
    if bad:
        return f"not finite {bad}"
    if len(tensor) < 3:
        return ""
    sizes = tensor.reshape(len(tensor), -1).abs().amax(1).double()
    largest, median = float(sizes.max()), float(sizes.median())
    if largest <= STANDS_OUT * max(median, 1e-12):
        return ""
    return f"row {int(sizes.argmax())} reaches {number(largest)}, the median row {number(median)}"


def save(batch: dict[str, torch.Tensor], path: str) -> str:
    """Write the tensors for `torch.load`; what went wrong, or an empty text."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        torch.save({name: tensor.cpu() for name, tensor in batch.items()}, path)
    except (OSError, RuntimeError) as error:
        return f"the batch could not be saved as {path}: {error}"
    return ""
