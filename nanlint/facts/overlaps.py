"""Quotients that tell by their form how much of something there is: 0 / 0 where there is nothing at all.

`inter / (a + b - inter)` and `2 * (p * t).sum() / (p.sum() + t.sum())` say by their form what they are, whatever is known of
the sizes in them: two boxes without an area, a prediction and a target without a pixel make them NaN. So do `tp / (tp + fp)`
without a prediction, and `p[..., :2] / p[..., 2:]` for a point in the plane of the camera.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.calculate import VIEWS
from nanlint.facts.counting import Chance, behind, is_of_shares
from nanlint.facts.eps import is_eps
from nanlint.facts.given import CONVERSIONS, is_given
from nanlint.facts.naming import words_of
from nanlint.facts.relations import same
from nanlint.facts.silence import silence
from nanlint.facts.unkept import is_kept
from nanlint.facts.values import UNKNOWN, Kind
from nanlint.facts.vanishing import ALL_OUTCOMES, LARGEST, NEVER, SPREAD, SUMS, TOTAL, Vanishing
from nanlint.facts.zeros import reaches_zero
from nanlint.source import telling_names as named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call, Value

_ADD, _SUB, _MUL, _SUM, _ABS = "torch.add", "torch.sub", "torch.mul", "torch.sum", "torch.abs"
_SIZES = frozenset({"torch.pow", "torch.sqrt", "torch.abs", "torch.square"})
_PRODUCTS = frozenset({"torch.mul", "torch.matmul", "torch.bmm", "torch.einsum"})
_UNIONS = frozenset({"torch.bitwise_or", "torch.logical_or"})
_INTERSECTIONS = frozenset({"torch.bitwise_and", "torch.logical_and"})
_DEEPEST = 6


def vanishing_beside(above: cst.BaseExpression, below: cst.BaseExpression, evaluator: Evaluator) -> Vanishing:
    """As `vanishing`, for a denominator of which only its relation to the numerator tells what it is.

    `(x * w).sum() / w.sum()` is a weighted mean, whose weights can all be 0; `audio / audio.max()` is scaled by its peak.
    """
    measured = evaluator.values.get(below, UNKNOWN).origin
    if measured is None or measured.subject is None or evaluator.values.get(measured.subject, UNKNOWN).learnable:
        return NEVER
    words = set(words_of(measured.subject))
    # Weights by that name are meant to be above 0, unless a mask is in them.
    is_weight = not words.isdisjoint({"weight", "weights", "w"}) and words.isdisjoint({"mask", "masked"})
    # What a product of matrices gives is of either sign.
    made = evaluator.values.get(measured.subject, UNKNOWN).origin
    is_signed = made is not None and made.function in {"torch.matmul", "torch.bmm", "torch.einsum"}
    is_given_weight = is_weight and (is_signed or is_given(measured.subject, evaluator))
    is_filled = (is_weight and not is_given_weight) or not words.isdisjoint(
        named.SEQUENCES | named.LENGTHS | named.EXTENTS | named.SPLITS
    )
    if is_filled or is_of_shares(measured.subject, evaluator):
        return NEVER
    if measured.function in LARGEST:
        if not same(above, measured.subject, evaluator):
            return NEVER
        return Vanishing(SPREAD, Chance.DOUBTFUL if words.isdisjoint(named.SIGNALS) else Chance.ORDINARY)
    # A kernel and the numbers of a histogram are divided by their own sum as well.
    is_own = words.isdisjoint(named.BINS | named.OCCURRING) and same(above, measured.subject, evaluator)
    is_weighted = measured.function in SUMS and (
        (is_own and (is_given_weight or silence(measured.subject, evaluator) is not Chance.NONE))
        or _is_weighted_by(above, measured.subject, evaluator)
    )
    if not is_weighted or _speaks_of_padding(measured.subject, evaluator):
        return NEVER
    return Vanishing(TOTAL, Chance.DOUBTFUL)


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


def is_overlap(above: cst.BaseExpression, below: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether `above / below` is what two sets share by what they hold together, or by the sum of their sizes."""
    made = _made(below, evaluator)
    if made is None:
        return False
    if made.function == _SUB:
        both = _made(made.subject, evaluator)
        both = _made(both.subject, evaluator) if both is not None and both.function == _SUM else both
        is_union = both is not None and both.function == _ADD and same(made.arguments.get("other"), above, evaluator)
        return is_union and _may_be_empty(_terms(both, evaluator), evaluator)
    shared, sizes = _shared(above, evaluator), _sizes(made, evaluator)
    if len(sizes) != len(shared) or not shared:
        return False
    are_those = all(any(same(size, each, evaluator) for each in shared) for size in sizes)
    return are_those and _may_be_empty(shared, evaluator)


