"""What is taken out of a tensor: what a mask selects may be nothing, and how many there are."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ARRAY, ELEMENT, GUARDED, JOIN, NUMBER, TENSOR, TUPLE, Op, Value
from nanlint.ops.interval import COUNT, FINITE, INF, TRUTH, Interval, point
from nanlint.ops.names import METHODS, tensor_methods
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SIZE = Interval(1.0, INF, integer=True)
"""The size of a dimension: of ordinary tensors none is 0."""
SUBSCRIPT = "subscript"
VIEWS = tensor_methods("""
    view reshape flatten squeeze unsqueeze permute transpose contiguous clone expand select narrow gather index_select
    float double half bfloat16 to detach cpu t expand_as view_as reshape_as type_as repeat broadcast_to cuda flip roll
    movedim unflatten
""")
"""Operations whose result holds the values of their input and nothing else, whatever its shape or dtype."""
_TOTALS = torch_names("sum mean norm linalg.vector_norm")
_UNIQUE = torch_names("unique unique_consecutive")
_SECOND = {"torch.slogdet": FINITE, **dict.fromkeys(torch_names("svd linalg.svd"), Interval(0.0, INF))}
_SELECTING = torch_names("masked_select nonzero argwhere")
_ELEMENTWISE = torch_names("""
    add sub mul div pow abs neg square sqrt exp log relu sigmoid clamp nn.functional.softplus nn.functional.relu
