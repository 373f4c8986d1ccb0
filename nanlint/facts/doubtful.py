"""Denominators that are 0 for a reason which a name or a setting tells, and nothing else: worth a word at `info`.

A window of one pixel, a batch without boxes that is counted elsewhere, the signal-to-noise ratio of a schedule that ends in
pure noise, the determinant of a flat cell, a product of many probabilities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.counting import Chance
from nanlint.facts.naming import words_of
from nanlint.facts.silence import CARRYING
from nanlint.facts.values import UNKNOWN, Kind, Value
from nanlint.facts.vanishing import COUNT, NEVER, TOTAL, Vanishing
from nanlint.source import telling_names as named

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator

_DETERMINANTS = frozenset({"torch.det", "torch.linalg.det"})
_PRODUCTS = frozenset({"torch.prod", "torch.cumprod"})
_DEEPEST = 6


def doubtful(node: cst.BaseExpression, evaluator: Evaluator) -> Vanishing:
    """What `node` is, if somebody's choice or a rare input makes it 0; NEVER for anything else."""
    value = evaluator.values.get(node, UNKNOWN)
    if _is_size_less_one(value, evaluator):
        return Vanishing(COUNT, Chance.DOUBTFUL)
    value = _behind_views(value, evaluator)
    made_by = value.made_by.function if value.made_by is not None else ""
    if made_by in _DETERMINANTS or (made_by in _PRODUCTS and value.is_known and value.range.low == 0):
        return Vanishing(TOTAL, Chance.DOUBTFUL)
    words = set(words_of(node))
    if value.is_known or value.learnable:
        return NEVER
    is_count = not words.isdisjoint(named.NUMBERING) and not words.isdisjoint(named.NUMBERED)
    is_told = "snr" in words or (not made_by and (is_count or words >= named.AVERAGED_BY))
    return Vanishing(TOTAL, Chance.DOUBTFUL) if is_told else NEVER


def _behind_views(value: Value, evaluator: Evaluator) -> Value:
    for _ in range(_DEEPEST):
        made_by = value.made_by
        if made_by is None or made_by.function not in CARRYING or made_by.subject is None:
            break
        value = evaluator.values.get(made_by.subject, UNKNOWN)
    return value


def _is_size_less_one(value: Value, evaluator: Evaluator) -> bool:
    """`size - 1`, which is 0 for the smallest size there is."""
    made_by = value.made_by
    if made_by is None or made_by.function != "torch.sub" or made_by.subject is None:
        return False
    size, less = evaluator.values.get(made_by.subject, UNKNOWN), made_by.arguments.get("other")
    if less is None or evaluator.values.get(less, UNKNOWN).number != 1 or size.kind is Kind.TENSOR:
        return False
    is_stated = size.number is not None or not size.range.contains(1.0)
    return not is_stated and not named.SIZES.isdisjoint(words_of(made_by.subject))
