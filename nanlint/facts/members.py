"""Statistics over the members of something: the models of an ensemble, the answers to one prompt. There may be one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.naming import words_of
from nanlint.facts.values import UNKNOWN
from nanlint.ops.names import METHODS
from nanlint.source.telling_names import SCORES

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call

_SHAPING = frozenset({METHODS["view"], METHODS["reshape"]})
_LAST = frozenset({1, -1})


def is_of_members(call: Call, evaluator: Evaluator) -> bool:
    """Whether `call` is along what was stacked, of a list that is not written out, or along groups of scores of a size that is set."""
    made_by = evaluator.values.get(call.subject, UNKNOWN).made_by if call.subject is not None else None
    dim = _number(call, "dim", evaluator)
    if made_by is None or made_by.node not in evaluator.values or call.subject is None or dim is None:
        return False
    if made_by.function == "torch.stack":
        is_written = isinstance(made_by.subject, (cst.List, cst.Tuple))
        return not is_written and dim == (_number(made_by, "dim", evaluator) or 0)
    is_score = not SCORES.isdisjoint(words_of(call.subject))
    return is_score and made_by.function in _SHAPING and dim in _LAST and _is_in_groups(made_by.node, evaluator)


def _is_in_groups(node: cst.CSTNode, evaluator: Evaluator) -> bool:
    """`x.view(-1, n)`."""
    sizes = [argument.value for argument in node.args] if isinstance(node, cst.Call) else []
    return len(sizes) == len(_LAST) and evaluator.values.get(sizes[1], UNKNOWN).number is None


def _number(call: Call, name: str, evaluator: Evaluator) -> float | None:
    node = call.arguments.get(name)
    return evaluator.values.get(node, UNKNOWN).number if node is not None else None
