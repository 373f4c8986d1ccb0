"""What a name that a loop assigns may be expected to stay: a total that starts at 0 and grows stays at or above 0.

An expectation is a guess that the loop's body is interpreted with. If the body leaves it true, it holds in every round; if
not, a wider one is tried, and then none. So the passes over one body are three at most, whatever it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.values import Kind
from nanlint.ops.interval import INF, NONNEGATIVE, Interval
from nanlint.source.walk import is_expression, node_children

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.facts.environment import Env

_LOOPS = frozenset({cst.For, cst.While})
Expected = dict[str, Interval]
"""The range that each name is expected to keep."""


def expected(loop: cst.For | cst.While, names: Iterable[str], before: Env) -> Expected:
    """What the loop may leave true of the names it assigns; nothing if a loop is inside it, which would multiply the passes."""
    if _has_loop(loop.body):
        return {}
    found = {}
    for name in names:
        held = before.get(name)
        if held is None or held.kind not in {Kind.NUMBER, Kind.TENSOR} or held.assumed or not held.range.is_finite:
            continue
        if held.range.has_finite and held.range.low >= 0:
            found[name] = Interval(1.0 if held.range.low >= 1 else 0.0, INF, integer=held.range.integer)
    return found


def _has_loop(block: cst.CSTNode) -> bool:
    waiting = [block]
    while waiting:
        inner = waiting.pop()
        if type(inner) in _LOOPS:
            return True
        # No loop is in a line of simple statements, nor in an expression.
        waiting += [
            below
            for below in node_children(inner)
            if type(below) is not cst.SimpleStatementLine and not is_expression(type(below))
        ]
    return False


def kept(expectation: Expected, ends: Iterable[Env]) -> Expected | None:
    """None if every end of the body leaves it true; else what to expect instead, wider where it was not."""
    failed = {
        name
        for env in ends
        for name, reach in expectation.items()
        if (held := env.get(name)) is None or not held.range.is_subset(reach)
    }
    if not failed:
        return None
    wider = {name: NONNEGATIVE for name in failed if expectation[name] != NONNEGATIVE}
    return {**{name: reach for name, reach in expectation.items() if name not in failed}, **wider}


def begin_with(expectation: Expected, env: Env) -> Env:
    """The environment at the top of the body; what kind of thing a name holds may change from round to round."""
    for name, reach in expectation.items():
        held = env.get(name)
        if held is not None:
            env = env.bind(name, held.but(range=reach))
    return env
