"""Every node of a tree that was read from a checkpoint, with the path to it, each container once.

A file can describe more paths than atoms in the universe with a few bytes (a list of a list twice, forty times over):
a container that was seen is not entered again, and nothing is looked for below `DEEPEST`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from nanlint.checkpoint.saved import Opaque, SavedTensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    Path = tuple[str, ...]

DEEPEST = 60

# How a pickled module keeps its parts, which is of no interest to whoever reads a parameter's name.
_INSIDE_A_MODULE = frozenset({"_modules", "_parameters", "_buffers"})


class Node(NamedTuple):
    """A value, and the keys that lead to it."""

    path: tuple[str, ...]
    value: Any


def walk(tree: Any) -> Iterator[Node]:
    """The nodes in reading order; an object that stands for a tensor is that tensor."""
    waiting: list[Node] = [Node((), tree)]
    seen: set[int] = set()
    while waiting:
        path, value = waiting.pop()
        meaning = value.meaning if isinstance(value, Opaque) else None
        yield Node(path, value if meaning is None else meaning)
        if (
            meaning is None
            and isinstance(value, dict | list | tuple | Opaque)
            and len(path) < DEEPEST
            and id(value) not in seen
        ):
            seen.add(id(value))
            below = [Node((*path, str(key)), child) for key, child in _children(value) if _matters(child)]
            waiting += reversed(below)


def _matters(value: Any) -> bool:
    return isinstance(value, dict | list | tuple | Opaque | SavedTensor | float)


def _children(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Opaque):
        yield from value.children()
    else:
        yield from value.items() if isinstance(value, dict) else enumerate(value)


def shown(path: tuple[str, ...]) -> str:
    """The path as a user knows it: `model.blocks.3.weight`."""
    return ".".join(part for part in path if part not in _INSIDE_A_MODULE) or "the tensor"
