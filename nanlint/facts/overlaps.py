"""Quotients that tell how much two things have in common: 0 / 0 where both are empty.

`inter / (a + b - inter)` and `2 * (p * t).sum() / (p.sum() + t.sum())` say by their form what they are, whatever is known of
the sizes in them. Two boxes without an area, a prediction and a target without a pixel make them NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.eps import is_eps
from nanlint.facts.relations import same
from nanlint.facts.values import UNKNOWN, Kind

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call

_ADD, _SUB, _MUL, _SUM = "torch.add", "torch.sub", "torch.mul", "torch.sum"
_DEEPEST = 6


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
    sizes = [_made(term, evaluator) for term in _terms(made, evaluator)] if made.function == _ADD else []
    shared = _shared(above, evaluator)
    if len(sizes) != len(shared) or not shared:
        return False
    return all(
        size is not None and size.function == _SUM and any(same(size.subject, each, evaluator) for each in shared)
        for size in sizes
    ) and _may_be_empty(shared, evaluator)


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
