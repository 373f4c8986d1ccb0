"""One operation for one meaning, where the op table has two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import NOTHING, made_from

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.analysis.op_graph import Value
    from nanlint.analysis.operation_results import Maker


def in_one_spelling(function: str, operands: Mapping[str, Value], maker: Maker) -> tuple[str, Mapping[str, Value]]:
    """`x + (-m)` is `x - m`."""
    left, right = operands.get("input"), operands.get("other")
    if left is None or right is None or len(operands) != 2:
        return function, operands
    made = made_from(right)
    if right.number is not None and right.number < 0 and left.constant is NOTHING:
        positive = maker.literal(-right.number, right.op.node if right.op is not None else None, assumed=right.assumed)
        return "torch.sub", {"input": left, "other": positive}
    if made is not None and made.function == "torch.neg" and made.subject is not None and right.op is made:
        return "torch.sub", {"input": left, "other": made.subject}
    return function, operands
