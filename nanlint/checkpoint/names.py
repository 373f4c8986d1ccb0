"""Which parameter the optimizer's number 12 is.

An optimizer saves its state by number, in the order its groups were given the parameters. The names are in the model's
state. A naming is believed only if every shape agrees.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.contents import Contents, Entry, Role
from nanlint.checkpoint.saved import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.checkpoint.contents import Part

_NORM = re.compile(r"norm|(^|\.)ln_?\w*\.|(^|\.)bn\w*\.", re.IGNORECASE)

MOST = 5_000_000
"""Tensors times optimizers, above which parameters are told by number: each optimizer is compared with all of them."""

Shapes = dict[str, tuple[int, ...]]


def parameter_names(contents: Contents, optimizer: Part) -> dict[str, str]:
    """The names by number (as text, as the paths have them); nothing when no naming fits every shape."""
    groups = [group for group in optimizer.state["param_groups"] if isinstance(group, dict)]
    if len(contents.optimizers) * len(contents.entries) + sum(len(_listed(group, "params")) for group in groups) > MOST:
        return {}
    stated = [plain(name) for group in groups for name in _listed(group, "param_names")]
    numbers = [[plain(number) for number in _listed(group, "params")] for group in groups]
    flat = [number for group in numbers for number in group]
    if len(stated) == len(flat):
        return dict(zip(flat, stated, strict=True))
    shapes = _state_shapes(contents, optimizer)
    for model in _models(contents):
        for order in _orders(model, [len(group) for group in numbers]):
            named = dict(zip(flat, order, strict=True))
            if all(shapes[number] == entry.tensor.shape for number, entry in named.items() if number in shapes):
                return {number: entry.name for number, entry in named.items()}
    return {}


def _listed(group: dict[Any, Any], key: str) -> Sequence[Any]:
    found = group.get(key)
    return found if isinstance(found, list | tuple) else ()


def _state_shapes(contents: Contents, optimizer: Part) -> Shapes:
    """The shape of each parameter's state; a step count has none."""
    below = len(optimizer.path)
    mine = [
        entry
        for entry in contents.entries
        if entry.role is Role.OPTIMIZER and entry.file == optimizer.file and entry.path[:below] == optimizer.path
    ]
    return {entry.parameter: entry.tensor.shape for entry in mine if entry.parameter and entry.slot != "step"}


def _models(contents: Contents) -> Iterator[list[Entry]]:
    """The parameters of each model in the checkpoint, in their order, a shared one once."""
    by_place: dict[tuple[object, ...], list[Entry]] = {}
    for entry in contents.entries:
        if entry.role is Role.PARAMETER:
            by_place.setdefault((entry.file.partition("-of-")[2], *entry.path[:-1][:1]), []).append(entry)
    everything = [entry for entries in by_place.values() for entry in entries]
    for entries in (everything, *by_place.values()):
        yield list({entry.tensor.identity: entry for entry in reversed(entries)}.values())[::-1]


def _orders(model: list[Entry], sizes: list[int]) -> Iterator[list[Entry]]:
    """The orders in which people give a model's parameters to an optimizer, those with the right number of each group."""
    if sum(sizes) != len(model):
        return
    if len(sizes) == 1:
        yield model
        return
    for decayed in (_is_decayed_by_name, _is_matrix):
        first = [entry for entry in model if decayed(entry)]
        second = [entry for entry in model if not decayed(entry)]
        for halves in ((first, second), (second, first)):
            if [len(half) for half in halves if half] == [size for size in sizes if size]:
                yield [*halves[0], *halves[1]]
    yield model


def _is_decayed_by_name(entry: Entry) -> bool:
    return not entry.name.endswith("bias") and not _NORM.search(entry.name)


def _is_matrix(entry: Entry) -> bool:
    return len(entry.tensor.shape) > 1
