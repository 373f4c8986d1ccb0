"""What an operation returns, from what its operands can be: one entry per operation, in float arithmetic.

Every entry is sound: whatever element torch computes from operands in their ranges, the result admits. NaN in gives NaN
out wherever torch does; who asks what an operation itself adds passes operands `without_nan()`. Counts are not known
here: a sum is of one value at least, var and std of two, unless the caller says `empty`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.ops.interval import FINITE, Interval
from nanlint.ops.transfers.activations import ACTIVATIONS
from nanlint.ops.transfers.elementwise import ELEMENTWISE
from nanlint.ops.transfers.operands import Operands, Transfer
from nanlint.ops.transfers.reductions import REDUCTIONS
from nanlint.ops.transfers.structure import STRUCTURE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.ops.formats import Format

TRANSFER: dict[str, Transfer] = {**ELEMENTWISE, **ACTIVATIONS, **REDUCTIONS, **STRUCTURE}
"""The transfer of each operation; of one that returns a tuple, that of its values."""


def transfer(
    operation: str,
    ranges: Mapping[str, Interval],
    constants: Mapping[str, object],
    form: Format,
    *,
    empty: bool = False,
) -> Interval:
    """Every number that the result of `operation` can hold; FINITE for an operation that is not in the table."""
    entry = TRANSFER.get(operation)
    return FINITE if entry is None else entry(Operands(operation, form, ranges, constants, empty))
