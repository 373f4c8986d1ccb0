"""What a value can be where all that it is made of runs in one format, if nothing says in which it does.

A float16 tensor rounds `x + 1e-8` to `x`, and `1 - p` of the largest p below 1 to 0: the operations behind a value are repeated
with tensors of that dtype. What cannot be repeated faithfully keeps its range, rounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.dtypes import rounded_to
from nanlint.analysis.op_graph import GUARDED, JOIN, NUMBER, TEXT, TUPLE, Op, Value, name_of
from nanlint.ops.formats import AUTOCAST, FLOAT32, FORMATS, SINGLE
from nanlint.ops.interval import point
from nanlint.ops.names import SIGNATURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.analysis.operation_results import Maker

_DEEPEST, _LIMIT = 8, "torch.finfo."


def in_format(value: Value, dtype: str, maker: Maker, depth: int = _DEEPEST, *, is_cast: bool = False) -> Value:
    """The value as tensors of `dtype` compute it; itself if another dtype is known, and for what is no tensor.

    With `is_cast` as autocast to it does, where weights and what it runs in float32 stay float32.
    """
    if value.dtype or value.kind in {TEXT, TUPLE} or value.number is not None:
        return value
    key = (value, dtype, depth, is_cast)
    if key not in maker.formatted:
        maker.formatted[key] = _formatted(value, dtype, maker, depth, is_cast=is_cast)
    return maker.formatted[key]


def _formatted(value: Value, dtype: str, maker: Maker, depth: int, *, is_cast: bool) -> Value:
    if is_cast and value.learned:
        return value.but(dtype=FLOAT32.name, key=value.key)
    op = value.op
    if value.kind is NUMBER:
        return _limit(value, dtype, maker) if is_limit(value) else value
    if op is not None and depth and op.function in SIGNATURES and op.module is None:
        again = _repeated(value, op, dtype, maker, depth, is_cast=is_cast)
        if again is not None:
            return again.but(key=value.key)
    if op is not None and depth and op.function == JOIN and not op.where:
        joined = maker.join(
            [in_format(each, dtype, maker, depth - 1, is_cast=is_cast) for each in op.operands.values()]
        )
        return value.but(range=joined.range, dtype=joined.dtype, key=value.key)
    reach = value.range
    if op is not None and depth and op.function == GUARDED and op.subject is not None:
        inner = in_format(op.subject, dtype, maker, depth - 1, is_cast=is_cast).range
        met = inner.meet(rounded_to(reach, dtype))
        reach = met if not met.is_empty else reach
    is_single = is_cast and op is not None and AUTOCAST.get(name_of(op)) == SINGLE
    made = FLOAT32.name if is_single else dtype
    return value.but(range=rounded_to(reach, made), dtype=made, key=value.key)


def is_limit(value: Value, depth: int = 3) -> bool:
    """Whether it is a number of a format that nobody knows: `torch.finfo(x.dtype).tiny`, `1 - torch.finfo(x.dtype).eps`."""
    op = value.op
    if op is None or value.number is not None or not depth:
        return False
    return op.where.startswith(_LIMIT) or any(is_limit(each, depth - 1) for each in op.operands.values())


def _limit(value: Value, dtype: str, maker: Maker) -> Value:
    """It as it is in one format."""
    op = value.op
    if op is None:
        return value
    number = getattr(FORMATS[dtype], op.where.removeprefix(_LIMIT), None) if op.where.startswith(_LIMIT) else None
    if number is not None:
        return value.but(range=point(number), key=value.key)
    operands = {name: _limit(each, dtype, maker) if is_limit(each) else each for name, each in op.operands.items()}
    made = maker.make(op.function, operands, op.node, op.scope, operator=True) if op.function in SIGNATURES else value
    return made.but(key=value.key)


def _repeated(value: Value, op: Op, dtype: str, maker: Maker, depth: int, *, is_cast: bool) -> Value | None:  # noqa: PLR0913 - what is repeated, and how
    """The operation once more; None where that would forget something that is known of its result."""
    if _made(op, op.operands, maker).range != value.range:
        return None
    operands = {name: in_format(each, dtype, maker, depth - 1, is_cast=is_cast) for name, each in op.operands.items()}
    made = _made(op, operands, maker, autocast=dtype if op.autocast or is_cast else "")
    return made if made.kind is value.kind or made.kind is not TUPLE else None


def _made(op: Op, operands: Mapping[str, Value], maker: Maker, *, autocast: str = "") -> Value:
    return maker.make(op.function, operands, op.node, op.scope, recorded=op.recorded, autocast=autocast, rest=op.rest)
