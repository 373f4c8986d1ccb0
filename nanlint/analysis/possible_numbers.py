"""The numbers that a value can be, as far as they are written somewhere: constants, defaults, branches, what attributes hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.interpreter.conditions import AND, OR
from nanlint.analysis.op_graph import ATTRIBUTE, CALL, GUARDED, JOIN, NUMBER

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Value

# `settings.get("clip", 1e6)`, `getattr(args, "clip", 1e6)`: where the default stands.
_WITH_DEFAULT = {".get": "1", "getattr": "2"}
_DEEPEST = 8


class Possible(NamedTuple):
    """One number, where it is written, and whether somebody may set another."""

    number: float
    node: ast.AST | None
    is_default: bool = False


def possible_numbers(value: Value, depth: int = _DEEPEST) -> Iterator[Possible]:
    """Each number that the value can be on some path; what comes from elsewhere is left out."""
    op, number = value.op, value.number
    if number is not None:
        yield Possible(number, _written(value), value.assumed)
        return
    if op is None or not depth:
        return
    if op.function == CALL and op.where in _WITH_DEFAULT:
        default = op.operands.get(_WITH_DEFAULT[op.where]) or op.operands.get("default")
        inner = [default] if default is not None else []
    elif op.function in {JOIN, OR, GUARDED} or (op.function == ATTRIBUTE and "stored" in op.operands):
        inner = list(op.operands.values())
    else:
        inner = list(op.operands.values())[-1:] if op.function == AND else []
    for each in inner:
        for found in possible_numbers(each, depth - 1):
            if op.function != GUARDED or value.range.low <= found.number <= value.range.high:
                yield found._replace(is_default=found.is_default or op.function == CALL or value.assumed)


def may_be_something_else(value: Value, depth: int = _DEEPEST) -> bool:
    """Whether other code or a setting may give a number that is not written here."""
    if value.number is not None:
        return value.assumed
    op = value.op
    is_choice = op is not None and (
        op.function in {JOIN, OR, GUARDED} or (op.function == ATTRIBUTE and "stored" in op.operands)
    )
    if op is None or not is_choice or not depth:
        return True
    return len(op.operands) > 1 or any(may_be_something_else(each, depth - 1) for each in op.operands.values())


def _written(value: Value) -> ast.AST | None:
    """Where a number is written, seen through what holds it."""
    op = value.op
    while (
        op is not None and op.function in {ATTRIBUTE, GUARDED} and op.subject is not None and op.subject.kind is NUMBER
    ):
        op = op.subject.op
    return op.node if op is not None else None
