"""What holds between two operands of one operation that no interval of each alone can tell.

`x - x.max()` is never positive, `x * x` never negative, `p / p.sum()` is a share. Two expressions are the same if they read the same
bindings: names by what they hold, the rest by its text.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.dtypes import format_of
from nanlint.facts.environment import text_of
from nanlint.facts.guards import bounds, tightened
from nanlint.facts.values import UNKNOWN, Call
from nanlint.ops.arithmetic import square
from nanlint.ops.interval import INF, UNIT, Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.guards import Bound

_LARGEST = frozenset({"torch.max", "torch.amax", "torch.logsumexp", "torch.cummax", "torch.logcumsumexp"})
_SMALLEST = frozenset({"torch.min", "torch.amin", "torch.cummin"})
_NORMS = frozenset({"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm"})
_ADDS = frozenset({"torch.sum", "torch.nansum"})

# Where `a & b` is true both are, where `a | b` is false none is. Masks are not joined out of more parts than this, nested.
_JOINING = {True: cst.BitAnd, False: cst.BitOr}
_DEEPEST_MASK = 6

NOT_POSITIVE = Interval(-INF, 0.0)
NOT_NEGATIVE = Interval(0.0, INF)


def related(call: Call, evaluator: Evaluator) -> Interval | None:
    """The range of `call` that the relation of its operands gives; None if they are not related."""
    relation = _RELATIONS.get(call.function)
    return relation(call, evaluator) if relation is not None else None


def same(first: cst.BaseExpression | None, second: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether two expressions of the chunk read the same values."""
    if first is None or second is None:
        return False
    if first is second:
        return True
    one, other = evaluator.values.get(first), evaluator.values.get(second)
    if one is None or other is None:
        return False
    if one is not UNKNOWN and one.identity is other.identity:
        return True
    return text_of(first) == text_of(second) and _reads_the_same(first, second, evaluator)


