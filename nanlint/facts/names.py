"""Names as they are written, and what a name means that no statement of the chunk has bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.ops.names import CANONICAL, MODULE_OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

BUILTINS = frozenset(
    {
        "float", "int", "bool", "max", "min", "abs", "sum", "len", "print", "getattr", "setattr", "round", "any", "all", "super",
        "range", "enumerate", "zip", "isinstance", "sorted", "map", "filter", "str", "list", "tuple", "dict", "set",
    }
)  # fmt: skip


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


def from_star(name: str, stars: Iterable[str]) -> str | None:
    """The full name of an operation that `from torch.nn.functional import *` brings in; None for other names."""
    for module in stars:
        if f"{module}.{name}" in CANONICAL or f"{module}.{name}" in MODULE_OPERATIONS:
            return f"{module}.{name}"
    return None
