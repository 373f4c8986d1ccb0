"""What a value is by its making, as several rules ask it: measured, an eps beside an average, likely to be 0.

Functions of facts, which `ShapeQuestions` has as methods: a rule states its condition, this module how it is recognised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.module_facts import ModuleFacts
    from nanlint.facts.values import Call

_SUMS = frozenset({"torch.sum", "torch.nansum", "torch.count_nonzero"})
_MEASURED = frozenset({"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm", "torch.std", "torch.var"})
_HIGHEST, _LOWEST = frozenset({"torch.max", "torch.amax"}), frozenset({"torch.min", "torch.amin"})
_SQUARES = frozenset({"torch.pow", "torch.square", "torch.mul"})
_COUNTS = frozenset({"mask", "masks", "count", "counts", "num", "len", "length", "lengths"})


def is_measured(facts: ModuleFacts, node: cst.BaseExpression) -> bool:
    """Whether it is a count, the sum of a mask or of weights, a norm, a spread, or `max - min`, by its making."""
    origin, reach = facts.origin_of(node), facts.range_of(node)
    if origin is None or origin.subject is None:
        return False
    if origin.function in _SUMS:
        # A sum of both signs is no weight, and it takes more than an underflow, as of sigmoids, to make one 0.
        is_weight = reach.low == 0 and not reach.nan and facts.reaches_zero(origin.subject)
        return is_weight or not facts.is_known(node)
    if origin.function != "torch.sub":
        return origin.function in _MEASURED
    high, low = (facts.origin_of(origin.arguments.get(side)) for side in ("input", "other"))
    return high is not None and low is not None and high.function in _HIGHEST and low.function in _LOWEST


def added_eps(facts: ModuleFacts, node: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """`eps` of `x.pow(2).mean() + eps` and of `x.var() + eps`."""
    added = facts.value_of(node).made_by if node is not None else None
    if added is None or added.function != "torch.add" or not facts.is_here(added.node):
        return None
    terms = (added.subject, added.arguments.get("other"))
    for value, eps in (terms, terms[::-1]):
        origin = facts.origin_of(value)
        if facts.constant_of(eps) is None or origin is None:
            continue
        squared = facts.origin_of(origin.subject) if origin.function == "torch.mean" else None
        is_square = squared is not None and facts.range_of(origin.subject).low >= 0
        if origin.function == "torch.var" or (is_square and squared is not None and squared.function in _SQUARES):
            return eps
    return None


def has_gradient_behind(facts: ModuleFacts, call: Call, operand: str) -> bool:
    """Whether a gradient reaches the operand, for all that names say: a count of what a mask keeps has none."""
    node, above = (call.arguments.get(each, call.node) for each in (operand, "input"))
    is_count = not _COUNTS.isdisjoint(facts.words_behind(node))
    # The gradient of what is divided by 0 is infinite, too.
    is_divided = call.function == "torch.div" and facts.rests_on_input(above) and not facts.range_of(above).integer
    return is_divided or (facts.rests_on_input(node) and not is_count)
