"""Denominators that are 0 on everyday input: counts of nothing, spreads of constant data, peaks of a silent signal.

A range that holds 0 is not enough: half of all ranges do. What is asked here is whether a value was counted, summed up
or measured out of data in a way that some ordinary batch makes 0. What rests on a name, or on data of which nobody here
knows where it comes from, is told apart as doubtful. What a model or a setting is scaled by is not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.counting import Chance, are_of_one_thing, behind, classes_counted, emptiness, is_of_shares
from nanlint.facts.names import dotted_text
from nanlint.facts.naming import thing_of, words_of
from nanlint.facts.relations import is_raised, same
from nanlint.facts.silence import CARRYING, flatness, is_drawn_or_built, is_of_blank_rows, measured_from, silence
from nanlint.facts.tallies import ADDING, is_of_those_counted, is_read_at_the_last, is_tally
from nanlint.facts.values import UNKNOWN, Call, Kind, Value
from nanlint.facts.zeros import reaches_zero
from nanlint.source import telling_names as named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.facts.evaluate import Evaluator

COUNT, NORM, SPREAD, TOTAL = "count", "norm", "spread", "total"


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
BY_FORM = Vanishing(TOTAL, Chance.DOUBTFUL)

SUMS = frozenset({"torch.sum", "torch.nansum", "torch.count_nonzero"})
_NORMS = frozenset({"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm"})
_SPREADS = frozenset({"torch.std", "torch.var"})
_EXTREMES = frozenset({"torch.max", "torch.amax", "torch.mean", "torch.median"})
_LARGEST = frozenset({"torch.max", "torch.amax"})
_PRODUCTS = frozenset({"torch.mul", "torch.matmul", "torch.bmm", "torch.einsum"})
_DEEPEST = 12
# The number of hits and misses of both kinds together is that of all things.
_OUTCOMES = 4


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


def vanishing_beside(above: cst.BaseExpression, below: cst.BaseExpression, evaluator: Evaluator) -> Vanishing:
    """As `vanishing`, for a denominator of which only its relation to the numerator tells what it is.

    `(x * w).sum() / w.sum()` is a weighted mean, whose weights can all be 0; `audio / audio.max()` is scaled by its peak.
    """
    measured = evaluator.values.get(below, UNKNOWN).origin
    if measured is None or measured.subject is None or evaluator.values.get(measured.subject, UNKNOWN).learnable:
        return NEVER
    words = set(words_of(measured.subject))
    # Weights by that name are meant to be above 0, unless a mask is in them.
    is_weight = not words.isdisjoint({"weight", "weights"}) and words.isdisjoint({"mask", "masked"})
    is_filled = is_weight or not words.isdisjoint(named.SEQUENCES | named.LENGTHS)
    if is_filled or is_of_shares(measured.subject, evaluator):
        return NEVER
    if measured.function in _LARGEST:
        if not same(above, measured.subject, evaluator):
            return NEVER
        return Vanishing(SPREAD, Chance.DOUBTFUL if words.isdisjoint(named.SIGNALS) else Chance.ORDINARY)
    # A kernel and the numbers of a histogram are divided by their own sum as well.
    is_own = words.isdisjoint(named.BINS | named.OCCURRING) and same(above, measured.subject, evaluator)
    is_weighted = measured.function in SUMS and (
        (is_own and silence(measured.subject, evaluator) is not Chance.NONE)
        or _is_weighted_by(above, measured.subject, evaluator)
    )
    if not is_weighted or _speaks_of_padding(measured.subject, evaluator):
        return NEVER
    return Vanishing(TOTAL, Chance.DOUBTFUL)


def is_own_element(below: cst.BaseExpression, above: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """`x / x[..., :1]`: scaled by the first element of itself."""
    return isinstance(below, cst.Subscript) and same(below.value, above, evaluator)


def _is_weighted_by(above: cst.BaseExpression, weight: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether `above` is a product with `weight`, or the sum of one."""
    made = evaluator.values.get(above, UNKNOWN).origin
    if made is not None and made.function in SUMS and made.subject is not None:
        made = evaluator.values.get(made.subject, UNKNOWN).origin
    if made is None or made.function not in _PRODUCTS or isinstance(made.node, cst.AugAssign):
        return False
    return any(same(factor, weight, evaluator) for factor in made.arguments.values())


