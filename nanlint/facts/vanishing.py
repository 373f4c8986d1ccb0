"""Denominators that are 0 on everyday input: counts of nothing, spreads of constant data, peaks of a silent signal.

A range that holds 0 is not enough: half of all ranges do. What is asked here is whether a value was counted, summed up
or measured out of data in a way that some ordinary batch makes 0. What rests on a name, or on data of which nobody here
knows where it comes from, is told apart as doubtful. What a model or a setting is scaled by is not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts import eps
from nanlint.facts.counting import Chance, are_of_one_thing, classes_counted, emptiness, is_of_shares
from nanlint.facts.names import dotted_text
from nanlint.facts.naming import thing_of, words_of
from nanlint.facts.relations import is_raised, same
from nanlint.facts.silence import (
    CARRYING,
    flatness,
    is_drawn,
    is_of_blank_rows,
    measured_from,
    silence,
)
from nanlint.facts.tallies import ADDING, is_of_those_counted, is_read_at_the_last, is_tally
from nanlint.facts.values import UNKNOWN, Call, Kind, Value
from nanlint.facts.zeros import reaches_zero
from nanlint.source import telling_names as named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.facts.evaluate import Evaluator

COUNT, NORM, SPREAD, TOTAL, DATUM = "count", "norm", "spread", "total", "datum"


@dataclass(frozen=True, slots=True)
class Vanishing:
    """What a denominator is that can be 0, and how ordinary the input is that makes it so."""

    kind: str
    chance: Chance

    def __bool__(self) -> bool:
        """Whether it can."""
        return self.chance is not Chance.NONE

    @property
    def is_ordinary(self) -> bool:
        """Whether an everyday input does, by what the code says and not by a name alone."""
        return self.chance is Chance.ORDINARY


NEVER = Vanishing("", Chance.NONE)

SUMS = frozenset({"torch.sum", "torch.nansum", "torch.count_nonzero"})
NORMS = frozenset({"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm"})
_SPREADS = frozenset({"torch.std", "torch.var"})
_EXTREMES = frozenset({"torch.max", "torch.amax", "torch.mean", "torch.median"})
LARGEST = frozenset({"torch.max", "torch.amax"})
_DEEPEST = 12
# The number of hits and misses of both kinds together is that of all things.
ALL_OUTCOMES = 4


def vanishing(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> Vanishing:
    """What `node` is, if some input makes it 0: a count, norm, spread or total; NEVER for anything else."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    # What is 0 on every input is a buffer that is filled elsewhere.
    if value.learnable or depth == _DEEPEST or value.range.constant == 0:
        return NEVER
    for choice in value.possible:
        found = _made(choice, evaluator, depth) if choice.made_by is not None else NEVER
        if found:
            return found
    return NEVER


