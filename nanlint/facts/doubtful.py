"""Denominators that are 0 for a reason which a name or a setting tells, and nothing else: worth a word at `info`.

A window of one pixel, a batch without boxes that is counted elsewhere, the signal-to-noise ratio of a schedule that ends in
pure noise, the determinant of a flat cell, a product of many probabilities, the sine of no rotation, a point at infinity, a
node without neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.counting import Chance, behind
from nanlint.facts.given import CONVERSIONS, is_given
from nanlint.facts.naming import words_of
from nanlint.facts.silence import CARRYING
from nanlint.facts.values import UNKNOWN, Call, Kind, Value
from nanlint.facts.vanishing import COUNT, NEVER, SUMS, TOTAL, Vanishing, vanishing
from nanlint.ops.names import SIGNATURES
from nanlint.source import telling_names as named

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator

_DETERMINANTS = frozenset({"torch.det", "torch.linalg.det"})
_PRODUCTS = frozenset({"torch.prod", "torch.cumprod"})
_SINES = frozenset({"torch.sin", "torch.tan", "torch.sinh"})
_COSINES = frozenset({"torch.cos", "torch.cosh"})
_NOT_OF_VALUES = (cst.Is, cst.IsNot, cst.In, cst.NotIn)
_SIGNS = frozenset({"torch.sign", "torch.sgn"})
_DEEPEST = 6


def doubtful(node: cst.BaseExpression, evaluator: Evaluator, depth: int = 0) -> Vanishing:
    """What `node` is, if somebody's choice or a rare input makes it 0; NEVER for anything else."""
    node = _unscaled(node, evaluator)
    parts = _factors(_behind_views(node, evaluator), evaluator) if depth < _DEEPEST else []
    return next(filter(None, (doubtful(part, evaluator, depth + 1) for part in parts)), _by_itself(node, evaluator))


def _by_itself(node: cst.BaseExpression, evaluator: Evaluator) -> Vanishing:
    value = evaluator.values.get(node, UNKNOWN)
    if _is_size_less_one(value, evaluator):
        return Vanishing(COUNT, Chance.DOUBTFUL)
    seen = _behind_views(node, evaluator)
    value = evaluator.values.get(seen, UNKNOWN)
    made_by = value.made_by.function if value.made_by is not None else ""
    if (made_by in _DETERMINANTS and not _is_raised(value.made_by, evaluator)) or (
        made_by in _PRODUCTS and value.is_known and value.range.low == 0
    ):
        return Vanishing(TOTAL, Chance.DOUBTFUL)
    if made_by == "sum" and (added := _added(value.made_by)) is not None:
        found = vanishing(added, evaluator)
        return Vanishing(found.kind, min(found.chance, Chance.DOUBTFUL))
    if _is_of_no_angle(value, evaluator) or _has_a_sign(value, evaluator) or _is_root_of_difference(node, evaluator):
        return Vanishing(TOTAL, Chance.DOUBTFUL)
    if value.is_known or value.learnable:
        return NEVER
    return Vanishing(TOTAL, Chance.DOUBTFUL) if _is_told(node, seen, made_by, evaluator) else NEVER


def _is_raised(call: Call | None, evaluator: Evaluator) -> bool:
    """`torch.det(x + torch.eye(n))`: what is added keeps the eigenvalues of a covariance from 0."""
    whole = (
        evaluator.values.get(call.subject, UNKNOWN).origin if call is not None and call.subject is not None else None
    )
    parts = whole.arguments.values() if whole is not None and whole.function == "torch.add" else ()
    makers = [evaluator.values.get(inner, UNKNOWN).origin for part in parts for inner in behind(part, evaluator)]
    return any(maker is not None and maker.function == "torch.eye" for maker in makers)


def _added(call: Call | None) -> cst.BaseExpression | None:
    """`mask.sum()` of `sum(mask.sum() for mask in masks)`, which is 0 where each of them is."""
    inner = next(iter(call.arguments.values()), None) if call is not None else None
    return inner.elt if isinstance(inner, (cst.GeneratorExp, cst.ListComp)) else None


def _is_told(node: cst.BaseExpression, seen: cst.BaseExpression, made_by: str, evaluator: Evaluator) -> bool:
    """Whether what it is called tells that it is 0 at times, and no operation of torch's own made it something else."""
    if not _is_told_by_name({*words_of(node), *words_of(seen)}, seen, made_by, evaluator):
        return False
    # Who compares something of that name, as to select by it, has thought of it.
    tests = [test for test in evaluator.comparisons if not isinstance(test.comparisons[0].operator, _NOT_OF_VALUES)]
    return all(words_of(test.left) != words_of(node) for test in tests)


def _is_told_by_name(words: set[str], seen: cst.BaseExpression, made_by: str, evaluator: Evaluator) -> bool:
    if "snr" in words:
        return True
    if made_by in SIGNATURES or made_by == "torch.add":
        return False
    is_count = not words.isdisjoint(named.NUMBERING) and not words.isdisjoint(named.NUMBERED)
    is_count = is_count or (not words.isdisjoint(named.SUMMED) and not words.isdisjoint(named.WEIGHED))
    is_count = is_count or (not words.isdisjoint(named.BELOW) and is_given(seen, evaluator))
    is_neighbours = not words.isdisjoint(named.DEGREES) and not evaluator.parsed.chunk.mentions(named.LOOPS)
    is_known_by_name = is_count or is_neighbours or words >= named.AVERAGED_BY
    return is_known_by_name or not words.isdisjoint(named.DISTANT) or _is_handed_in(seen, words, evaluator)


