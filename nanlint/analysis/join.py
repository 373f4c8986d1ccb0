"""Values where paths meet: what is true whichever of them it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanlint.analysis.op_graph import ATTRIBUTE, CLASS, FUNCTION, JOIN, NONE, NOTHING, REFERENCE, UNKNOWN, Op, Value

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from nanlint.analysis.project.definitions import Function

# What is called may be one of these few.
_MOST_ALTERNATIVES = 4
_USED_OR_RAISES = frozenset({REFERENCE, FUNCTION, CLASS})
# Tuples of tuples are joined part by part down to here.
_DEEPEST = 8


def joined(values: Sequence[Value], node: ast.AST | None, scope: Function | None, depth: int = 0) -> Value:
    """What is true whichever of them it is."""
    distinct = list({id(value): value for value in values}.values())
    if len(distinct) == 1:
        return distinct[0]
    kinds = {value.kind for value in distinct}
    if NONE in kinds and not kinds.isdisjoint(_USED_OR_RAISES):
        # `except ImportError: torch = None`: who uses it there gets an error, and no number.
        distinct = [value for value in distinct if value.kind is not NONE]
        kinds.discard(NONE)
    if len(distinct) == 1:
        return distinct[0]
    first = distinct[0]
    same = all(value.key == first.key for value in distinct)
    reach = first.range
    for value in distinct[1:]:
        reach = reach.join(value.range)
    op = Op(JOIN, {str(place): value for place, value in enumerate(distinct)}, node, scope)
    if same:
        return first.but(range=reach, op=op, some=min(value.some for value in distinct))
    result = Value(kinds.pop() if len(kinds) == 1 else UNKNOWN, op, range=reach)
    result.dtype = _common([value.dtype for value in distinct], "")
    result.constant = _common([value.constant for value in distinct], NOTHING)
    result.detached = all(value.detached for value in distinct)
    result.learned = any(value.learned for value in distinct)
    result.assumed = any(value.assumed for value in distinct)
    result.name = _common([value.name for value in distinct], "")
    result.target = _common([value.target for value in distinct], None)
    result.some = min(value.some for value in distinct)
    result.presumed = all(value.presumed or value.range.low > 0 for value in distinct)
    if (
        result.kind is not UNKNOWN
        and depth < _DEEPEST
        and len({(len(value.parts), value.keys) for value in distinct}) == 1
    ):
        result.keys = first.keys
        result.parts = tuple(
            joined(parts, node, scope, depth + 1) for parts in zip(*(v.parts for v in distinct), strict=True)
        )
    return result


def alternatives(value: Value, kinds: frozenset[str]) -> list[Value]:
    """What of these kinds it may be: `act = torch.relu if flag else torch.tanh`; nothing if it is one thing, or may be any other.

    That it may be None as well says nothing: None is not called.
    """
    op = value.op
    if op is not None and op.function == ATTRIBUTE and "stored" in op.operands:
        op = op.operands["stored"].op
    if op is None or op.function != JOIN or op.in_place:
        return []
    found = [each for each in op.operands.values() if each.kind is not NONE]
    is_known = all(each.kind in kinds and (each.target is not None or each.name) for each in found)
    return found if is_known and len(found) <= _MOST_ALTERNATIVES else []


def _common(values: Sequence[Any], otherwise: Any) -> Any:
    first = values[0]
    for value in values:
        if value is not first and (type(value) is not type(first) or value != first):
            return otherwise
    return first
