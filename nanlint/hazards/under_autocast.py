"""Whether autocast saves an operation: what it runs in float32 breaks in a half format only where the tensors themselves are half."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.dtypes import dtype_made
from nanlint.analysis.in_format import in_format
from nanlint.hazards.zones_met import zones_met
from nanlint.ops.formats import FLOAT16, FLOAT32

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op
    from nanlint.analysis.operation_results import Maker


def runs_in_float32(op: Op, maker: Maker) -> bool:
    """Whether autocast computes it in float32, as it does itself or since something before it is float32."""
    operands = {name: in_format(value, FLOAT16.name, maker, is_cast=True) for name, value in op.operands.items()}
    return dtype_made(op.function, operands, autocast=FLOAT16.name) == FLOAT32.name


def is_saved(op: Op, operand: str, maker: Maker) -> bool:
    """Whether no operand enters a zone with what autocast to float16 makes of it: an eps may be lost before it is cast up."""
    operands = {name: in_format(value, FLOAT16.name, maker, is_cast=True) for name, value in op.operands.items()}
    computed = dtype_made(op.function, operands, autocast=FLOAT16.name) or FLOAT16.name
    return not any(zone.operand == operand for zone in zones_met(op, operands, computed))