def _reads_the_same(first: cst.BaseExpression, second: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether the names behind two equal texts were not assigned in between."""
    then, now = evaluator.envs.get(first), evaluator.envs.get(second)
    if then is None or now is None or then.layers is now.layers:
        return then is not None
    root = text_of(first).partition(".")[0].partition("[")[0].partition("(")[0]
    return all(
        (now.get(name) or UNKNOWN).identity is value.identity
        for name, value in then.items()
        if name.partition(".")[0] == root
    )


def _made(node: cst.BaseExpression | None, functions: frozenset[str], evaluator: Evaluator) -> Call | None:
    """The call behind `node`, views aside, if it is one of `functions`."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    return value.origin if value.origin is not None and value.origin.function in functions else None


def _difference(call: Call, evaluator: Evaluator) -> Interval | None:
    left, right = call.arguments.get("input"), call.arguments.get("other")
    largest_left, largest_right = _made(left, _LARGEST, evaluator), _made(right, _LARGEST, evaluator)
    smallest_right = _made(right, _SMALLEST, evaluator)
    if largest_left and smallest_right and same(largest_left.subject, smallest_right.subject, evaluator):
        return NOT_NEGATIVE
    if largest_right and same(left, largest_right.subject, evaluator):
        return NOT_POSITIVE
    if smallest_right and same(left, smallest_right.subject, evaluator):
        return NOT_NEGATIVE
    if largest_left and same(largest_left.subject, right, evaluator):
        return NOT_NEGATIVE
    return None


def _product(call: Call, evaluator: Evaluator) -> Interval | None:
    if not same(call.arguments.get("input"), call.arguments.get("other"), evaluator):
        return None
    factor = evaluator.range_of(call.arguments["input"])
    return square(format_of(evaluator.values[call.arguments["input"]].dtype), factor)


def _quotient(call: Call, evaluator: Evaluator) -> Interval | None:
    part, whole = call.arguments.get("input"), call.arguments.get("other")
    share = evaluator.range_of(part)
    nothing = Interval(INF, -INF, nan=evaluator.range_of(whole).has_zero)
    norm, total = _made(whole, _NORMS, evaluator), _made(whole, _ADDS, evaluator)
    if norm and same(norm.subject, part, evaluator):
        # Rounding can carry a unit vector a little past 1.
        return Interval(-1.0000002, 1.0000002).join(nothing)
    if total and same(total.subject, part, evaluator) and share.low >= 0:
        return UNIT.join(nothing)
    added = _made(whole, frozenset({"torch.add"}), evaluator)
    if added and share.low >= 0:
        terms = (added.arguments.get("input"), added.arguments.get("other"))
        if all(evaluator.range_of(term).low >= 0 for term in terms) and any(
            same(term, part, evaluator) for term in terms
        ):
            return UNIT.join(nothing)
    return None


def _sum(call: Call, evaluator: Evaluator) -> Interval | None:
    """The sum of exp(x - max(x)) holds the 1 of the largest x; the sum of a mask is a count."""
    grown = _made(call.subject, frozenset({"torch.exp"}), evaluator)
    shifted = _made(grown.subject, frozenset({"torch.sub"}), evaluator) if grown else None
    if shifted and _difference(shifted, evaluator) == NOT_POSITIVE:
        return Interval(1.0, INF)
    return None


def _where(call: Call, evaluator: Evaluator) -> Interval | None:
    """`where` picks values, so each side is seen under its side of the condition; the gradient is not."""
    condition, yes, no = (call.arguments.get(name) for name in ("condition", "input", "other"))
    if condition is None or yes is None or no is None:
        return None
    test = definition(condition, evaluator)
    return range_under(yes, test, evaluator, holds=True).join(range_under(no, test, evaluator, holds=False))


def _filled(call: Call, evaluator: Evaluator) -> Interval | None:
    """`y.masked_fill(y == 0, 1)` is never 0."""
    mask, fill = call.arguments.get("mask"), call.arguments.get("value")
    if call.subject is None or mask is None or fill is None:
        return None
    kept = range_under(call.subject, definition(mask, evaluator), evaluator, holds=False)
    return kept.join(evaluator.range_of(fill))


def definition(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression:
    """The comparison that a mask's name stands for."""
    value = evaluator.values.get(node, UNKNOWN)
    return value.made_by.node if value.made_by is not None else node


def range_under(node: cst.BaseExpression, test: cst.BaseExpression, evaluator: Evaluator, *, holds: bool) -> Interval:
    """The range of `node` where `test` holds, for operands that the test names."""
    known = evaluator.range_of(node)
    for bound in _told(test, evaluator, holds=holds):
        if same(bound.node, node, evaluator):
            known = tightened(known, bound)
    return replace(known, nan=evaluator.range_of(node).nan and known.nan)


def _told(mask: cst.BaseExpression, evaluator: Evaluator, *, holds: bool, depth: int = 0) -> Iterator[Bound]:
    """What a mask tells where it is true (or false): `a & b` tells of both, `~a` the opposite, a name what it stands for."""
    test = definition(mask, evaluator)
    if depth < _DEEPEST_MASK and isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.BitInvert):
        yield from _told(test.expression, evaluator, holds=not holds, depth=depth + 1)
    elif depth < _DEEPEST_MASK and isinstance(test, cst.BinaryOperation) and isinstance(test.operator, _JOINING[holds]):
        for part in (test.left, test.right):
            yield from _told(part, evaluator, holds=holds, depth=depth + 1)
    else:
        yield from bounds(test, holds=holds, read=lambda part: evaluator.values.get(part, UNKNOWN).number)


_RELATIONS: Mapping[str, Callable[[Call, Evaluator], Interval | None]] = {
    "torch.sub": _difference,
    "torch.mul": _product,
    "torch.div": _quotient,
    "torch.sum": _sum,
    "torch.where": _where,
    "torch.masked_fill": _filled,
}
