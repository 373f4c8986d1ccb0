"""Rows that were divided by their length: the dot product of two is a cosine, whatever it was taken by."""

from __future__ import annotations

from dataclasses import replace

from nanlint.analysis.op_graph import ATTRIBUTE, ELEMENT, GUARDED, JOIN, TEXT, TUPLE, Op, Value
from nanlint.analysis.relations import SAME_NUMBERS, aligned, holds_size, op_behind, root
from nanlint.ops.interval import INF, Interval
from nanlint.word_sets import torch_names, word_set

_NORMALIZE = "torch.nn.functional.normalize"
# The dot product of two unit vectors is this far past 1 by rounding, at most.
_COSINE, _COSINE_IN_HALF = Interval(-1.0000005, 1.0000005, nan=True), Interval(-1.01, 1.01, nan=True)
_HALVES = word_set("float16 bfloat16")
_NOT_NEGATIVE = Interval(0.0, INF, plus_inf=True, nan=True)
# A part of a row is no longer than the row.
_PARTS = SAME_NUMBERS | word_set("""
    subscript torch.index_select torch.select torch.narrow torch.chunk torch.split torch.unbind
""")
_STACKS = torch_names("cat stack")
_SHIFTS, _PRODUCTS = torch_names("add div mul"), torch_names("matmul mm")
_DEEPEST = 16


def dot_product(op: Op) -> Interval | None:
    """A cosine: the rows of both were divided by their lengths. Of what is not negative, a sum of products is not."""
    factors = [value for value in (*op.operands.values(), *op.rest) if value.kind != TEXT]
    if len(factors) < 2:
        return None
    if any(value.range.constant == 0 for value in factors):
        return Interval(0.0, 0.0, nan=True)
    if op.function in {"torch.dot", "torch.vdot"} and aligned(*factors[:2]):
        return replace(_NOT_NEGATIVE, nan=factors[0].range.nan)
    if _adds_up_one_row(op) and all(has_unit_rows(value) for value in factors):
        return _COSINE_IN_HALF if any(value.dtype in _HALVES for value in factors) else _COSINE
    return _NOT_NEGATIVE if all(value.range.least >= 0 for value in factors) else None


def holds_its_diagonal(op: Op) -> bool:
    """Whether it sums up rows of `(x @ x.t() + 1) / 2` of unit rows: nothing in them is negative, and each row with itself is 1."""
    made = op_behind(op.subject)
    raised = 0.0
    for _ in range(_DEEPEST):
        if made is None or made.subject is None:
            return False
        other = made.operands.get("other")
        step = other.number if other is not None else None
        if step is None or step <= 0 or made.function not in _SHIFTS:
            break
        raised += step if made.function == "torch.add" else 0.0
        made = op_behind(made.subject)
    factors = [*made.operands.values()][:2] if made is not None and made.function in _PRODUCTS else []
    return (
        raised >= 1 and len(factors) > 1 and has_unit_rows(factors[0]) and root(factors[0]).key == root(factors[1]).key
    )


def _adds_up_one_row(op: Op) -> bool:
    """Whether each sum goes along one dimension: of an einsum its text says so."""
    stated = next((value.constant for value in op.operands.values() if isinstance(value.constant, str)), None)
    if stated is None or "->" not in stated:
        return "bias" not in op.operands or op.operands["bias"].constant is None
    rows, left = stated.replace(" ", "").split("->", 1)
    return len({*rows} - {*left, ",", "."}) == 1


def has_unit_rows(value: Value, depth: int = _DEEPEST) -> bool:  # noqa: PLR0911 - one way out for each operation
    """Whether no row of it is longer than 1, but for rounding."""
    op = value.op
    if op is None or not depth:
        return False
    if op.function == _NORMALIZE:
        order = op.operands.get("p")
        return order is None or order.number in {1, 2}
    if op.function == "torch.div":
        part, whole = op.operands.get("input"), op.operands.get("other")
        return part is not None and whole is not None and holds_size(whole, part, is_of_rows=True)
    if op.function == JOIN or op.function in _STACKS:
        held = op.subject.parts if op.function in _STACKS and op.subject is not None else tuple(op.operands.values())
        is_below = op.function == JOIN or _is_below_each_other(op)
        return is_below and bool(held) and all(has_unit_rows(each, depth // 2) for each in held)
    if op.function == ATTRIBUTE and "stored" in op.operands:
        return has_unit_rows(op.operands["stored"], depth - 1)
    if op.function == "torch.masked_fill":
        fill = op.operands.get("value")
        return fill is not None and fill.number == 0 and op.subject is not None and has_unit_rows(op.subject, depth - 1)
    is_part = op.function in _PARTS or op.function in {GUARDED, ELEMENT}
    return is_part and op.subject is not None and op.subject.kind is not TUPLE and has_unit_rows(op.subject, depth - 1)


def _is_below_each_other(op: Op) -> bool:
    along = op.operands.get("dim")
    return along is None or along.number == 0