""")


def may_be_empty(value: Value) -> bool:
    """Whether it holds what a mask or a search selects, and nothing tells that it selects something."""
    return emptied_by(value) is not None


def emptied_by(  # noqa: PLR0911 - the first operation that tells decides
    value: Value, depth: int = 12, *, selects: Callable[[Value], bool] | None = None
) -> Value | None:
    """The mask or search that may leave nothing of a value, itself or what it was computed of; None if there is none.

    `selects` tells which indices are masks, if not those that are made of truth values.
    """
    op = value.op
    if op is None or value.some or not depth:
        return None
    if op.function in _SELECTING:
        mask = op.operands.get("mask") or value
        return mask if not mask.some and (op.subject is None or not op.subject.some) else None
    if op.function == ELEMENT and selects is not None:  # of what may be a tensor
        index = op.operands.get("index")
        return index if index is not None and selects(index) and not index.some else None
    if op.function == SUBSCRIPT:
        index = op.operands.get("index")
        if index is not None and ((selects or is_mask)(index) or _is_inverted(index)):
            return index if not index.some else None
        by_places = emptied_by(index, depth - 1, selects=selects) if index is not None else None
        if by_places is not None:
            return by_places
    elif op.function == "torch.cat" or op.where == "comprehension":
        parts = op.subject.parts if op.subject is not None and op.subject.parts else tuple(op.operands.values())[:1]
        masks = [emptied_by(each, depth - 1, selects=selects) for each in parts]
        return masks[0] if masks and None not in masks else None
    elif op.function in _ELEMENTWISE or (op.function == JOIN and op.where != "element"):
        found = (
            emptied_by(each, depth - 1, selects=selects) for each in op.operands.values() if each.kind is not NUMBER
        )
        return next((mask for mask in found if mask is not None), None)
    elif op.function not in VIEWS and op.function != GUARDED and not _keeps_the_first(op):
        return None
    return emptied_by(op.subject, depth - 1, selects=selects) if op.subject is not None else None


def _is_inverted(index: Value) -> bool:
    """`x[~invalid]`: nobody takes elements at the complements of places."""
    return index.op is not None and index.op.function in {"torch.bitwise_not", "torch.logical_not"}


def _keeps_the_first(op: Op) -> bool:
    """`x.sum(-1)` of a selection has as many rows as were selected."""
    along = op.operands.get("dim")
    return op.function in _TOTALS and along is not None and along.number is not None and along.number != 0


def selected_by_name(value: Value) -> bool:
    """Whether something from elsewhere selects it that is called a mask."""
    from nanlint.analysis.sources import suggests_mask  # noqa: PLC0415 - they know each other

    return emptied_by(value, selects=suggests_mask) is not None


def is_mask(value: Value) -> bool:
    """Whether it is made of truth values."""
    return value.dtype == "bool" or (value.range == TRUTH and value.kind is not NUMBER)


def selected_range(whole: Value, index: Value | None) -> Interval:
    """What `x[x > 0]` holds: values of x that pass the test."""
    from nanlint.analysis.interpreter.conditions import range_where  # noqa: PLC0415 - they know each other

    return range_where(whole, index, holds=True) if index is not None and is_mask(index) else whole.range


def kept_by_test(*factors: Value | None) -> Interval | None:
    """`x * (x > 0)`, in either order: x where that holds, and else 0."""
    for value, test in (factors, factors[::-1]):
        kept = selected_range(value, test) if value is not None else None
        if kept is not None and value is not None and kept != value.range and value.range.is_finite:
            return kept.join(point(0.0))
    return None


def size_of(operands: Mapping[str, Value]) -> Interval:
    """How many there are: at least one, unless a mask chose them or nobody knows what they are."""
    subject = next(iter(operands.values()), None)
    if subject is None or subject.kind not in {TENSOR, ARRAY}:
        if subject is not None and subject.kind is TUPLE and subject.parts:
            return point(float(len(subject.parts)))
        return SIZE if subject is not None and subject.some else COUNT
    return COUNT if may_be_empty(subject) or selected_by_name(subject) else SIZE


def beside_first(whole: Value, place: int) -> Interval | None:
    """What an operation gives beside its first result: counts of `torch.unique`, at least 1 each, or singular values."""
    op = whole.op
    if op is None or op.function not in _UNIQUE:
        return _SECOND.get(op.function) if op is not None and place == 1 else None
    asked = (("return_inverse", COUNT), ("return_counts", SIZE))
    given = [reach for name, reach in asked if name in op.operands and op.operands[name].constant is True]
    return given[place - 1 if place > 0 else place] if place and abs(place) <= len(given) else None


def is_shape(value: Value) -> bool:
    """`x.shape`, and `x.size()` of which all sizes are unpacked or one is picked."""
    op = value.op
    is_called = op is not None and op.function == METHODS["size"] and "dim" not in op.operands
    return (value.kind is TUPLE and value.name == "shape") or (value.kind is NUMBER and is_called)


def range_of_each(listed: Value) -> Interval:
    """The numbers of each element of `[f(x) for x in xs]`; anything for other lists."""
    op = listed.op
    is_list = op is not None and op.where == "comprehension" and not isinstance(op.node, ast.DictComp)
    return op.operands["input"].range if op is not None and is_list else FINITE


def range_of_parts(value: Value) -> Interval:
    """Every number in an operand; of `[a, b]`, which torch.cat and torch.tensor are given, those of each part."""
    if value.kind is not TUPLE or not value.parts:
        return SIZE if is_shape(value) else value.range
    result: Interval | None = None
    waiting = list(value.parts)
    while waiting:
        part = waiting.pop()
        if part.kind is TUPLE and part.parts:
            waiting += part.parts
        else:
            result = part.range if result is None else result.join(part.range)
    return result if result is not None else value.range


def made_of_bits(op: Op, reach: Interval, dtype: str) -> tuple[Interval, str]:
    """A mask of masks; of an integer, `~n` is -1 - n."""
    operands = list(op.operands.values())
    if all(value.dtype == "bool" or (value.range == TRUTH and not value.dtype) for value in operands):
        return TRUTH, "bool"
    if op.function == "torch.bitwise_not" and operands[0].dtype == "int":
        return Interval(-1 - operands[0].range.high, -1 - operands[0].range.low, integer=True), "int"
    return reach, dtype
