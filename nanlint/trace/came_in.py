"""Values that were not finite before any operation of the step: whose they are, and where in the tensor."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_flatten

from nanlint.trace.evidence import variables_of
from nanlint.trace.measure import is_checkable
from nanlint.trace.names import storage_of
from nanlint.trace.places import is_foreign

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Batch = list[tuple[str, torch.Tensor]]
"""The tensors that a step was given, by name."""
LISTED = 3
"""More columns or rows than this are counted, not listed."""


def named_tensors(values: Iterable[tuple[str, Any]]) -> Batch:
    """The tensors in `values`, each by the script's name for it, or else by the one it comes with."""
    tensors = [(name, leaf) for name, value in values for leaf in tree_flatten(value)[0] if is_checkable(leaf)]
    return [(variable_of(tensor) or name or "batch", tensor) for name, tensor in tensors]


def in_batch(tensor: torch.Tensor, batch: Batch) -> tuple[str, torch.Tensor] | None:
    """The tensor of the batch that this one is, or looks into."""
    return next(((name, each) for name, each in batch if storage_of(each) == storage_of(tensor)), None)


def variable_of(tensor: torch.Tensor) -> str:
    """The name by which the script knows it, the innermost first; empty if it has none."""
    frame, key = sys._getframe(1), storage_of(tensor)  # noqa: SLF001 - the variables of whoever is running
    while frame is not None:
        if not is_foreign(frame.f_code.co_filename):
            for name, value in _named(variables_of(frame)):
                if is_checkable(value) and storage_of(value) == key:
                    return name
        frame = frame.f_back  # type: ignore[assignment] # None ends it
    return ""


def _named(variables: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Variables, the items of plain containers, and the attributes of `self`."""
    for name, value in variables.items():
        if not name.startswith("__"):
            yield name, value
    for name, value in variables.items():
        if type(value) is dict and not name.startswith("__"):
            yield from ((f"{name}[{key!r}]", item) for key, item in list(value.items())[:50])
        elif type(value) in {list, tuple}:
            yield from ((f"{name}[{index}]", item) for index, item in enumerate(value[:50]))
        elif name == "self":
            yield from ((f"self.{key}", item) for key, item in list(getattr(value, "__dict__", {}).items()))


def where_bad(tensor: torch.Tensor) -> str:
    """`in column 2 (row 5 of 8)`, or an empty text where there are no rows."""
    bad = ~torch.isfinite(tensor.detach())
    if bad.ndim == 0 or not bool(bad.any()):
        return ""
    rows = bad.reshape(len(bad), -1).any(1).nonzero().flatten().tolist()
    told_rows = f"{_listed('row', rows)} of {len(bad)}" if len(rows) <= LISTED else f"{len(rows)} of {len(bad)} rows"
    if bad.ndim not in {2, 3}:
        return f"in {told_rows}"
    columns = bad.reshape(-1, bad.shape[-1]).any(0).nonzero().flatten().tolist()
    if len(columns) > LISTED or len(columns) == bad.shape[-1]:
        return f"in {told_rows}"
    return f"in {_listed('column', columns)} ({told_rows})"


def _listed(word: str, indices: Sequence[int]) -> str:
    return f"{word}{'s' if len(indices) > 1 else ''} {', '.join(map(str, indices))}"