def _is_handed_in(node: cst.BaseExpression, words: set[str], evaluator: Evaluator) -> bool:
    """Whether it is a tensor of the caller's: the number of things that a metric has seen, data that errors are divided by, a length."""
    if evaluator.values.get(node, UNKNOWN).kind is not Kind.TENSOR or not is_given(node, evaluator):
        return False
    is_number = not words.isdisjoint(named.NUMBERING) and not words.isdisjoint(named.SEEN)
    return is_number or (bool(words) and (words <= named.DATA or words <= named.MEASURES))


def _factors(node: cst.BaseExpression, evaluator: Evaluator) -> list[cst.BaseExpression]:
    """What `node` is a product or a power of."""
    made_by = evaluator.values.get(node, UNKNOWN).made_by
    if made_by is None or made_by.node not in evaluator.values:
        return []
    exponent = evaluator.values.get(made_by.arguments.get("exponent"), UNKNOWN).number  # type: ignore[arg-type] # a node or nothing
    is_power = made_by.function == "torch.pow" and exponent is not None and exponent > 0
    found = (
        [made_by.arguments.get(name) for name in ("input", "other")]
        if made_by.function == "torch.mul" or is_power
        else []
    )
    return [factor for factor in found if factor is not None]


def _is_root_of_difference(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`sqrt(a - b)`: of two tensors that may be equal, as of a variance by hand."""
    made_by = evaluator.values.get(node, UNKNOWN).made_by
    if made_by is None or made_by.node not in evaluator.values:
        return False
    less = evaluator.values.get(made_by.subject, UNKNOWN).origin if made_by.subject is not None else None
    if made_by.function != "torch.sqrt" or less is None or less.function != "torch.sub":
        return False
    kinds = [evaluator.values.get(each, UNKNOWN).kind for each in less.arguments.values()]
    return Kind.TENSOR in kinds and Kind.NUMBER not in kinds


def _has_a_sign(value: Value, evaluator: Evaluator) -> bool:
    """`x.abs().clamp(eps) * x.sign()`: what keeps the size from 0 is multiplied by the sign of 0."""
    made_by = value.made_by
    if made_by is None or made_by.function != "torch.mul":
        return False
    makers = [evaluator.values.get(factor, UNKNOWN).origin for factor in made_by.arguments.values()]
    return any(maker is not None and maker.function in _SIGNS for maker in makers)


def _unscaled(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression:
    """`x` of `2 * x`, by a number that is not 0."""
    made_by = evaluator.values.get(node, UNKNOWN).made_by
    if made_by is None or made_by.function != "torch.mul" or made_by.node not in evaluator.values:
        return node
    one, other = made_by.arguments.get("input"), made_by.arguments.get("other")
    for factor, rest in ((one, other), (other, one)):
        number = evaluator.values.get(factor, UNKNOWN).number if factor is not None else None
        if number and rest is not None:
            return rest
    return node


def _behind_views(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression:
    for _ in range(_DEEPEST):
        made_by = evaluator.values.get(node, UNKNOWN).made_by
        if made_by is None or made_by.function not in CARRYING | CONVERSIONS:
            break
        if made_by.subject is None or made_by.subject not in evaluator.values:
            break
        node = made_by.subject
    return node


def _is_size_less_one(value: Value, evaluator: Evaluator) -> bool:
    """`size - 1`, which is 0 for the smallest size there is, and `n - 1` of elements that were counted."""
    made_by = value.made_by
    if made_by is None or made_by.function != "torch.sub" or made_by.subject is None:
        return False
    size, less = evaluator.values.get(made_by.subject, UNKNOWN), made_by.arguments.get("other")
    if less is None or evaluator.values.get(less, UNKNOWN).number != 1:
        return False
    if size.kind is Kind.TENSOR:
        is_sum = size.origin is not None and size.origin.function in SUMS
        return is_sum and (size.range.integer or vanishing(made_by.subject, evaluator).kind == COUNT)
    is_stated = size.number is not None or not size.range.contains(1.0)
    is_size = size.kind is Kind.NUMBER and size.range.integer and size.range.low == 0
    return not is_stated and (is_size or not named.SIZES.isdisjoint(words_of(made_by.subject)))


def _is_of_no_angle(value: Value, evaluator: Evaluator) -> bool:
    """`sin(angle)`, and `1 - cos(angle)`, of an angle that nothing keeps from 0."""
    made_by = value.made_by
    if made_by is None or not value.range.has_zero:
        return False
    if made_by.function in _SINES:
        return True
    if made_by.function != "torch.sub" or made_by.subject is None:
        return False
    other = made_by.arguments.get("other")
    taken = evaluator.values.get(other, UNKNOWN).origin if other is not None else None
    is_one = evaluator.values.get(made_by.subject, UNKNOWN).number == 1
    return is_one and taken is not None and taken.function in _COSINES
