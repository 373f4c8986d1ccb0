"""What conditions tell about each other along a path: a second `if use_amp:` has the answer of the first.

Knowledge is a mapping from the text of a condition to its answer, in the names of the loop that the path is of.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.changes import assigned_in
from nanlint.facts.context import ancestors, compared
from nanlint.facts.loop_events import renamed
from nanlint.facts.names import dotted_text
from nanlint.facts.written import text_of
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanlint.facts.flow import Flow
    from nanlint.facts.loop_items import Assigned

_NAME = re.compile(r"[A-Za-z_][\w.]*")


def decided(test: cst.BaseExpression, known: Mapping[str, bool], names: Mapping[str, str]) -> bool | None:
    """The answer that a condition must have, given what is known; None if it can have either."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = decided(test.expression, known, names)
        return None if inner is None else not inner
    if isinstance(test, cst.BooleanOperation):
        whole = known.get(renamed(text_of(test), names))
        if whole is not None:
            return whole
        sides = [decided(side, known, names) for side in (test.left, test.right)]
        decisive = isinstance(test.operator, cst.Or)
        if decisive in sides:
            return decisive
        return None if None in sides else not decisive
    word = dotted_text(test)
    if word in {"True", "False"}:
        return word == "True"
    atom, sense = _atom(test, names)
    return None if atom not in known else known[atom] is sense


def told(test: cst.BaseExpression, truth: bool, names: Mapping[str, str]) -> Iterator[tuple[str, bool]]:  # noqa: FBT001
    """What is known after a condition was answered."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        yield from told(test.expression, not truth, names)
        return
    if isinstance(test, cst.BooleanOperation):
        if truth is isinstance(test.operator, cst.And):
            yield from told(test.left, truth, names)
            yield from told(test.right, truth, names)
        else:
            yield renamed(text_of(test), names), truth
        return
    atom, sense = _atom(test, names)
    yield atom, truth is sense


def is_returned(test: cst.BaseExpression, flow: Flow) -> bool:
    """Whether an answer sets a name that the function returns, so that its caller is told: `nans = 1`, and `return loss, nans`."""
    around = next((each for each in ancestors(test, flow.parsed.parents) if isinstance(each, cst.If)), None)
    if around is None:
        return False
    set_there = {name for node in walk(around.body) if isinstance(node, cst.Assign) for name in assigned_in(node)}
    returned = [
        node.value for node in walk(flow.parsed.module) if isinstance(node, cst.Return) and node.value is not None
    ]
    return any(dotted_text(inner) in set_there for value in returned for inner in walk(value))


def _atom(test: cst.BaseExpression, names: Mapping[str, str]) -> tuple[str, bool]:
    """The text that a simple condition is known by, and whether it is written in that sense: `x is None` denies `x`."""
    sides = compared(test) if isinstance(test, cst.Comparison) else None
    if sides is not None and sides.sign in {"is", "is not", "==", "!="}:
        left, right = renamed(text_of(sides.left), names), renamed(text_of(sides.right), names)
        is_positive = sides.sign in {"is", "=="}
        if right == "None":
            return left, not is_positive
        if right in {"True", "False"}:
            return left, is_positive is (right == "True")
        return f"{left}=={right}", is_positive
    return renamed(text_of(test), names), True


def reassigned(known: Mapping[str, bool], item: Assigned) -> Mapping[str, bool]:
    """What is still known after names were assigned."""
    if not known and item.truth is None:
        return known
    truth = item.truth if item.truth is not None else known.get(item.source)
    kept = {text: truth for text, truth in known.items() if item.names.isdisjoint(_prefixes(text))}
    if truth is not None:
        kept.update(dict.fromkeys(item.names, truth))
    return kept


# Every assignment on every path asks it of all conditions that are decided there.
@lru_cache(maxsize=1024)
def _prefixes(text: str) -> frozenset[str]:
    """Every name and attribute that a condition reads: a, a.b and c of `a.b > c`."""
    names = (match[0].split(".") for match in _NAME.finditer(text))
    return frozenset(".".join(parts[:count]) for parts in names for count in range(1, len(parts) + 1))
