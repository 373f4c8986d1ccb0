"""What lies between -1 and 1 on paper alone, and rounds past them: dot products of unit vectors, parts of a length.

The cosine of a vector with itself is 1.0000001 as often as 1; so is `x / r` where r was computed from x and nothing else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.naming import words_of
from nanlint.facts.values import UNKNOWN
from nanlint.facts.written import text_of

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call

_DOTS = frozenset(
    {
        "torch.matmul", "torch.bmm", "torch.mm", "torch.mv", "torch.dot", "torch.einsum", "torch.inner", "torch.vdot",
        "torch.linalg.vecdot", "torch.trace", "torch.baddbmm", "torch.tensordot", "torch.nn.functional.linear",
    }
)  # fmt: skip
_THROUGH = frozenset({"torch.div", "torch.sub", "torch.add", "torch.mul", "torch.neg", "torch.abs"})
_NORMS = frozenset(
    {"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm", "torch.sqrt", "torch.hypot", ".norm"}
)
_LENGTHS = frozenset({"norm", "length", "magnitude", "radius"})
# `r[:, 0, 0] + r[:, 1, 1] + r[:, 2, 2]` is the trace of a rotation.
# An element of these is a sine or a cosine.
_ROTATIONS = frozenset({"matrix", "matrices", "mat", "rotation", "rotations", "rot", "rotmat", "rmat", "r"})
_DIAGONAL, _ROTATION, _HALF = re.compile(r"\[(?:[^][]*, ?)?(\d), ?\1\]"), 3, 0.5
_DEEPEST = 4


def is_dot(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether `node` is computed from a dot product, a sum of products, or a trace: `0.5 * (trace - 1)`."""
    origin = _origin(node, evaluator)
    if origin is None or depth == _DEEPEST:
        return False
    if origin.function == "torch.sum":
        made = evaluator.values.get(origin.subject, UNKNOWN).made_by if origin.subject is not None else None
        return made is not None and made.function in {"torch.mul", "torch.diagonal"} and made.node in evaluator.values
    if origin.function == "torch.add" and len(set(_DIAGONAL.findall(text_of(origin.node)))) == _ROTATION:
        return True
    if origin.function == "torch.mul" and any(_is_below_one(factor, evaluator) for factor in origin.arguments.values()):
        return False
    if origin.function in _THROUGH:
        return any(is_dot(operand, evaluator, depth + 1) for operand in origin.arguments.values())
    return origin.function in _DOTS


def is_of_rotation(node: cst.BaseExpression | None) -> bool:
    """`matrix[..., i, j]`: one element of each matrix, of which an inverse sine or cosine is taken because it is a rotation."""
    node = node.expression if isinstance(node, cst.UnaryOperation) else node
    if not isinstance(node, cst.Subscript) or _ROTATIONS.isdisjoint(words_of(node.value)):
        return False
    places = [element.slice for element in node.slice]
    return (
        len([each for each in places if isinstance(each, cst.Index) and not isinstance(each.value, cst.Ellipsis)]) > 1
    )


def is_part_of_length(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether `node` is `z / r` with a norm or a root as r, or what is called one; an eps in it keeps it within 1."""
    origin = _origin(node, evaluator)
    below = origin.arguments.get("other") if origin is not None and origin.function == "torch.div" else None
    if below is None:
        return False
    made = evaluator.values.get(below, UNKNOWN).origin
    return made.function in _NORMS if made is not None else not _LENGTHS.isdisjoint(words_of(below))


def _is_below_one(factor: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`(1 - 1e-6)`, which keeps a product of unit vectors inside."""
    number = evaluator.values.get(factor, UNKNOWN).number
    return number is not None and _HALF < number < 1


def _origin(node: cst.BaseExpression | None, evaluator: Evaluator) -> Call | None:
    origin = evaluator.values.get(node, UNKNOWN).origin if node is not None else None
    return origin if origin is not None and origin.node in evaluator.values else None
