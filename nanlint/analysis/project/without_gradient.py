"""Values that nothing trained went into, whoever passes them: constants, grids, random draws, what every caller detaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import (
    ATTRIBUTE,
    CALL,
    ELEMENT,
    GUARDED,
    JOIN,
    LITERAL,
    NONE,
    NUMBER,
    PARAMETER,
    TEXT,
    Op,
    Value,
)
from nanlint.ops.names import SIGNATURES
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanlint.analysis.project.index import Function

_MOST_VALUES = 300
_PASSING = frozenset({GUARDED, JOIN, ELEMENT, LITERAL, "subscript"})
_CHOOSING = word_set("index condition mask indices")
_COLLECTING = word_set("sequence comprehension .append .extend")


def comes_without_gradient(value: Value, sees_all_calls: Callable[[Function], bool]) -> bool:
    """Whether no gradient passes into a value; False where nobody knows what it is made of."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if id(current) in seen or current.detached or current.kind in {NUMBER, NONE, TEXT}:
            continue
        seen.add(id(current))
        made_of = _made_of(current, sees_all_calls) if len(seen) < _MOST_VALUES else None
        if made_of is None:
            return False
        waiting += made_of
    return True


def _made_of(value: Value, sees_all_calls: Callable[[Function], bool]) -> list[Value] | None:
    """What a gradient could come from; None if it may be the value's own."""
    op = value.op
    if op is None or value.learned or op.module is not None or "requires_grad" in op.operands:
        return None
    if op.function == "torch.Tensor":
        return []  # fresh memory, or a copy
    if op.function == PARAMETER:
        return list(_passed(op)) if op.scope is not None and sees_all_calls(op.scope) and _is_passed(op) else None
    if op.function == ATTRIBUTE:
        stored = op.operands.get("stored")
        return [stored] if stored is not None else None
    is_computed = op.function in SIGNATURES or op.function in _PASSING
    if not is_computed and not (op.function == CALL and op.where in _COLLECTING):
        return None
    made_of = (each for name, each in op.operands.items() if name not in _CHOOSING)
    return [part for each in made_of for part in (each.parts or (each,))]


def _is_passed(op: Op) -> bool:
    """Whether every call says what it passes, be it by leaving the default as it is."""
    assert op.scope is not None  # noqa: S101 - for the type checker
    return all(op.where in site.arguments or site.is_whole for site in op.scope.calls)


def _passed(op: Op) -> Iterator[Value]:
    assert op.scope is not None  # noqa: S101 - for the type checker
    for site in op.scope.calls:
        if op.where in site.arguments:
            yield site.arguments[op.where]