def _speaks_of_padding(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    return any(not named.LENGTHS.isdisjoint(words_of(inner)) for inner in behind(node, evaluator))


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
        return NEVER
    # A sum of squares is the square of a length.
    if _is_squared(subject, evaluator):
        return Vanishing(NORM, _shortness(evaluator.values[subject].made_by, evaluator))
    return Vanishing(TOTAL, silence(subject, evaluator))


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
    is_made = subject is not None and not is_drawn_or_built(subject, evaluator) and not is_of_shares(subject, evaluator)
    known = max(silence(subject, evaluator), Chance.DOUBTFUL if is_made else Chance.NONE)
    chain = measured_from(subject, evaluator) if subject is not None else []
    if all(named.SIGNALS.isdisjoint(words_of(part)) for part in chain):
        known = min(known, Chance.DOUBTFUL)
    return known


def _spread(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    del value, depth
    return Vanishing(SPREAD, silence(call.subject, evaluator))


def _difference(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    """`x.max() - x.min()`, which the relation of its operands keeps from below 0; or two ends by name; or two elements."""
    del depth
    left, right = call.arguments.get("input"), call.arguments.get("other")
    whole = evaluator.values.get(left, UNKNOWN).origin if left is not None else None
    if whole is not None and whole.function in {"torch.max", "torch.amax", "torch.quantile"}:
        is_range = value.is_known and value.range.low == 0 and not is_raised(whole, right, evaluator)
        return Vanishing(SPREAD, flatness(whole, evaluator)) if is_range else NEVER
    if left is None or right is None or value.is_known:
        return NEVER
    one, other = words_of(left), words_of(right)
    are_ends = any(upper in one and lower in other for upper, lower in named.ENDS)
    return Vanishing(SPREAD, Chance.DOUBTFUL) if are_ends or _are_elements(left, right, evaluator) else NEVER


def _are_elements(left: cst.BaseExpression, right: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`grid[1] - grid[0]`."""
    if not isinstance(left, cst.Subscript) or not isinstance(right, cst.Subscript):
        return False
    return same(left.value, right.value, evaluator)


def _extreme(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    del depth
    if not value.is_known or value.range.low != 0 or not value.range.has_zero:
        return NEVER
    if not reaches_zero(call.subject, evaluator) or is_of_shares(call.subject, evaluator):
        return NEVER
    # The largest class is not empty.
    if value.range.integer and call.function in _LARGEST:
        return NEVER
    chance = flatness(call, evaluator) if call.function in _LARGEST else silence(call.subject, evaluator)
    measured = evaluator.values.get(call.subject, UNKNOWN).origin if call.subject is not None else None
    # Not every vector of a batch has length 0.
    if measured is not None and measured.function in _NORMS and "dim" not in call.arguments:
        chance = min(chance, Chance.DOUBTFUL)
    return Vanishing(TOTAL, chance)


def _sum(call: Call, value: Value, evaluator: Evaluator, depth: int) -> Vanishing:
    """`a.abs() + b.abs()`: 0 where both are."""
    operands = _terms(call, evaluator)
    if not value.is_known or value.range.low != 0 or not value.range.has_zero or len(operands) >= _OUTCOMES:
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
    while waiting and len(terms) < _OUTCOMES:
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
    return Vanishing(NORM, min(Chance.DOUBTFUL, silence(made_by.subject, evaluator)))


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
    **dict.fromkeys(_NORMS, _norm),
    **dict.fromkeys(_SPREADS, _spread),
    **dict.fromkeys(_EXTREMES, _extreme),
    "torch.sub": _difference,
    "torch.add": _sum,
    "torch.mul": _product,
    "torch.pow": _power,
}
