"""What is taken out of a tensor: what a mask selects may be nothing, and how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ARRAY, GUARDED, NUMBER, TENSOR, TUPLE, Op, Value
from nanlint.ops.interval import COUNT, INF, TRUTH, Interval, point
from nanlint.ops.names import METHODS

if TYPE_CHECKING:
    from collections.abc import Mapping

SIZE = Interval(1.0, INF, integer=True)
"""The size of a dimension: of ordinary tensors none is 0."""
SUBSCRIPT = "subscript"
VIEWS = frozenset(
    METHODS[word]
    for word in (
        "view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "contiguous", "clone", "expand", "select",
        "narrow", "gather", "index_select", "float", "double", "half", "bfloat16", "to", "detach", "cpu", "t", "expand_as", "view_as",
        "reshape_as", "type_as", "repeat", "broadcast_to", "cuda", "flip", "roll", "movedim", "unflatten",
    )
)  # fmt: skip
"""Operations whose result holds the values of their input and nothing else, whatever its shape or dtype."""
_SELECTING = frozenset({"torch.masked_select", "torch.nonzero", "torch.argwhere"})


def may_be_empty(value: Value) -> bool:  # noqa: PLR0911 - the first operation that tells decides
    """Whether it holds what a mask or a search selects, and nothing tells that it selects something."""
    op = value.op
    while op is not None:
        if value.some:
            return False
        if op.function in _SELECTING:
            return True
        if op.function == SUBSCRIPT:
            index = op.operands.get("index")
            if index is not None and is_mask(index):
                return not index.some
            if index is not None and index.op is not None and may_be_empty(index):
                return True
        elif op.function not in VIEWS and op.function != GUARDED:
            return False
        if op.subject is None:
            return False
        value = op.subject
        op = value.op
    return False


def is_mask(value: Value) -> bool:
    """Whether it is made of truth values."""
    return value.dtype == "bool" or (value.range == TRUTH and value.kind is not NUMBER)


def selected_range(whole: Value, index: Value | None) -> Interval:
    """What `x[x > 0]` holds: values of x that pass the test."""
    from nanlint.analysis.interpreter.conditions import range_where  # noqa: PLC0415 - they know each other

    return range_where(whole, index, holds=True) if index is not None and is_mask(index) else whole.range


def size_of(operands: Mapping[str, Value]) -> Interval:
    """How many there are: at least one, unless a mask chose them or nobody knows what they are."""
    subject = next(iter(operands.values()), None)
    if subject is None or subject.kind not in {TENSOR, ARRAY}:
        if subject is not None and subject.kind is TUPLE and subject.parts:
            return point(float(len(subject.parts)))
        return SIZE if subject is not None and subject.some else COUNT
    return COUNT if may_be_empty(subject) else SIZE


def range_of_parts(value: Value) -> Interval:
    """Every number in an operand; of `[a, b]`, which torch.cat and torch.tensor are given, those of each part."""
    if value.kind is not TUPLE or not value.parts:
        return value.range
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
