"""Whether what an operation breaks is replaced, capped or thrown away before anything is made of it.

That protects the result. The gradient of what is thrown away is another hazard, of another rule.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.conditions import AND, OR, range_where
from nanlint.analysis.op_graph import GUARDED, JOIN, Op, Value
from nanlint.analysis.relations import counted_by, op_behind, root, same
from nanlint.hazards.op_uses import may_use
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.project.index import Function

_COMPARISONS = torch_names("eq ne lt le gt ge isnan isinf isfinite")
_BROKEN = torch_names("isnan isinf isfinite")
_CAPS = torch_names("minimum min clamp clamp_max")
# What is made of a shape alone.
_SHAPES = torch_names("zeros_like ones_like full_like empty_like Tensor.size Tensor.numel Tensor.dim")
_SCALING = torch_names("mul add")
_THROUGH = torch_names("mul neg sqrt abs")
_DEEPEST = 4


def is_protected(op: Op, operand: Value, function: Function, depth: int = _DEEPEST) -> bool:
    """Whether every use of the result of `op` is protected from what `operand` being 0 makes of it."""
    uses = list(uses_of(op, function))
    values = [use for use in uses if use.function not in _SHAPES and not _is_test(use)]
    ends = [value for kind, value, _ in function.sinks if kind != "written"]
    if any(_reaches(value, op) for value in (*ends, *(each for held in function.stores.values() for each in held))):
        return False
    # What is only compared harms nobody: NaN compares as False. Of what nobody uses here nothing is known.
    return bool(uses) and all(_protects(use, op, operand, function, depth) for use in values)


def is_capped(op: Op, function: Function, depth: int = _DEEPEST) -> bool:
    """Whether a clamp of both sides is all that becomes of an infinity, behind sums and products."""
    uses = list(uses_of(op, function)) if depth else []
    return bool(uses) and all(
        (use.function == "torch.clamp" and {"min", "max"} <= use.operands.keys())
        or (use.function in _SCALING and is_capped(use, function, depth - 1))
        for use in uses
    )


def uses_of(op: Op, function: Function) -> Iterator[Op]:
    """The operations of the function that take its result, as it is or as a view of it."""
    for each in may_use(op, function):
        if each is not op and any(_reaches(value, op) for value in each.operands.values()):
            yield each


def _reaches(value: Value, op: Op, depth: int = 6) -> bool:
    made = value.op
    if made is op:
        return True
    if made is None or not depth:
        return False
    if made.function == GUARDED:
        # Where a condition has told that the denominator is not 0, the quotient is what it should be.
        inner = made.subject
        return (
            inner is not None and not (inner.op is op and op.function == "torch.div") and _reaches(inner, op, depth - 1)
        )
    if made.function == JOIN and made.where in {"", AND, OR}:
        return any(_reaches(each, op, depth - 1) for each in made.operands.values())
    return any(_reaches(part, op, depth - 1) for part in value.parts)


def _is_test(use: Op) -> bool:
    return use.function in _COMPARISONS


def _protects(use: Op, op: Op, operand: Value, function: Function, depth: int) -> bool:  # noqa: PLR0911 - one for each way
    if use.function == "torch.nan_to_num":
        return True
    if use.function == "torch.masked_fill":
        return _tells(use.operands.get("mask"), operand, holds=False) or _asks_whether_broken(use.operands.get("mask"))
    if use.function == "torch.where":
        condition = use.operands.get("condition")
        is_yes = any(_reaches(value, op) for name, value in use.operands.items() if name == "input")
        return _tells(condition, operand, holds=is_yes) or _asks_whether_broken(condition)
    if use.function == "subscript":
        index, tally = use.operands.get("index"), counted_by(operand)
        if index is None:
            return False
        return (
            _tells(index, operand, holds=True)
            or _asks_whether_broken(index)
            or (tally is not None and same(tally, index))
        )
    if use.function in _CAPS:
        return _never_nan(op) and _is_capped(use)
    if depth and (use.function in _THROUGH or use.function == JOIN or _is_same_values(use)):
        return is_protected(use, operand, function, depth - 1)
    return False


def _is_same_values(use: Op) -> bool:
    return use.subject is not None and root(Value(op=use)).op is not use


def _tells(mask: Value | None, operand: Value, *, holds: bool) -> bool:
    """Whether the operand is not 0 where the mask holds."""
    return mask is not None and not range_where(operand, mask, holds=holds).has_zero


def _asks_whether_broken(mask: Value | None, depth: int = 3) -> bool:
    made = op_behind(mask)
    if made is None or not depth:
        return False
    return made.function in _BROKEN or any(
        _asks_whether_broken(each, depth - 1) for each in made.operands.values() if each.dtype == "bool"
    )


def _never_nan(op: Op) -> bool:
    """`limit / peak` is inf at worst, of which a cap makes the cap."""
    above = op.operands.get("input") if op.function == "torch.div" else None
    return op.function != "torch.div" or (above is not None and not above.range.has_zero)


def _is_capped(use: Op) -> bool:
    """`min(1.0, limit / peak)`, and not the smallest of a tensor."""
    limits = [value for name, value in use.operands.items() if name in {"max", "other", "input"}]
    return any(value.range.constant is not None for value in limits) and not isinstance(use.node, ast.BinOp)
