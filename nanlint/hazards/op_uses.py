"""Which operations of a function may use the result of another: listed once for each function, so that asking is cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import GUARDED, JOIN, Op
from nanlint.analysis.relations import SAME_NUMBERS
from nanlint.analysis.selection import SUBSCRIPT, VIEWS

if TYPE_CHECKING:
    from nanlint.analysis.project.index import Function

_PASSING_ON = VIEWS | SAME_NUMBERS | {GUARDED, JOIN, SUBSCRIPT}
_MOST_BEHIND = 60


def may_use(op: Op, function: Function) -> list[Op]:
    """The operations that are given the result of `op`: as it is, as a view, a part, or one of several paths, in the order of the code."""
    function = function.caller or function
    known = function.uses
    if known is None or known[0] != len(function.ops):
        known = function.uses = len(function.ops), _listed(function.ops)
    return known[1].get(op, [])


def _listed(ops: list[Op]) -> dict[Op, list[Op]]:
    found: dict[Op, list[Op]] = {}
    for user in ops:
        waiting, behind = list(user.operands.values()), set[Op]()
        while waiting and len(behind) < _MOST_BEHIND:
            value = waiting.pop()
            waiting.extend(value.parts)
            made = value.op
            if made is None or made is user or made in behind:
                continue
            behind.add(made)
            if made.function in _PASSING_ON:
                waiting.extend(made.operands.values())
        for made in behind:
            found.setdefault(made, []).append(user)
    return found
