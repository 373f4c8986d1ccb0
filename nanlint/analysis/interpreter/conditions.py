"""What a condition tells about the values in it, when it holds and when it does not.

A condition is a value like any other: the operations that made it say what was compared with what. So a guard holds for the value,
whatever it is called where it is used.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.dtypes import format_of
from nanlint.analysis.op_graph import ATTRIBUTE, JOIN, NUMBER, PARAMETER, TENSOR, UNKNOWN, Op, Value, made_from
from nanlint.analysis.relations import SAME_PLACES, aligned, op_behind
from nanlint.ops.interval import EVERYTHING, INF, Interval
from nanlint.ops.names import METHODS, tensor_methods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

AND, OR, NOT = "<and>", "<or>", "<not>"
IS_NONE = "<is none>"
_ZERO, NOT_ZERO = Interval(0.0, 0.0), replace(EVERYTHING, nonzero=True)
_ANY, _ALL, _ITEM = METHODS["any"], METHODS["all"], METHODS["item"]
_NUMBERS = frozenset({_ITEM, "float", "bool", METHODS["is_nonzero"]})
_ADDED = tensor_methods("sum mean")
_COUNTED = _ADDED | {METHODS["numel"], METHODS["size"], "len", METHODS["count_nonzero"]}
_DEEPEST = 12
_NEGATED = {"gt": "le", "ge": "lt", "lt": "ge", "le": "gt", "eq": "ne", "ne": "eq"}
_MIRRORED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq", "ne": "ne"}


class Told(NamedTuple):
    """What is left of a value."""

    value: Value
    range: Interval
    strict: bool = False
    """Whether the end is excluded: of an integer, `n > 1` leaves 2 and more."""
    some: int = 0
    """There are at least so many; nothing is said of its numbers."""
    presumed: bool = False
    """It is no more than presumed to be above 0."""
    assumed: bool = False
    """The limit is a default, which holds as long as no caller says otherwise."""


def told(test: Value, *, holds: bool, depth: int = 0) -> Iterator[Told]:  # noqa: C901 - one case for each kind of test
    """What is known about the values in `test` when it holds (or does not)."""
    op = made_from(test)
    if op is None or depth > _DEEPEST:
        return
    if op.function == NOT or op.function in {"torch.logical_not", "torch.bitwise_not"}:
        for value in op.operands.values():
            yield from told(value, holds=not holds, depth=depth + 1)
        return
    # Of parts that are no truth values `a and b` is one of the two.
    word = op.where if op.function == JOIN else op.function
    if word in {AND, OR, "torch.logical_and", "torch.logical_or", "torch.bitwise_and", "torch.bitwise_or"}:
        if word.endswith(("and", "and>")) is holds:
            for value in op.operands.values():
                yield from told(value, holds=holds, depth=depth + 1)
        return
    word = op.function.removeprefix("torch.")
    if word in _NEGATED and "other" in op.operands:
        yield from _compared(op.operands["input"], word, op.operands["other"], holds=holds, depth=depth)
        return
    yield Told(test, NOT_ZERO if holds else _ZERO)
    subject = op.subject
    if subject is None:
        return
    if op.function == _ANY and holds:
        yield Told(subject, EVERYTHING, some=True)
    if op.function in SAME_PLACES or (op.function == "torch.mul" and holds):
        for factor in (subject,) if op.function in SAME_PLACES else op.operands.values():
            yield from told(factor, holds=holds, depth=depth + 1)
    yield from _differing(op, holds=holds)
    if (op.function == _ALL and holds) or (op.function == _ANY and not holds) or op.function in _NUMBERS:
        yield from told(subject, holds=holds, depth=depth + 1)
    yield from _counted(op, NOT_ZERO if holds else _ZERO, strict=False)


def _differing(op: Op, *, holds: bool) -> Iterator[Told]:
    """`(labels != -100).any()`, or not `(labels == -100).all()`: some label is left."""
    test = made_from(op.subject)
    word = "torch.ne" if op.function == _ANY and holds else "torch.eq" if op.function == _ALL and not holds else ""
    if test is not None and test.function == word and test.subject is not None:
        yield Told(test.subject, EVERYTHING, some=True)


def _compared(left: Value, word: str, right: Value, *, holds: bool, depth: int) -> Iterator[Told]:
    yield from _side(left, word, right, holds=holds, depth=depth)
    yield from _side(right, _MIRRORED[word], left, holds=holds, depth=depth)


def apart(test: Value, *, holds: bool) -> Iterator[tuple[tuple[object, object], Interval]]:
    """The keys of two values that a test tells apart, in either order, with what is left of their difference."""
    op = made_from(test)
    if op is not None and op.function == NOT and op.subject is not None:
        yield from apart(op.subject, holds=not holds)
    word = op.function.removeprefix("torch.") if op is not None else ""
    if op is None or word not in _NEGATED or "other" not in op.operands:
        return
    left, right = op.operands["input"], op.operands["other"]
    said = word if holds else _NEGATED[word]
    size = made_from(left) if said in {"gt", "ge", "ne"} and (right.range.constant or 0.0) >= 0 else None
    if (
        size is not None
        and size.function == "torch.abs"
        and size.subject is not None
        and right.range.constant is not None
    ):
        # `abs(a - b) > eps` tells a and b apart.
        less = made_from(size.subject)
        if less is not None and less.function == "torch.sub" and (said != "ge" or right.range.constant > 0):
            one, two = less.operands["input"], less.operands["other"]
            yield (one.key, two.key), NOT_ZERO
            yield (two.key, one.key), NOT_ZERO
    if said in {"ne", "gt", "lt"} and left.range.constant is None and right.range.constant is None:
        for one, two, how in ((left, right, said), (right, left, _MIRRORED[said])):
            allowed = _stretch(how, 0.0)
            if allowed is not None:
                yield (one.key, two.key), replace(allowed, nan=True)


def _said(value: Value, word: str, other: Value, *, holds: bool) -> str:
    """What a comparison says; a size that is not 1 is more."""
    said = word if holds else _NEGATED[word]
    is_end = said == "ne" and value.range.integer and value.range.low == other.range.constant
    return "gt" if is_end else said


def _side(value: Value, word: str, other: Value, *, holds: bool, depth: int) -> Iterator[Told]:
    found = _told_of(value, word, other, holds=holds, depth=depth)
    yield from (each._replace(assumed=True) for each in found) if other.assumed else found


def _told_of(value: Value, word: str, other: Value, *, holds: bool, depth: int) -> Iterator[Told]:
    said = _said(value, word, other, holds=holds)
    limit = _least_told(said, other.range)
    if limit is None:
        # Whoever asks for some size of what is never negative means more than 0.
        if said in {"gt", "ge"} and value.range.low >= 0 and _is_setting(other):
            yield Told(value, EVERYTHING, presumed=True)
        return
    allowed, strict = _stretch(said, limit), said in {"gt", "lt"}
    if allowed is None:
        return
    if not holds:
        allowed = replace(allowed, nan=True)  # `not x > 0` is also true of NaN
    yield Told(value, allowed, strict)
    op = made_from(value)
    if op is not None and op.subject is not None:
        if not allowed.has_zero and not allowed.nan:
            yield from told(value, holds=True, depth=depth + 1)  # `mask.float() * (x < 1).float() > 0.5`
        if op.function in _NUMBERS:
            yield from _side(op.subject, word, other, holds=holds, depth=depth + 1)
        if op.function == "int" and said in {"gt", "ge"} and (limit > 0 or (limit == 0 and strict)):
            # Cut to an integer it is above 0: so it was.
            yield Told(op.subject, allowed)
        if op.function == "torch.abs" and not allowed.has_zero:
            yield Told(op.subject, replace(NOT_ZERO, nan=allowed.nan))
        yield from _counted(op, allowed, strict=strict)
        yield from _extremes(op, said, allowed, strict=strict)


def _extremes(op: Op, said: str, allowed: Interval, *, strict: bool) -> Iterator[Told]:
    """`x.min() > 0` says so of every x, `x.abs().max() < 1` likewise."""
    word = op.function.removeprefix("torch.")
    if (
        op.subject is not None
        and "dim" not in op.operands
        and ((word in {"min", "amin"} and said in {"gt", "ge"}) or (word in {"max", "amax"} and said in {"lt", "le"}))
    ):
        yield Told(op.subject, allowed, strict)


def _counted(op: Op, allowed: Interval, *, strict: bool) -> Iterator[Told]:
    """`mask.sum() > 0`, `len(x)`, `x.numel()`: there is at least one, or with `> 1` more than that."""
    subject = op.subject
    if op.function == "torch.Tensor.shape":
        subject = op.operands.get("input")
    if subject is None or op.function not in _COUNTED | {"torch.Tensor.shape"}:
        return
    is_of_parts = op.function in _ADDED and len(op.operands) > 1
    is_of_none = op.function == METHODS["mean"] and allowed.nan
    if allowed.has_zero or allowed.high <= 0 or is_of_parts or is_of_none:
        return  # a sum that is not 0 has a part that is not 0, whatever the signs
    is_more = op.function != METHODS["mean"] and (allowed.low > 1 or (strict and allowed.low == 1))
    least = 1 + is_more
    yield Told(subject, EVERYTHING, some=least)
    inner = made_from(subject)
    if inner is not None and inner.function == "torch.ne" and inner.subject is not None:
        yield Told(inner.subject, EVERYTHING, some=least)
    while inner is not None and inner.subject is not None:
        # What was selected is there: so the mask selects something.
        index = inner.operands.get("index") or inner.operands.get("mask")
        if index is not None:
            yield Told(index, EVERYTHING, some=least)
        elif inner.function in {"torch.nonzero", "torch.argwhere"} or inner.function in _VIEWED:
            yield Told(inner.subject, EVERYTHING, some=least)
        else:
            return
        inner = made_from(inner.subject)


def _is_setting(value: Value) -> bool:
    """A plain limit from outside, no number that was computed here."""
    op = made_from(value)
    return value.kind in {NUMBER, UNKNOWN} and op is not None and op.function in {PARAMETER, ATTRIBUTE}


def _least_told(said: str, other: Interval) -> float | None:
    """The number that is told of at least: `x > eps` is `x > 0.1` where eps may be anything from 0.1 on."""
    if other.constant is not None:
        return other.constant
    end = {"gt": other.low, "ge": other.low, "lt": other.high, "le": other.high}.get(said)
    return end if end is not None and math.isfinite(end) else None


_VIEWED = tensor_methods("float long int bool view reshape flatten squeeze to detach")


def _stretch(word: str, limit: float) -> Interval | None:
    if word == "gt":
        return Interval(limit, INF, plus_inf=True, nonzero=limit == 0)
    if word == "ge":
        return Interval(limit, INF, plus_inf=True)
    if word == "lt":
        return Interval(-INF, limit, minus_inf=True, nonzero=limit == 0)
    if word == "le":
        return Interval(-INF, limit, minus_inf=True)
    if word == "eq":
        return Interval(limit, limit)
    return NOT_ZERO if limit == 0 else None


def tightened(known: Interval, bound: Told, dtype: str, kind: str) -> Interval:
    """What is left of `known` under the bound, as it is for a tensor of that format."""
    allowed, form, is_between = bound.range, format_of(dtype), bound.strict and not known.integer
    low, high = (form.above, form.below) if is_between else (form.round, form.round)
    if kind == TENSOR or (is_between and kind != NUMBER):
        ends = allowed.low, allowed.high
        allowed = replace(allowed, low=_moved(ends[0], low), high=_moved(ends[1], high))
    if bound.strict and known.integer:
        step = 1.0 if allowed.low != -INF else 0.0
        allowed = replace(allowed, low=allowed.low + step, high=allowed.high - (1.0 - step))
    left = known.meet(allowed)
    return known if left.is_empty else left


def _moved(end: float, step: Callable[[float], float]) -> float:
    return step(end) if end and math.isfinite(end) else end


def range_where(value: Value, mask: Value, *, holds: bool) -> Interval:
    """The numbers of `value` in the places where `mask` holds, for values that the mask is made of."""
    known = value.range
    for bound in told(mask, holds=holds):
        if bound.some:
            continue
        if aligned(bound.value, value):
            known = tightened(known, bound, value.dtype, value.kind)
            continue
        op = op_behind(bound.value)
        if op is not None and op.function == "torch.abs" and aligned(op.subject, value):
            known = _by_size(known, bound.range)
        elif op is not None and _is_square(op) and aligned(op.subject, value):
            known = _by_size(known, _root(bound.range))
    return known if value.range.nan else known.without_nan()


def _is_square(op: Op) -> bool:
    exponent = op.operands.get("exponent")
    return op.function == "torch.square" or (
        op.function == "torch.pow" and exponent is not None and exponent.number == 2
    )


def _root(allowed: Interval) -> Interval:
    """What a bound on the square says of the size."""
    high = math.sqrt(allowed.high) if 0 <= allowed.high < INF else INF
    low = math.sqrt(allowed.low) if 0 < allowed.low < INF else max(allowed.low, -INF)
    return replace(allowed, low=min(low, high), high=high)


def _by_size(known: Interval, allowed: Interval) -> Interval:
    """`x.abs() > eps` leaves no 0, `x.abs() < 1` bounds both sides."""
    if allowed.low > 0 or allowed.nonzero:
        return known.without_zero()
    if allowed.high < INF:
        left = known.meet(Interval(-allowed.high, allowed.high, nan=allowed.nan))
        return known if left.is_empty else left
    return known
