"""What a denominator is, if some input makes it 0: by its own making, by what is divided, by its form, by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.counting import Chance
from nanlint.facts.doubtful import doubtful
from nanlint.facts.given import is_given
from nanlint.facts.measured import is_measured
from nanlint.facts.naming import is_normalising, words_of
from nanlint.facts.overlaps import (
    are_extremes,
    is_both_of_either,
    is_overlap,
    is_own_element,
    is_part_of_a_sum,
    is_place_between,
    is_relative_error,
    is_told_by_both,
    vanishing_beside,
)
from nanlint.facts.relations import same
from nanlint.facts.values import UNKNOWN, Kind
from nanlint.facts.vanishing import BY_FORM, COUNT, DATUM, NEVER, NORM, NORMS, SPREAD, SUMS, Vanishing, vanishing
from nanlint.source import telling_names as named

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Value

_WHEN = {
    COUNT: " when nothing is counted",
    NORM: " when its operand is all zeros",
    SPREAD: " when the data is constant",
}


def when_zero(value: Value, found: Vanishing) -> str:
    """When a denominator of the kind that was found is 0, as a message says it; empty if the kind does not tell."""
    made_by = value.origin
    # One less than a count is 0 when one is counted.
    if found.kind == COUNT and (made_by is None or made_by.function not in SUMS):
        return ""
    return _WHEN.get(found.kind, "")


def denominator(node: cst.BaseExpression, above: cst.BaseExpression | None, evaluator: Evaluator) -> Vanishing:
    """What `node` is, if some input makes it exactly 0, as the denominator of `above` if that is known."""
    found = _told(node, above, evaluator)
    if found and not found.is_ordinary and found.kind == NORM and _is_offered(node, above, evaluator):
        return Vanishing(found.kind, Chance.ORDINARY)
    return BY_FORM if not found and is_measured(node, evaluator) else found


def _is_offered(node: cst.BaseExpression, above: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether it is `x / x.norm()` of a parameter x in `normalize`, which gets every vector there is, or of points, the origin among them."""
    made = evaluator.values.get(node, UNKNOWN).origin
    if made is None or made.function not in NORMS or made.subject is None or above is None:
        return False
    words = set(words_of(made.subject))
    is_own = is_given(made.subject, evaluator) and same(above, made.subject, evaluator)
    is_any = is_normalising(evaluator.parsed.chunk.name) or not words.isdisjoint(named.POINTS)
    return is_any and is_own and words.isdisjoint(named.LEARNED)


def _told(node: cst.BaseExpression, above: cst.BaseExpression | None, evaluator: Evaluator) -> Vanishing:
    """As `denominator`, by what more than its making tells."""
    value = evaluator.values.get(node, UNKNOWN)
    if not value.range.has_zero:
        return NEVER
    return _told_by_form(node, above, evaluator) or _by_making(node, value, above, evaluator)


def _by_making(
    node: cst.BaseExpression, value: Value, above: cst.BaseExpression | None, evaluator: Evaluator
) -> Vanishing:
    found, reach = vanishing(node, evaluator), value.range
    # A molecule has atoms.
    if found.kind == COUNT and not named.MATTER.isdisjoint(words_of(node)):
        return NEVER
    if value.is_known and reach.low < 0 < reach.high:
        return found if found.kind == COUNT else _of_either_sign(value, evaluator)
    # What may be NaN already is told of where it becomes that; that all of it is equal, or nothing, is another matter.
    if reach.nan:
        return Vanishing(found.kind, Chance.DOUBTFUL) if found and found.kind in {SPREAD, NORM} else NEVER
    if above is None or value.is_known:
        return found
    return max(found, vanishing_beside(above, node, evaluator), key=lambda each: each.chance)


def _told_by_form(node: cst.BaseExpression, above: cst.BaseExpression | None, evaluator: Evaluator) -> Vanishing:
    if is_own_element(node, above, evaluator) or is_told_by_both(above, node, evaluator):
        return BY_FORM
    if is_place_between(above, node, evaluator):
        return Vanishing(SPREAD, Chance.ORDINARY if are_extremes(node, evaluator) else Chance.DOUBTFUL)
    if is_both_of_either(above, node, evaluator):
        return Vanishing(COUNT, Chance.ORDINARY)
    if is_relative_error(above, node, evaluator):
        return Vanishing(DATUM, Chance.ORDINARY)
    # Of a union written as a difference only the form tells that it is not negative.
    is_union = (
        above is not None
        and not evaluator.values[node].range.nan
        and (is_overlap(above, node, evaluator) or is_part_of_a_sum(above, node, evaluator))
    )
    return (vanishing(node, evaluator) or BY_FORM) if is_union else doubtful(node, evaluator)


def _of_either_sign(value: Value, evaluator: Evaluator) -> Vanishing:
    """`(high - low) / levels` is 0 where its numerator is, and a product where a factor is, whatever sign the rest has."""
    made_by = value.made_by
    if made_by is None or made_by.node not in evaluator.values or value.kind is Kind.NUMBER:
        return NEVER
    above, other = made_by.subject, made_by.arguments.get("other")
    is_scaled = made_by.function == "torch.div" and evaluator.values.get(other, UNKNOWN).kind is Kind.NUMBER  # type: ignore[arg-type] # a node or nothing
    if not is_scaled and made_by.function != "torch.mul":
        return NEVER
    parts = [part for part in ((above,) if is_scaled else (above, other)) if part is not None]
    found = max((denominator(part, None, evaluator) for part in parts), key=lambda each: each.chance, default=NEVER)
    return Vanishing(found.kind, min(found.chance, Chance.DOUBTFUL))
