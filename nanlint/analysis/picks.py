"""Sums in which one number of each row is picked, by a one-hot, by a test that something passes, of shares the best; and diagonals."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import TENSOR, Op, Value, made_from
from nanlint.analysis.relations import maker, root, same
from nanlint.analysis.selection import SUBSCRIPT
from nanlint.ops.interval import INF, Interval, point
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Iterator

_ONE_HOT, _SCATTERED = frozenset({"torch.nn.functional.one_hot"}), frozenset({"torch.scatter"})
_MATRICES = torch_names("mm outer eye cov corrcoef")
_ELEMENTWISE = torch_names("exp div mul add sub neg pow clamp sigmoid")
_DEEPEST = 6
_AT_LEAST_ONE = Interval(1.0, INF, plus_inf=True, nan=True)


def sum_of_picks(op: Op) -> Interval | None:
    """What a sum is of which one term is known: that of the true label, of what is equal to itself, of the best share."""
    test, along = maker(op.subject, "torch.eq"), op.operands.get("dim")
    if test is not None and same(test.operands.get("input"), test.operands.get("other")):
        return _AT_LEAST_ONE
    best = maker(op.subject, "torch.topk")
    if best is not None and maker(best.subject, "torch.softmax") is not None:
        return Interval(0.0, INF, nan=True, nonzero=True)  # the largest of shares that add up to 1 is not 0
    if along is None or along.constant != -1:
        return None
    if maker(op.subject, _ONE_HOT) is not None:
        return point(1.0)
    return next((replace(value.range, nan=True) for hot, value in _picked(op) if hot.function in _ONE_HOT), None)


def is_positive_pick(op: Op) -> bool:
    """Whether a sum along some dimension picks numbers above 0 by a one-hot: which dimension that has, only its shape says."""
    is_along = op.function == "torch.sum" and "dim" in op.operands
    return is_along and any(value.range.low > 0 for _, value in _picked(op))


def is_matrix(value: Value, depth: int = _DEEPEST) -> bool:
    """Whether it surely has two dimensions, so that `diag` takes its diagonal and builds no matrix around it."""
    op = made_from(root(value, moved=False))
    if op is None or not depth:
        return False
    if op.function in _MATRICES:
        return True
    if op.function == "torch.matmul":  # of a vector with itself it is one number, which has no diagonal
        first, second = list(op.operands.values())[:2]
        return same(first, second)
    if op.function == SUBSCRIPT:
        index = getattr(op.node, "slice", None)
        is_stretch = all(
            isinstance(each, ast.Slice) for each in (index.elts if isinstance(index, ast.Tuple) else [index])
        )
        return is_stretch and op.subject is not None and is_matrix(op.subject, depth - 1)
    tensors = [each for each in op.operands.values() if each.kind is TENSOR]
    return op.function in _ELEMENTWISE and bool(tensors) and is_matrix(tensors[0], depth - 1)


def _picked(op: Op) -> Iterator[tuple[Op, Value]]:
    """The one-hot of `(one_hot * x).sum(dim)`, and x."""
    product = made_from(op.subject)
    if product is None or product.function != "torch.mul":
        return
    first, second = list(product.operands.values())[:2]
    for one, other in ((first, second), (second, first)):
        hot = maker(one, _ONE_HOT) or maker(one, _SCATTERED)
        if hot is not None and (hot.function in _ONE_HOT or _is_one_hot(hot)):
            yield hot, other


def _is_one_hot(op: Op) -> bool:
    """`zeros.scatter_(1, labels, 1)`."""
    written = op.operands.get("src") or op.operands.get("value")
    return op.subject is not None and op.subject.range.constant == 0 and written is not None and written.number == 1
