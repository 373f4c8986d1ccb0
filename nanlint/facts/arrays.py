"""What must be a tensor, or an array, by how it is used: nothing else is read at several places at once, or has such methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.ops.names import METHODS
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from nanlint.facts.context import Parents


def is_array(node: cst.CSTNode, parents: Parents) -> bool:
    """Whether `node` is made of `x[..., i]`, or one of a tensor's methods is called on it: `(a / b).mean()`."""
    if any(isinstance(inner, cst.Subscript) and _is_of_several(inner) for inner in walk(node)):
        return True
    around = parents.get(node)
    if isinstance(around, cst.Subscript) and around.value is node and _is_of_several(around):
        return True
    if not isinstance(around, cst.Attribute) or around.attr.value not in METHODS:
        return False
    called = parents.get(around)
    return isinstance(called, cst.Call) and called.func is around


def _is_of_several(part: cst.Subscript) -> bool:
    """`x[:, 0]`, `x[..., 0]`; a dict that is asked for a pair is rare."""
    return len(part.slice) > 1 or any(
        isinstance(each.slice, cst.Index) and isinstance(each.slice.value, cst.Ellipsis) for each in part.slice
    )
