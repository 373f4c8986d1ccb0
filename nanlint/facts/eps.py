"""Small numbers that are added to keep something from 0: which term of a sum is one, by its name or its size."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.facts.naming import words_of
from nanlint.facts.values import UNKNOWN, Call, Kind

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator

_SUM = "torch.add"
NAMES = frozenset({"eps", "epsilon", "tiny", "smooth", "jitter"})
_LARGEST = 1e-3


class Raised(NamedTuple):
    """`value + eps`."""

    value: cst.BaseExpression
    eps: cst.BaseExpression


def raised(call: Call | None, evaluator: Evaluator) -> Raised | None:
    """The two terms of a sum of which one is an eps; None for any other operation."""
    terms = (call.subject, call.arguments.get("other")) if call is not None and call.function == _SUM else ()
    for value, eps in (terms, terms[::-1]) if terms else ():
        if value is not None and eps is not None and is_eps(eps, evaluator):
            return Raised(value, eps)
    return None


def is_eps(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether it is a small number, or nothing but a name that says so."""
    held = evaluator.values.get(node, UNKNOWN)
    if held.kind is Kind.TENSOR or held.made_by is not None:
        return False
    number = held.number
    return 0 < number <= _LARGEST if number is not None else not NAMES.isdisjoint(words_of(node))
