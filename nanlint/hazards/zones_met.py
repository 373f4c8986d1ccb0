"""Where an operand's range meets a danger zone of the op table: the one place from which hazards come."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import LAYER, NOTHING, Op, Value, made_from
from nanlint.analysis.patterns.under_roots import is_setting
from nanlint.ops.formats import AUTOCAST, FLOAT32, FORMATS, REFUSED
from nanlint.ops.interval import EVERYTHING
from nanlint.ops.zone import FORWARD, Zone
from nanlint.ops.zones import OPERATIONS, zones

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The power 1 / p is a root for every p above 1; an exponent that somebody sets may be one.
_SOME_ROOT = 1 / 3


def has_zones(operation: str) -> bool:
    """Whether some operand of it can enter a zone, or autocast refuses it."""
    return operation in OPERATIONS or AUTOCAST.get(operation) == REFUSED


def zones_met(op: Op, values: Mapping[str, Value] | None = None, dtype: str = "") -> Iterator[Zone]:
    """The zones that the operands of `op` can enter, in the format it computes in; `values` stand for its own operands."""
    if op.autocast == "cuda" and AUTOCAST.get(op.function) == REFUSED:
        yield Zone(op.function, "input", FORWARD, dtype or FLOAT32.name, "an error", (EVERYTHING,))
    if op.function not in OPERATIONS:
        return
    operands = values if values is not None else op.operands
    for zone in zones(op.function, dtype or _format(operands), _constants(op, operands)):
        value, partner = operands.get(zone.operand), operands.get(zone.partner)
        if value is None or not zone.meets_ordinarily(value.range):
            continue
        if zone.partner and (partner is None or not any(part.meets(partner.range) for part in zone.partner_values)):
            continue
        yield zone


def _format(operands: Mapping[str, Value]) -> str:
    stated = next((value.dtype for value in operands.values() if value.dtype in FORMATS), "")
    return stated or "float32"


def _constants(op: Op, operands: Mapping[str, Value]) -> dict[str, object]:
    """What the parameters of an operation are bound to, by the call and by the layer that it belongs to."""
    stated = dict(operands)
    if op.module is not None and op.module.kind is LAYER:
        stated = {**{str(key): value for key, value in zip(op.module.keys, op.module.parts, strict=True)}, **stated}
    constants = {name: value.constant for name, value in stated.items() if value.constant is not NOTHING}
    exponent = stated.get("exponent")
    if exponent is not None and "exponent" not in constants:
        if is_fraction(exponent):
            constants["exponent"] = exponent.range.low
        elif is_inverse(exponent) or is_setting(exponent):
            constants["exponent"] = _SOME_ROOT
    return constants


def is_fraction(value: Value) -> bool:
    """Whether no integer is among its values: the weights of the scales of MS-SSIM."""
    low, high = value.range.low, value.range.high
    return math.isfinite(low) and math.ceil(low) > high


def is_inverse(value: Value) -> bool:
    """Whether it is 1 divided by something: as an exponent hardly ever an integer."""
    made = made_from(value)
    if made is None or made.subject is None:
        return False
    return made.function == "torch.reciprocal" or (made.function == "torch.div" and made.subject.number == 1)
