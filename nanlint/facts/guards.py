"""What a condition tells about the expressions in it, when it holds and when it does not.

`if mask.sum() > 0:` bounds `mask.sum()` in its body; `if n == 0: return` bounds `n` behind it. A condition is read, not judged:
what it says of an expression holds as long as no name in that expression is assigned again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from nanlint.ops.interval import EVERYTHING, INF, Interval

if TYPE_CHECKING:
    from nanlint.ops.formats import Format

_ZERO, NOT_ZERO = Interval(0.0, 0.0), replace(EVERYTHING, nonzero=True)
Read = Callable[[cst.BaseExpression], float | None]
"""The constant that an expression is, if it is one."""


class Bound(NamedTuple):
    """The values that an expression can still have."""

    node: cst.BaseExpression
    range: Interval
    strict: bool = False
    """Whether its finite end is itself excluded: of an integer, `n > 1` leaves 2 and more."""


def bounds(test: cst.BaseExpression, *, holds: bool, read: Read) -> Iterator[Bound]:
    """What is known about parts of `test` when it holds (or does not)."""
    if type(test) is cst.UnaryOperation and type(test.operator) is cst.Not:
        yield from bounds(test.expression, holds=not holds, read=read)
    elif type(test) is cst.BooleanOperation:
        # `a and b` holds only if both do; `a or b` fails only if both do.
        if (type(test.operator) is cst.And) is holds:
            yield from bounds(test.left, holds=holds, read=read)
            yield from bounds(test.right, holds=holds, read=read)
    elif type(test) is cst.Comparison:
        yield from _compared(test, holds=holds, read=read)
    elif type(test) is cst.NamedExpr:
        yield from bounds(test.value, holds=holds, read=read)
        yield from bounds(test.target, holds=holds, read=read)
    else:
        yield from _truth(test, holds=holds, read=read)


def _truth(test: cst.BaseExpression, *, holds: bool, read: Read) -> Iterator[Bound]:
    """A bare value as a condition: not 0 if it holds. `mask.any()` holds if the mask's sum is at least 1."""
    yield Bound(test, NOT_ZERO if holds else _ZERO)
    name, subject = _asked_of_all(test)
    if subject is None:
        return
    if name == "any" and holds:
        yield Bound(_sum_of(subject), Interval(1.0, INF))
    if (name == "all" and holds) or (name == "any" and not holds):
        yield from bounds(subject, holds=holds, read=read)
    if name == "item":
        yield from bounds(subject, holds=holds, read=read)


def _asked_of_all(test: cst.BaseExpression) -> tuple[str, cst.BaseExpression | None]:
    """`x.any()`, `torch.any(x)`, `x.all()`, `x.any().item()`: the word and x."""
    if type(test) is not cst.Call:
        return "", None
    if type(test.func) is cst.Attribute and test.func.attr.value in {"any", "all", "item"}:
        if test.args and isinstance(test.func.value, cst.Name):
            return test.func.attr.value, test.args[0].value
        return test.func.attr.value, test.func.value
    return "", None


def _sum_of(mask: cst.BaseExpression) -> cst.BaseExpression:
    return cst.Call(func=cst.Attribute(value=mask, attr=cst.Name("sum")))


def bounds_of_pair(
    left: cst.BaseExpression, sign: type[cst.CSTNode], right: cst.BaseExpression, *, holds: bool, read: Read
) -> Iterator[Bound]:
    """What is known about both sides of one comparison when it holds (or does not)."""
    yield from _pair(left, sign, right, holds=holds, read=read)
    yield from _pair(right, _MIRRORED.get(sign, sign), left, holds=holds, read=read)


def _compared(test: cst.Comparison, *, holds: bool, read: Read) -> Iterator[Bound]:
    """`a < b < c` says something of each neighbour of a constant; one that fails says something only if it is single."""
    if not holds and len(test.comparisons) > 1:
        return
    left = test.left
    for target in test.comparisons:
        sign, right = type(target.operator), target.comparator
        yield from bounds_of_pair(left, sign, right, holds=holds, read=read)
        left = right


