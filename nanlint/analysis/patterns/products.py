"""Dot products, cosines and elements of rotations: numbers that are at most 1 on paper and round past it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.relations import aligned, has_a_diagonal, op_behind, same
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op, Value

_PRODUCTS = torch_names("matmul mm bmm dot einsum inner vdot mv tensordot linalg.vecdot cosine_similarity")
_THROUGH = torch_names("abs neg sub add mul div clamp")
_SUMS = torch_names("sum trace")
_DEEPEST = 4


def is_dot_product(value: Value) -> bool:
    """Whether it is a product summed up: `a @ b`, `(a * b).sum(-1)`, a cosine, the trace of a rotation less 1."""
    return _finds(value, _is_product, _DEEPEST)


def is_element_of_matrix(value: Value) -> bool:
    """Whether it is one number of each matrix: `rotation[..., 0, 1]`."""
    return _finds(value, _is_element, _DEEPEST)


def _finds(value: Value, holds: object, depth: int) -> bool:
    op = op_behind(value)
    if op is None or not depth:
        return False
    if holds(op):  # type: ignore[operator]
        return True
    if op.function not in _THROUGH:
        return False
    return any(_finds(each, holds, depth - 1) for each in op.operands.values())


def _is_product(op: Op) -> bool:
    if op.function in _PRODUCTS or op.function == "torch.trace":
        return True
    inner = op_behind(op.subject) if op.function in _SUMS and op.subject is not None else None
    if inner is None or inner.function != "torch.mul":
        return False
    return not aligned(inner.operands.get("input"), inner.operands.get("other"))


def _is_element(op: Op) -> bool:
    """Whether the last two indices are known numbers and those before take all there is."""
    node, index = op.node, op.operands.get("index")
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple) or index is None:
        return False
    before, numbers = node.slice.elts[:-2], index.parts[-2:]
    return bool(before) and all(map(_takes_all, before)) and all(part.number is not None for part in numbers)


def _takes_all(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) or (isinstance(node, ast.Constant) and node.value is ...)


_OF_MATRICES = torch_names("matmul mm bmm")
_SCALING = torch_names("mul div")


def is_gram(matrix: Value) -> bool:
    """`x.T @ x`, over a count perhaps, and `torch.cov(x)`: of fewer rows than columns it is singular, and so it is where all are equal."""
    op = op_behind(matrix)
    while op is not None and op.function in _SCALING and op.subject is not None:
        op = op_behind(op.subject)
    if op is None or op.function == "torch.cov":
        return op is not None
    factors = op.operands.get("input"), op.operands.get("other")
    return op.function in _OF_MATRICES and same(*factors) and not aligned(*factors)


def is_kept_regular(matrix: Value) -> bool:
    """Whether a diagonal was added: `x.T @ x + eps * torch.eye(n)`; or it is one."""
    op = op_behind(matrix)
    is_sum = op is not None and op.function in {"torch.add", "torch.sub"}
    return has_a_diagonal(matrix) or (is_sum and op is not None and any(map(has_a_diagonal, op.operands.values())))


FACTORS = {"torch.det": "determinant", "torch.prod": "product", "torch.cumprod": "product"}
"""Products of many factors, which leave a format long before their logarithm does."""


def product_of_factors(value: Value) -> Op | None:
    """The determinant or product that it is, or the size of; None for counts, and for what no gradient passes through."""
    op = op_behind(value)
    if op is not None and op.function == "torch.abs" and op.subject is not None:
        op = op_behind(op.subject)
    if op is None or op.function not in FACTORS or op.subject is None:
        return None
    return None if value.range.integer or op.subject.detached else op
