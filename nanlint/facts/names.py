"""Names as they are written, and what a name means that no statement of the chunk has bound."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.ops.names import CANONICAL, MODULE_OPERATIONS
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

BUILTINS = frozenset(
    {
        "float", "int", "bool", "max", "min", "abs", "sum", "len", "print", "getattr", "setattr", "round", "any", "all", "super",
        "range", "enumerate", "zip", "isinstance", "sorted", "map", "filter", "str", "list", "tuple", "dict", "set",
    }
)  # fmt: skip

# What a star import brings of somebody's module are the names that this module imported itself; these mean one thing.
_MODULES = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional"}
_GLOBAL = re.compile(r"global[ \t]+([\w, \t]+)")


def names_in(node: cst.CSTNode) -> set[str]:
    """Every plain name in `node`."""
    return {inner.value for inner in walk(node) if type(inner) is cst.Name}


def dotted_text(node: cst.CSTNode) -> str | None:
    """`a.b.c` for a chain of plain names, None for anything else."""
    # Asked of every node: the classes have none below them, and isinstance takes three times as long.
    if type(node) is cst.Name:
        return node.value
    text = ""
    while type(node) is cst.Attribute:
        text = f".{node.attr.value}{text}"
        node = node.value
    return node.value + text if type(node) is cst.Name else None


def from_star(name: str, stars: Sequence[str]) -> str | None:
    """What `from torch.nn.functional import *` and `from .blocks import *` bring in: an operation, or torch; None for other names."""
    for module in stars:
        if f"{module}.{name}" in CANONICAL or f"{module}.{name}" in MODULE_OPERATIONS:
            return f"{module}.{name}"
    return _MODULES.get(name) if stars else None


def declared_global(text: str) -> frozenset[str]:
    """The names that functions in `text` declare to be those of the module, which they may then assign."""
    # From the word to the line's beginning: looking at each line takes ten times as long.
    lines = ((match, text[text.rfind("\n", 0, match.start()) + 1 : match.start()]) for match in _GLOBAL.finditer(text))
    names = (match[1].split(",") for match, before in lines if before and not before.strip(" \t"))
    return frozenset(name.strip() for group in names for name in group)
