"""Whether tensors take part in a computation of which no annotation tells: by how it is written."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ARRAY, JOIN, TENSOR
from nanlint.analysis.relations import maker, op_behind
from nanlint.ops.names import tensor_methods
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op, Value

SIZES = tensor_methods("numel size") | word_set("len")
_DEEPEST = 8


def sliced(value: Value | None) -> Op | None:
    """The making of a part of a tensor: a list has no `[..., 0]`."""
    op = maker(value, word_set("subscript <element>"))
    index = op.node.slice if op is not None and isinstance(op.node, ast.Subscript) else None
    return op if op is not None and (op.function == "subscript" or isinstance(index, ast.Tuple | ast.Slice)) else None


def is_data(value: Value, depth: int = _DEEPEST) -> bool:
    """Whether tensors take part in it: numbers from settings add up and subtract as well."""
    op = op_behind(value)
    if value.kind in {TENSOR, ARRAY} or sliced(value) is not None:
        return True
    if op is None or not depth or (op.function.startswith("<") and op.function != JOIN):
        return False
    return is_of_tensors(op) or any(is_data(each, depth - 1) for each in op.operands.values())


def is_of_tensors(op: Op) -> bool:
    """Whether it is written as a method or as a function of torch: numbers have operators, `abs` and `math.sqrt`."""
    func = op.node.func if isinstance(op.node, ast.Call) else None
    is_math = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "math"
    return (
        isinstance(func, ast.Attribute)
        and not is_math
        and op.function.startswith("torch.")
        and op.function not in SIZES
    )