def is_both_of_either(above: cst.BaseExpression | None, below: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`(a & b).sum() / (a | b).sum()`: what two masks share by what they mark together, which may be nothing."""
    whole, part = _made(below, evaluator), _made(above, evaluator)
    if whole is None or part is None or {whole.function, part.function} != {_SUM}:
        return False
    either, both = _made(whole.subject, evaluator), _made(part.subject, evaluator)
    if either is None or both is None or either.function not in _UNIONS or both.function not in _INTERSECTIONS:
        return False
    masks = list(both.arguments.values())
    return all(any(same(mask, each, evaluator) for each in masks) for mask in either.arguments.values())


def is_part_of_a_sum(above: cst.BaseExpression, below: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`tp / (tp + fp)`, `2 * p * r / (p + r)`: a part of what may be nothing, by what is counted in it."""
    made = _made(below, evaluator)
    terms = _terms(made, evaluator) if made is not None and made.function == _ADD else []
    if not 1 < len(terms) < ALL_OUTCOMES or not _may_be_empty(terms, evaluator):
        return False
    parts = [factor for term in terms for factor in _factors(term, evaluator)]
    factors = list(_factors(above, evaluator))
    found = [part for part in parts if any(same(factor, part, evaluator) for factor in factors)]
    if not found:
        return False
    # What a model or a distribution is set to is above 0; a harmonic mean is one of shares.
    is_set = any(not named.SET_ABOVE_ZERO.isdisjoint(words_of(part)) for part in parts) and len(found) < len(parts)
    return not is_set and all(reaches_zero(part, evaluator) and not evaluator.values[part].learnable for part in parts)


def is_place_between(above: cst.BaseExpression | None, below: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`(t - t0) / (t1 - t0)`: the place between two ends, which may be one."""
    above_made = _made(above, evaluator)
    below_made = evaluator.values.get(below, UNKNOWN).made_by
    if above_made is None or below_made is None or {above_made.function, below_made.function} != {_SUB}:
        return False
    value, start = evaluator.values[below], below_made.arguments.get("other")
    is_open = not value.is_known and value.kind is not Kind.NUMBER and below_made.node in evaluator.values
    return is_open and not _is_number(start, evaluator) and same(above_made.arguments.get("other"), start, evaluator)


def are_extremes(below: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`x_max - x_min` of data by name, each of them a tensor and no setting: a column in which all is equal has no extent."""
    if not isinstance(below, cst.BinaryOperation) or evaluator.values.get(below, UNKNOWN).kind is not Kind.TENSOR:
        return False
    left, right = below.left, below.right
    one, other = words_of(left), words_of(right)
    is_named = any(upper in one and lower in other for upper, lower in named.EXTREMES)
    are_tensors = all(evaluator.values.get(side, UNKNOWN).kind is Kind.TENSOR for side in (left, right))
    is_set = is_kept(left) or is_kept(right) or not named.RANGED.isdisjoint(one)
    return is_named and are_tensors and not is_set and _may_be_empty([left, right], evaluator)


def is_relative_error(above: cst.BaseExpression | None, below: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`(target - x).abs() / target`: an error by what it is an error of, any of which may be 0."""
    made, words, size = _made(above, evaluator), set(words_of(below)), _made(below, evaluator)
    below = size.subject if size is not None and size.function == _ABS and size.subject is not None else below
    for _ in range(_DEEPEST):
        if made is None or made.function not in _SIZES:
            break
        made = _made(made.subject, evaluator)
    if made is None or made.function != _SUB or not words or not words <= named.DATA or not is_given(below, evaluator):
        return False
    return any(same(side, below, evaluator) for side in made.arguments.values())


def is_told_by_both(above: cst.BaseExpression | None, below: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`(x - mean) / std` and `w / h`: a column may be constant and a box flat, wherever that was measured."""
    value = evaluator.values.get(below, UNKNOWN)
    if above is None or value.is_known or value.learnable or value.kind is Kind.NUMBER or not _is_read(value):
        return False
    words = set(words_of(below))
    if not words.isdisjoint(named.HEIGHTS):
        return len(words) == 1 and set(words_of(above)) <= named.WIDTHS and bool(words_of(above))
    less = _made(above, evaluator) if not words.isdisjoint(named.SPREADS) else None
    taken = less.arguments.get("other") if less is not None and less.function == _SUB else None
    if less is None or less.subject is None or taken is None or named.LEVELS.isdisjoint(words_of(taken)):
        return False
    # What pictures are normalised by is a setting, and so is what a model keeps to normalise its input by.
    is_setting = is_kept(below) and evaluator.parsed.chunk.name == "forward"
    return not is_setting and named.PICTURES.isdisjoint(words | set(words_of(less.subject)))


def _is_read(value: Value) -> bool:
    """Whether it was given, kept or read off something, and not computed here."""
    return value.made_by is None or value.made_by.function in CONVERSIONS | VIEWS | {"subscript"}


def is_own_element(below: cst.BaseExpression, above: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """`x / x[..., :1]`, `p[..., :2] / p[..., 2:]`: scaled by an element of itself."""
    part = _element(below, evaluator)
    if part is None or above is None:
        return False
    if same(part.value, above, evaluator):
        return True
    other = _element(above, evaluator)
    return other is not None and len(part.slice) > 1 and same(part.value, other.value, evaluator)


def _element(node: cst.BaseExpression, evaluator: Evaluator) -> cst.Subscript | None:
    """`x[0]`, directly or under a name, by its size or with a root taken of it."""
    for _ in range(_DEEPEST):
        if isinstance(node, cst.Subscript):
            return node
        made = evaluator.values.get(node, UNKNOWN).made_by
        if made is None or made.node not in evaluator.values:
            return None
        if made.function == "subscript":
            return made.node if isinstance(made.node, cst.Subscript) else None
        if made.function not in _SIZES or made.subject is None:
            return None
        node = made.subject
    return None


def _shared(above: cst.BaseExpression, evaluator: Evaluator) -> list[cst.BaseExpression]:
    """`p` and `t` of `2 * (p * t).sum()`."""
    made = _made(above, evaluator)
    if made is not None and made.function == _MUL:
        summed = [each for each in map(made.arguments.get, ("input", "other")) if not _is_number(each, evaluator)]
        made = _made(summed[0], evaluator) if len(summed) == 1 else None
    product = _made(made.subject, evaluator) if made is not None and made.function == _SUM else None
    if product is None or product.function != _MUL:
        return []
    return [each for each in map(product.arguments.get, ("input", "other")) if each is not None]


def _sizes(made: Call, evaluator: Evaluator) -> list[cst.BaseExpression]:
    """`p` and `t` of `p.sum() + t.sum()`, and of `(p + t).sum()`."""
    inner = _made(made.subject, evaluator) if made.function == _SUM else None
    if inner is not None and inner.function == _ADD:
        return _terms(inner, evaluator)
    terms = _terms(made, evaluator) if made.function == _ADD else []
    summed = [each for each in (_made(term, evaluator) for term in terms) if each is not None and each.function == _SUM]
    sizes = [each.subject for each in summed if each.subject is not None]
    return sizes if len(sizes) == len(terms) else []


def _factors(node: cst.BaseExpression, evaluator: Evaluator, depth: int = 0) -> Iterator[cst.BaseExpression]:
    """The factors of a product that are no numbers."""
    made = _made(node, evaluator)
    if made is None or made.function != _MUL or depth == _DEEPEST:
        if not _is_number(node, evaluator):
            yield node
        return
    for factor in map(made.arguments.get, ("input", "other")):
        if factor is not None:
            yield from _factors(factor, evaluator, depth + 1)


def _may_be_empty(terms: list[cst.BaseExpression], evaluator: Evaluator) -> bool:
    """Whether nothing is added to keep them above 0: neither an eps nor the pixel of `x2 - x1 + 1`."""
    return not any(_is_raised(term, evaluator) for term in terms)


def _is_raised(node: cst.BaseExpression, evaluator: Evaluator, depth: int = 0) -> bool:
    value = evaluator.values.get(node, UNKNOWN)
    if _is_number(node, evaluator) or is_eps(node, evaluator) or not value.range.has_zero:
        return True
    made = _made(node, evaluator)
    if made is None or depth == _DEEPEST:
        return False
    inner = [each for each in (made.subject, made.arguments.get("other")) if each is not None]
    if made.function in {_ADD, "torch.clamp", "torch.clamp_min"}:
        bound = made.arguments.get("min")
        if bound is not None and evaluator.values.get(bound, UNKNOWN).number != 0:
            return True
        return any(_is_raised(each, evaluator, depth + 1) for each in inner)
    if made.function == _MUL:
        inner = [each for each in inner if not _is_number(each, evaluator)]
    elif made.function == _SUB:
        inner = inner[:1]
    return any(_is_raised(each, evaluator, depth + 1) for each in inner)


def _terms(call: Call | None, evaluator: Evaluator) -> list[cst.BaseExpression]:
    """The terms of a sum, those of a sum in it as well."""
    terms: list[cst.BaseExpression] = []
    for node in map(call.arguments.get, ("input", "other")) if call is not None else ():
        inner = _made(node, evaluator)
        if inner is not None and inner.function == _ADD and len(terms) < _DEEPEST:
            terms += _terms(inner, evaluator)
        elif node is not None:
            terms.append(node)
    return terms


def _is_number(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    return node is not None and evaluator.values.get(node, UNKNOWN).kind is Kind.NUMBER


def _made(node: cst.BaseExpression | None, evaluator: Evaluator) -> Call | None:
    made = evaluator.values.get(node, UNKNOWN).origin if node is not None else None
    return made if made is not None and made.node in evaluator.values else None
