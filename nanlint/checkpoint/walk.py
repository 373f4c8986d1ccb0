"""Every node of a tree that was read from a checkpoint, with the path to it, each container once.

A file can describe more paths than atoms in the universe with a few bytes (a list of a list twice, forty times over):
a container that was seen is not entered again, and nothing is looked for below `DEEPEST`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from nanlint.checkpoint.saved import Opaque, SavedTensor, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    Path = tuple[str, ...]

DEEPEST = 60
LONGEST_NAME = 400

# How a pickled module keeps its parts, which is of no interest to whoever reads a parameter's name.
_INSIDE_A_MODULE = frozenset({"_modules", "_parameters", "_buffers"})


class Node(NamedTuple):
    """A value, and the keys that lead to it."""

    path: tuple[str, ...]
    value: Any


def walk(tree: Any) -> Iterator[Node]:
    """The nodes that matter, in reading order; an object that stands for a tensor is that tensor."""
    waiting: list[Iterator[Node]] = [iter([Node((), tree)])]
    seen: set[int] = set()
    while waiting:
        node = next(waiting[-1], None)
        if node is None:
            waiting.pop()
            continue
        path, value = node
        meaning = value.meaning if isinstance(value, Opaque) else None
        if meaning is not None or not isinstance(value, dict | list | tuple | Opaque):
            yield Node(path, value if meaning is None else meaning)
        elif id(value) not in seen:
            seen.add(id(value))
            yield node
            if len(path) < DEEPEST:
                waiting.append(_below(path, value))


def _below(path: tuple[str, ...], value: Any) -> Iterator[Node]:
    return (Node((*path, plain(key)), child) for key, child in _children(value) if _matters(child))


def _matters(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, dict | list | tuple | Opaque | SavedTensor)


def _children(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Opaque):
        yield from value.children()
    else:
        yield from value.items() if isinstance(value, dict) else enumerate(value)


def shown(path: tuple[str, ...]) -> str:
    """The path as a user knows it: `model.blocks.3.weight`."""
    name = ".".join(part for part in path if part not in _INSIDE_A_MODULE) or "the tensor"
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME // 2]} ... {name[-LONGEST_NAME // 2 :]}"
