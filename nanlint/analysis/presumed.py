"""What is presumed to be above 0 because somebody added an eps to it: no proof, but strong evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ATTRIBUTE, NUMBER, PARAMETER, TENSOR, TEXT, UNKNOWN
from nanlint.analysis.picks import is_positive_pick
from nanlint.ops.names import tensor_methods

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op, Value

# Of positive values they make positive ones.
_KEEPING_SIGN = tensor_methods("""
    sum mean amax amin max min sqrt pow square cumsum prod norm median abs reciprocal view reshape flatten squeeze
    unsqueeze permute transpose contiguous clone expand select narrow gather index_select float double half to detach t
    repeat
""") | {"torch.linalg.norm", "torch.linalg.vector_norm"}
_LARGEST_EPS = 0.1


def _is_raised_by_setting(values: list[Value]) -> bool:
    """`probs + args.epsilon`: what is not negative, and something that comes from outside as a plain number would."""
    low = [value for value in values if value.range.low == 0 and value.kind is TENSOR]
    rest = [value for value in values if value not in low]
    return len(low) == 1 and all(
        value.op is not None
        and (value.op.function == ATTRIBUTE or (value.op.function == PARAMETER and value.kind is NUMBER))
        and value.kind in {NUMBER, UNKNOWN}
        for value in rest
    )


def is_presumed_positive(op: Op) -> bool:  # noqa: PLR0911 - one way out for each reason
    """Whether an eps was added to something that may be negative for all that is known, or it is made of what is presumed so."""
    values = [value for value in op.operands.values() if value.kind is not TEXT]
    if op.function == "torch.add":
        if any(value.presumed for value in values):
            return all(value.presumed or value.range.low >= 0 for value in values)
        if _is_raised_by_setting(values):
            return True
        numbers = [value.range.constant for value in values if value.range.constant is not None]
        # What is left of a difference rounds below 0.
        is_difference = any(value.op is not None and value.op.function == "torch.sub" for value in values)
        return len(numbers) == 1 and 0 < numbers[0] <= _LARGEST_EPS and not is_difference
    subject = op.subject
    if subject is None:
        return False
    if (op.function == "torch.masked_fill" and _raises_zeros(op)) or (
        op.function == "torch.sum" and is_positive_pick(op)
    ):
        return True
    if op.function in {"torch.mul", "torch.div"}:
        # A number of Python's is a size or a setting: positive, as long as nothing says otherwise.
        is_kept = all(value.presumed or value.range.low > 0 or value.kind is NUMBER for value in values)
        return is_kept and any(value.presumed for value in values)
    return subject.presumed and op.function in _KEEPING_SIGN


def _raises_zeros(op: Op) -> bool:
    """`x[x == 0] = 1e-12`: whoever asks for 0 alone expects nothing below it."""
    fill, mask = op.operands.get("value"), op.operands.get("mask")
    test = mask.op if mask is not None else None
    if test is None or test.function != "torch.eq" or test.operands["other"].number != 0:
        return False
    return fill is not None and fill.range.low > 0 and test.operands["input"].key == op.operands["input"].key
