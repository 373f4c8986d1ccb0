"""Where torch breaks: forward, and through autograd with a gradient of 1, by every value or by bisection."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import torch

from nanlint.model import Direction
from nanlint.ops.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.ops.interval import Interval
    from nanlint.ops.zone import Zone

DTYPES = list(FORMATS)
HALVES = ["float16", "bfloat16"]
SINGLES = ["float32", "float64"]
BITS = {"float16": torch.int16, "bfloat16": torch.int16, "float32": torch.int32, "float64": torch.int64}
FORWARD, BACKWARD = Direction.FORWARD, Direction.BACKWARD
# Enough copies of a value for torch's vector code; a single one takes the scalar code.
VECTOR = 64


def function(operation: str) -> Callable[[Any], Any]:
    found: Any = torch
    for part in operation.split(".")[1:]:
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def operand_of(zone: Zone) -> str:
    return f"{zone.operand}&{zone.partner}" if zone.partner else zone.operand


def evaluate(call: Callable[[Any], Any], values: Any) -> tuple[Any, Any]:
    """What is not finite, forward and backward."""
    x = values.clone().requires_grad_()
    y = call(x)
    gradient = torch.autograd.grad(y, x, torch.ones_like(y))[0] if y.requires_grad else torch.zeros_like(x)
    return ~y.detach().isfinite(), ~gradient.isfinite()


def is_bad(call: Callable[[Any], Any], value: float, dtype: str, direction: Direction) -> bool:
    """Whether torch's vector code or its scalar code breaks at `value`."""
    one = torch.tensor([value], dtype=torch.float64).to(getattr(torch, dtype))
    which = int(direction is BACKWARD)
    return any(bool(evaluate(call, one.repeat(count))[which][0]) for count in (VECTOR, 1))


def inside(values: Any, parts: list[Interval]) -> Any:
    """Which of a tensor's values are in one of the intervals."""
    found = torch.zeros(values.shape, dtype=torch.bool)
    for part in parts:
        among = (values >= part.low) & (values <= part.high)
        among &= (values == values.floor()) | (not part.integer)
        found |= among & ((values != 0) | (not part.nonzero))
    return found


def ordinal(value: float, dtype: str) -> int:
    """Which value of the format it is, counted from 0."""
    bits = torch.tensor(value, dtype=torch.float64).to(getattr(torch, dtype)).view(BITS[dtype]).item()
    return int(bits) if bits >= 0 else -(int(bits) & torch.iinfo(BITS[dtype]).max)


def value_at(place: int, dtype: str) -> float:
    bits = place if place >= 0 else -place + torch.iinfo(BITS[dtype]).min
    return float(torch.tensor(bits, dtype=BITS[dtype]).view(getattr(torch, dtype)).item())


def bisect(call: Callable[[Any], Any], bad: float, good: float, dtype: str, direction: Direction) -> float:
    """The last bad value on the way from a bad to a good one: many cuts at a time, then the scalar code."""
    low, high, which = ordinal(bad, dtype), ordinal(good, dtype), int(direction is BACKWARD)
    while abs(high - low) > 1:
        cuts = sorted({low + (high - low) * k // VECTOR for k in range(1, VECTOR)} - {low, high}, reverse=high < low)
        values = torch.tensor([value_at(cut, dtype) for cut in cuts], dtype=torch.float64).to(getattr(torch, dtype))
        fine = (~evaluate(call, values)[which]).tolist()
        first = fine.index(True) if True in fine else len(cuts)
        low, high = ([low, *cuts][first], [*cuts, high][first])
    step = 1 if high > low else -1
    while is_bad(call, value_at(low + step, dtype), dtype, direction):
        low += step
    return value_at(low, dtype)


def edges(parts: list[Interval], dtype: str) -> list[tuple[float, float, float]]:
    """Of each finite edge of a union of intervals: the edge, a value well inside, and one well outside it."""
    form = FORMATS[dtype]
    found = []
    for part in parts:
        low, high = max(part.low, -form.max), min(part.high, form.max)
        middle = low if low == high else 0.0 if low < 0 < high else low / 2 + high / 2
        for edge, way in ((part.low, -1), (part.high, 1)):
            neighbour = form.above(edge) if way > 0 else form.below(edge)
            joined = any(other.contains(neighbour) for other in parts)
            if not (math.isinf(edge) or part.integer or joined or (edge == 0 and part.nonzero)):
                found.append((edge, middle, edge + way * (abs(edge) / 2 or 0.25)))
    return found


@cache
def all_values(dtype: str) -> Any:
    """Every finite value of a half format, -0 excepted."""
    bits = torch.arange(2**16, dtype=torch.int32).to(torch.int16).view(getattr(torch, dtype))
    return bits[bits.isfinite() & ~((bits == 0) & bits.signbit())]


def samples(dtype: str) -> Any:
    """Values of every size: each power of two of the format, some between, and the landmarks."""
    form, generator = FORMATS[dtype], torch.Generator().manual_seed(0)
    low, high = math.log2(form.smallest), math.log2(form.max)
    powers = torch.arange(low, high, dtype=torch.float64)
    between = torch.rand(2000, generator=generator, dtype=torch.float64) * (high - low) + low
    ordinary = torch.rand(2000, generator=generator, dtype=torch.float64) * 40 - 20
    sizes = torch.cat([powers.exp2(), between.exp2()])
    values = torch.cat(
        [sizes, -sizes, ordinary, torch.tensor([0.0, 0.5, 1.0, -1.0, form.max, -form.max], dtype=torch.float64)]
    )
    return values.to(getattr(torch, dtype))


def supports(call: Callable[[Any], Any], dtype: str) -> bool:
    try:
        evaluate(call, torch.ones(2, dtype=getattr(torch, dtype)))
    except (NotImplementedError, RuntimeError):
        return False
    return True
