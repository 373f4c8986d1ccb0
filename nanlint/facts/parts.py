"""Of what something is a view, a part or a cast: `labels` of `labels.view(-1, 1)[0]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.values import UNKNOWN

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator

_DEEPEST = 12


def root(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression:
    """What `node` is a view, a part or a cast of."""
    for _ in range(_DEEPEST):
        whole = _whole(node, evaluator)
        if whole is None:
            break
        node = whole
    return node


def _whole(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression | None:
    call = evaluator.calls.get(node)
    if call is None:
        return node.value if isinstance(node, cst.Subscript) else None  # a part of what may be no tensor
    is_made_here = evaluator.values.get(node, UNKNOWN).origin is call and call.function != "subscript"
    return call.subject if not is_made_here else None