def _pair(
    node: cst.BaseExpression, sign: type[cst.CSTNode], other: cst.BaseExpression, *, holds: bool, read: Read
) -> Iterator[Bound]:
    if type(node) is cst.NamedExpr:
        for part in (node.value, node.target):
            yield from _pair(part, sign, other, holds=holds, read=read)
        return
    limit = read(other)
    # A name may hold its default alone, which a caller can change.
    if type(node) is not cst.Name and type(node) is not cst.Attribute and read(node) is not None:
        return
    if limit is None:
        # `if low == high:` tells that somebody asks, if not what comes of it; beside a size it is about the form.
        if sign in _STRETCHES and type(other) is not cst.SimpleString and not _is_size(other):
            yield Bound(node, EVERYTHING)
        return
    said = sign if holds else _NEGATED.get(sign, sign)
    stretch = _STRETCHES.get(said)
    if stretch is None:
        return
    allowed, strict = stretch(limit), said in {cst.GreaterThan, cst.LessThan}
    if not holds:
        # `not x > 0` is also true of NaN.
        allowed = replace(allowed, nan=True)
    yield Bound(node, allowed, strict)
    inner = _measured(node)
    if inner is not None and not (_is_cut_to_integer(node) and not _holds_before_the_cut(allowed)):
        yield Bound(inner, allowed, strict)


def _is_size(node: cst.BaseExpression) -> bool:
    """`x.shape[1]`, `x.size(0)`, `int(x.shape[0])`."""
    if isinstance(node, cst.Subscript):
        return _is_size(node.value)
    if isinstance(node, cst.Attribute):
        return node.attr.value == "shape"
    if not isinstance(node, cst.Call):
        return False
    if isinstance(node.func, cst.Name) and node.func.value == "int" and node.args:
        return _is_size(node.args[0].value)
    return isinstance(node.func, cst.Attribute) and node.func.attr.value == "size"


def _is_cut_to_integer(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "int"


def _holds_before_the_cut(allowed: Interval) -> bool:
    """Whether what is said of `int(x)` is true of x: that it is above 0, or not 0; not that it is 0, as int(0.5) is."""
    return allowed.high == INF and (allowed.nonzero or allowed.low > 0)


def _measured(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """What `x.item()`, `float(x)` and `int(x)` are the value of; `x.min()` and `x.max()` bound no element from both sides."""
    if not isinstance(node, cst.Call):
        return None
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "item":
        return node.func.value
    if isinstance(node.func, cst.Name) and node.func.value in {"float", "int"} and node.args:
        return node.args[0].value
    return None


def tightened(known: Interval, bound: Bound) -> Interval:
    """What is left of `known` under the bound."""
    allowed = bound.range
    if bound.strict and known.integer:
        step = 1.0 if allowed.low != -INF else 0.0
        allowed = replace(allowed, low=allowed.low + step, high=allowed.high - (1.0 - step))
    left = known.meet(allowed)
    return known if left.is_empty else left


def stored(bound: Bound, form: Format) -> Bound:
    """The bound as it is for a tensor of that format: torch rounds the number it is compared with, in half 1e-8 to 0."""
    low, high = form.round(bound.range.low), form.round(bound.range.high)
    if (low, high) == (bound.range.low, bound.range.high):
        return bound
    return bound._replace(range=replace(bound.range, low=low, high=high))


def _above(limit: float) -> Interval:
    # An open end next to a limit other than 0 is closed: the difference is one rounding step.
    return Interval(limit, INF, plus_inf=True, nonzero=limit == 0)


def _below(limit: float) -> Interval:
    return Interval(-INF, limit, minus_inf=True, nonzero=limit == 0)


_STRETCHES: Mapping[type[cst.CSTNode], Callable[[float], Interval]] = {
    cst.GreaterThan: _above,
    cst.GreaterThanEqual: lambda limit: Interval(limit, INF, plus_inf=True),
    cst.LessThan: _below,
    cst.LessThanEqual: lambda limit: Interval(-INF, limit, minus_inf=True),
    cst.Equal: lambda limit: Interval(limit, limit),
    cst.NotEqual: lambda limit: NOT_ZERO if limit == 0 else EVERYTHING,
}
_MIRRORED: Mapping[type[cst.CSTNode], type[cst.CSTNode]] = {
    cst.GreaterThan: cst.LessThan,
    cst.GreaterThanEqual: cst.LessThanEqual,
    cst.LessThan: cst.GreaterThan,
    cst.LessThanEqual: cst.GreaterThanEqual,
}
_NEGATED: Mapping[type[cst.CSTNode], type[cst.CSTNode]] = {
    cst.GreaterThan: cst.LessThanEqual,
    cst.GreaterThanEqual: cst.LessThan,
    cst.LessThan: cst.GreaterThanEqual,
    cst.LessThanEqual: cst.GreaterThan,
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
}
