"""What a value is by its making, as several rules ask it: measured, an eps beside an average, likely to be 0.

Functions of facts, which `ShapeQuestions` has as methods: a rule states its condition, this module how it is recognised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.module_facts import ModuleFacts

_SQUARES = frozenset({"torch.pow", "torch.square", "torch.mul"})


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
