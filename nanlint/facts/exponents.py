"""What keeps an exponential in bounds that no interval tells: a maximum that was subtracted, wherever it came from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanlint.facts.environment import text_of
from nanlint.facts.values import UNKNOWN

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call

# `x - scatter(x, index, reduce="max")[index]` and `x - x_max`: the reader is told by the name alone.
_PEAK = re.compile(r"max|peak|logsumexp|lse", re.IGNORECASE)
_KEEPING = frozenset({"torch.mul", "torch.div", "torch.neg", "torch.add", "torch.where", "torch.masked_fill"})
# Deeper than people nest.
_DEEPEST = 6


def is_shifted(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether a maximum was subtracted on the way to `node`: `x - x.max()`, and what is scaled or masked of it."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    return depth < _DEEPEST and any(
        made_by is not None and _is_shifted_call(made_by, evaluator, depth)
        for made_by in (choice.origin or choice.made_by for choice in value.possible)
    )


def _is_shifted_call(call: Call, evaluator: Evaluator, depth: int) -> bool:
    if call.function == "torch.sub" and _is_peak(call.arguments.get("other"), evaluator):
        return True
    if call.function != "torch.sub" and call.function not in _KEEPING:
        return False
    return any(is_shifted(call.arguments.get(name), evaluator, depth + 1) for name in ("input", "other"))


def _is_peak(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    if node is None:
        return False
    value = evaluator.values.get(node, UNKNOWN)
    behind = value.origin or value.made_by
    texts = [text_of(node), *([text_of(behind.node)] if behind is not None else [])]
    return any(_PEAK.search(text) for text in texts)
