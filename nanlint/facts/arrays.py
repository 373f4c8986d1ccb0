"""What must be a tensor, or an array, by how it is used: nothing else is read at several places at once, or has such methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.values import Form
from nanlint.ops.names import METHODS, SIGNATURES
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.facts.context import Parents
    from nanlint.facts.values import Call

MODULE_NAMES = frozenset({"torch", "F", "nn", "np", "math", "self", "cls"})


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


def is_of_tensors(call: Call) -> bool:
    """Whether a function of torch's is called by its name."""
    return call.form is Form.FUNCTION and call.function in SIGNATURES


def are_given_to_torch(node: cst.CSTNode, calls: Iterable[Call]) -> bool:
    """Whether a name in `node` is the subject of a function of torch's elsewhere, as in `torch.isinf(low)`: a tensor here, too."""
    names = {inner.value for inner in walk(node) if isinstance(inner, cst.Name)} - MODULE_NAMES
    subjects = (call.subject for call in calls if is_of_tensors(call))
    return any(isinstance(subject, cst.Name) and subject.value in names for subject in subjects)
