"""What a name or a dotted expression refers to: the import map instead of libcst's scope analysis.

Imports anywhere in the file count for the whole file; a name that a chunk binds itself hides the import there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.ops.names import CANONICAL, MODULE_OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Collection

    from nanlint.source.outline import Outline

_BUILTINS = frozenset({"float", "int", "bool", "max", "min", "abs", "sum", "len", "print", "getattr", "round", "any", "all"})


def dotted_text(node: cst.BaseExpression) -> str | None:
    """`a.b.c` for a chain of plain names, None for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))


def imported_name(node: cst.BaseExpression, outline: Outline, bound: Collection[str]) -> str | None:
    """The full dotted name that `node` refers to through an import or a builtin; None for local things."""
    text = dotted_text(node)
    if text is None:
        return None
    root, dot, rest = text.partition(".")
    if root in bound:
        return None
    if root in outline.imports:
        return f"{outline.imports[root]}{dot}{rest}"
    if not dot and root not in _BUILTINS:
        for module in outline.stars:
            if f"{module}.{root}" in CANONICAL or f"{module}.{root}" in MODULE_OPERATIONS:
                return f"{module}.{root}"
    return root if root in _BUILTINS and not dot else None
