"""What must be a tensor, or an array, by how it is used: nothing else is read at several places at once, or has such methods."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.given import assigned
from nanlint.facts.values import Form
from nanlint.ops.names import METHODS, SIGNATURES
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from nanlint.facts.context import Parents
    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call

MODULE_NAMES = frozenset({"torch", "F", "nn", "np", "math", "self", "cls"})


# Of an expression larger than this, nobody looks at all for each of its parts.
_MOST = 500


def is_array(node: cst.CSTNode, parents: Parents) -> bool:
    """Whether `node` is made of `x[..., i]`, or one of a tensor's methods is called on it: `(a / b).mean()`."""
    if _holds_several(node):
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


def are_arrays(node: cst.CSTNode, evaluator: Evaluator) -> bool:
    """Whether a name in `node` is that of an array: the subject of a function of torch's elsewhere, or made of `x[:, 0]`."""
    near = islice(walk(node), _MOST)
    names = [inner for inner in near if isinstance(inner, cst.Name) and inner.value not in MODULE_NAMES]
    subjects = {
        call.subject.value
        for call in evaluator.calls.values()
        if is_of_tensors(call) and isinstance(call.subject, cst.Name)
    }
    return any(name.value in subjects or _holds_several(assigned(name, evaluator)) for name in names)


def _holds_several(node: cst.CSTNode) -> bool:
    return any(isinstance(inner, cst.Subscript) and _is_of_several(inner) for inner in islice(walk(node), _MOST))