def _made(value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    call = value.made_by
    assert call is not None  # noqa: S101 - asked for by the caller
    if call.function in CARRYING:
        return vanishing(call.subject, evaluator, depth + 1) if not is_of_those_counted(call, evaluator) else NEVER
    judge = _JUDGES.get(call.function)
    return judge(call, value, evaluator, depth) if judge is not None else NEVER


def _total(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    subject, reach = call.subject, value.range
    if (classes := classes_counted(call, evaluator)) is not None:
        return _bins(classes, value, evaluator, depth)
    if subject is None or is_of_shares(subject, evaluator) or not named.BINS.isdisjoint(words_of(subject)):
        return NEVER
    # A mask that an object keeps is a setting of it.
    is_kept = (dotted_text(thing_of(subject)) or "").startswith("self.")
    is_mask = not value.is_known and not is_kept and not named.COUNTED.isdisjoint(words_of(subject))
    if is_mask or (value.is_known and reach.integer and reach.low == 0):
        return Vanishing(COUNT, emptiness(subject, evaluator)) if not is_read_at_the_last(call, evaluator) else NEVER
    if not value.is_known or reach.low != 0 or not reach.has_zero or not reaches_zero(subject, evaluator):
        mask = _mask_in(subject, evaluator) if not value.is_known else None
        return Vanishing(TOTAL, min(Chance.DOUBTFUL, emptiness(mask, evaluator))) if mask is not None else NEVER
    # A sum of squares is the square of a length.
    if _is_squared(subject, evaluator):
        return Vanishing(NORM, _shortness(evaluator.values[subject].made_by, evaluator))
    return Vanishing(TOTAL, silence(subject, evaluator))


def _mask_in(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression | None:
    """`mask` of `mask * weight`."""
    made_by = evaluator.values.get(node, UNKNOWN).made_by
    factors = made_by.arguments.values() if made_by is not None and made_by.function == "torch.mul" else ()
    return next((factor for factor in factors if not named.MASKS.isdisjoint(words_of(factor))), None)


def _bins(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    """How often each class occurs: some class does not. Of the members of each group there is one."""
    del value, evaluator, depth
    words = words_of(call.subject) if call.subject is not None else ()
    return NEVER if not named.MEMBERS.isdisjoint(words) else Vanishing(COUNT, Chance.ORDINARY)


def _tally(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    del value, depth
    return Vanishing(COUNT, Chance.ORDINARY) if is_tally(call, evaluator) else NEVER


def _is_squared(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    made_by = evaluator.values.get(node, UNKNOWN).made_by if node is not None else None
    if made_by is None or made_by.node not in evaluator.values:
        return False
    if made_by.function == "torch.mul":
        return same(made_by.subject, made_by.arguments.get("other"), evaluator)
    if made_by.function == "torch.add":
        return all(_is_squared(made_by.arguments.get(name), evaluator) for name in ("input", "other"))
    return made_by.function in {"torch.pow", "torch.square"}


def _norm(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    del value, depth
    return Vanishing(NORM, Chance.ORDINARY if is_of_blank_rows(call, evaluator) else _shortness(call, evaluator))


def _shortness(call: Call | None, evaluator: Evaluator) -> Chance:
    """How ordinary a length of 0 is: of what is called a signal or a gradient it is, of anything else at least possible."""
    subject = call.subject if call is not None else None
    # What a model makes is not 0 in a whole row, unless it has died.
    is_made = subject is not None and not is_drawn(subject, evaluator) and not is_of_shares(subject, evaluator)
    known = max(silence(subject, evaluator), Chance.DOUBTFUL if is_made else Chance.NONE)
    chain = measured_from(subject, evaluator) if subject is not None else []
    if all(named.SIGNALS.isdisjoint(words_of(part)) for part in chain):
        known = min(known, Chance.DOUBTFUL)
    return known


def _spread(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    del value, depth
    return Vanishing(SPREAD, max(silence(call.subject, evaluator), _equality(call, evaluator)))


def _equality(call: Call, evaluator: Evaluator) -> Chance:
    """What was not drawn may be all equal, whoever made it: one element, a dead channel, a map without a peak."""
    return Chance.NONE if call.subject is None or is_drawn(call.subject, evaluator) else Chance.DOUBTFUL


def _difference(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    """`x.max() - x.min()`, which the relation of its operands keeps from below 0; or two ends by name; or two elements."""
    del depth
    left, right = call.arguments.get("input"), call.arguments.get("other")
    whole = evaluator.values.get(left, UNKNOWN).origin if left is not None else None
    is_peak = whole is not None and whole.function in {"torch.max", "torch.amax", "torch.quantile"}
    if whole is not None and is_peak and value.is_known and value.range.low == 0:
        chance = max(flatness(whole, evaluator), _equality(whole, evaluator))
        return Vanishing(SPREAD, chance) if not is_raised(whole, right, evaluator) else NEVER
    if left is None or right is None:
        return NEVER
    others = evaluator.values.get(right, UNKNOWN).origin
    if _is_size(left, evaluator) and others is not None and others.function in SUMS:
        # Of all things, those that are left out may be all.
        return Vanishing(COUNT, min(Chance.DOUBTFUL, vanishing(right, evaluator).chance))
    if value.is_known:
        return NEVER
    one, other = words_of(left), words_of(right)
    are_ends = any(upper in one and lower in other for upper, lower in named.ENDS)
    return Vanishing(SPREAD, Chance.DOUBTFUL) if are_ends or _are_elements(left, right, evaluator) else NEVER


def _is_size(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    value = evaluator.values.get(node, UNKNOWN)
    return value.kind is Kind.NUMBER and value.range.integer and value.range.low == 0


def _are_elements(left: cst.BaseExpression, right: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`grid[1] - grid[0]`."""
    if not isinstance(left, cst.Subscript) or not isinstance(right, cst.Subscript):
        return False
    return same(left.value, right.value, evaluator)


def _extreme(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    del depth
    if "other" in call.arguments and not eps.NAMES.isdisjoint(words_of(call.arguments["other"])):
        return NEVER
    if not value.is_known and call.function in LARGEST and call.subject is not None and "other" not in call.arguments:
        # The darkest image there is has no pixel above 0.
        words = words_of(call.subject)
        is_signal = not named.SIGNALS.isdisjoint(words) and named.EXTENTS.isdisjoint(words)
        return Vanishing(TOTAL, Chance.DOUBTFUL) if is_signal else NEVER
    is_above = value.is_known and value.range.low == 0 and value.range.has_zero
    if not is_above or not reaches_zero(call.subject, evaluator) or is_of_shares(call.subject, evaluator):
        return NEVER
    # The largest class is not empty.
    if value.range.integer and call.function in LARGEST:
        return NEVER
    chance = flatness(call, evaluator) if call.function in LARGEST else silence(call.subject, evaluator)
    measured = evaluator.values.get(call.subject, UNKNOWN).origin if call.subject is not None else None
    # Not every vector of a batch has length 0.
    if measured is not None and measured.function in NORMS and "dim" not in call.arguments:
        chance = min(chance, Chance.DOUBTFUL)
    return Vanishing(TOTAL, chance)


def _sum(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    """`a.abs() + b.abs()`: 0 where both are."""
    operands = _terms(call, evaluator)
    if not value.is_known or value.range.low != 0 or not value.range.has_zero or len(operands) >= ALL_OUTCOMES:
        return NEVER
    if any(evaluator.values.get(operand, UNKNOWN).kind is Kind.NUMBER for operand in operands):
        return NEVER
    found = [vanishing(operand, evaluator, depth + 1) or _size(operand, evaluator) for operand in operands]
    if all(each.kind == COUNT for each in found) and are_of_one_thing(operands, evaluator):
        return NEVER
    return Vanishing(found[0].kind, min(each.chance for each in found))


def _terms(call: Call, evaluator: Evaluator) -> list[cst.BaseExpression]:
    """The terms of a sum, those of sums in it as well."""
    terms: list[cst.BaseExpression] = []
    waiting = [call]
    while waiting and len(terms) < ALL_OUTCOMES:
        for node in (operand for name in ("input", "other") if (operand := waiting[0].arguments.get(name)) is not None):
            inner = evaluator.calls.get(node)
            if inner is not None and inner.function == "torch.add":
                waiting.append(inner)
            else:
                terms.append(node)
        waiting.pop(0)
    return terms


def _size(node: cst.BaseExpression | None, evaluator: Evaluator) -> Vanishing:
    """`x.abs()` and `x ** 2` of data."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    made_by = value.made_by if value.kind is Kind.TENSOR else None
    if made_by is None or made_by.function not in {"torch.abs", "torch.square", "torch.pow", "torch.mul"}:
        return NEVER
    if made_by.function == "torch.abs":
        return Vanishing(TOTAL, silence(made_by.subject, evaluator))
    return Vanishing(NORM, min(Chance.DOUBTFUL, _shortness(made_by, evaluator)))


def _cut(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    """`(right - left).clamp(min=0)`: what is cut off at 0 is 0 for a box turned inside out."""
    del value, depth
    bound = call.arguments.get("min")
    is_at_0 = bound is None or evaluator.values.get(bound, UNKNOWN).number == 0
    made_by = evaluator.values.get(call.subject, UNKNOWN).origin if call.subject is not None else None
    is_edge = made_by is not None and made_by.function == "torch.sub"
    return Vanishing(TOTAL, Chance.DOUBTFUL) if is_at_0 and is_edge else NEVER


def _product(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    del value
    found = [vanishing(call.arguments.get(name), evaluator, depth + 1) for name in ("input", "other")]
    return max(found, key=lambda each: each.chance)


def _power(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    del value
    exponent = evaluator.values.get(call.arguments.get("exponent"), UNKNOWN).number  # type: ignore[arg-type] # a node or nothing
    return vanishing(call.subject, evaluator, depth + 1) if exponent is not None and exponent > 0 else NEVER


_JUDGES: Mapping[str, Callable[[Call, Value, Evaluator, int], Vanishing]] = {
    **dict.fromkeys(SUMS, _total),
    "torch.bincount": _bins,
    **dict.fromkeys(ADDING, _tally),
    **dict.fromkeys(NORMS, _norm),
    **dict.fromkeys(_SPREADS, _spread),
    **dict.fromkeys(_EXTREMES, _extreme),
    **dict.fromkeys(("torch.clamp", "torch.clamp_min", "torch.relu"), _cut),
    "torch.sub": _difference,
    "torch.add": _sum,
    "torch.mul": _product,
    "torch.pow": _power,
}
