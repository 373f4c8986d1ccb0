"""How often each of several things occurs: the degree of a node, the size of a cluster. Some of them do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.analysis.name_hints import MEMBERS
from nanlint.facts.naming import words_of
from nanlint.facts.relations import same
from nanlint.facts.values import UNKNOWN, Call

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator

ADDING = {"torch.scatter_add": "src", "torch.index_add": "source"}
"""What adds up at places -> its argument with what is added."""
_TALLIES = frozenset({"torch.bincount", *ADDING})
_READING = frozenset({"torch.gather", "torch.index_select", "torch.take_along_dim", "torch.take"})
_QUOTIENTS = frozenset({"torch.div", "torch.reciprocal", "torch.pow", "torch.rsqrt"})


def is_tally(call: Call, evaluator: Evaluator) -> bool:
    """`zeros.index_add(0, ids, ones)`, of ids that need not all occur; of the members of each group there is one."""
    start, one, ids = (call.arguments.get(name) for name in ("input", ADDING[call.function], "index"))
    if start is None or one is None or ids is None or not MEMBERS.isdisjoint(words_of(ids)):
        return False
    ranges = [evaluator.values.get(node, UNKNOWN).range for node in (start, one)]
    return [reach.constant for reach in ranges] == [0, 1] and not _is_looked_up(ids, evaluator)


def _is_looked_up(ids: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether quotients are read at `ids` alone, as `(1 / degree)[ids]` is: those were counted."""
    reads = [
        part
        for part in evaluator.values
        if isinstance(part, cst.Subscript)
        and (made := evaluator.values.get(part.value, UNKNOWN).origin) is not None
        and made.function in _QUOTIENTS
    ]
    return bool(reads) and all(_is_at(part, ids, evaluator) for part in reads)


def is_read_at_the_last(count: Call, evaluator: Evaluator) -> bool:
    """`sums.gather(dim, n - 1)`: whoever reads the last of those counted knows that there is one."""
    for call in evaluator.calls.values():
        index = call.arguments.get("index") if call.function in _READING else None
        made_by = evaluator.values.get(index, UNKNOWN).origin if index is not None else None
        if made_by is None or made_by.function != "torch.sub" or made_by.subject is None:
            continue
        less = evaluator.values.get(made_by.arguments.get("other", made_by.subject), UNKNOWN).number
        if less == 1 and evaluator.values.get(made_by.subject, UNKNOWN).origin is count:
            return True
    return False


def is_of_those_counted(call: Call, evaluator: Evaluator) -> bool:
    """`counts[ids]` after `counts = torch.bincount(ids)`: whoever is looked up was counted."""
    counted = evaluator.values.get(call.subject, UNKNOWN).origin if call.subject is not None else None
    if counted is None or counted.function not in _TALLIES or not isinstance(call.node, cst.Subscript):
        return False
    return _is_at(call.node, counted.arguments.get("index", counted.subject), evaluator)


def _is_at(part: cst.Subscript, ids: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether it is `something[ids]`."""
    (index, *others) = (element.slice for element in part.slice)
    return not others and isinstance(index, cst.Index) and same(index.value, ids, evaluator)
