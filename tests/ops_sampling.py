"""Values of a range to feed torch with, and the question whether a range admits what torch made of them."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import torch

from nanlint.ops.interval import (
    ANYTHING,
    FINITE,
    INF,
    NONNEGATIVE,
    POSITIVE,
    SIGNED_UNIT,
    TRUTH,
    UNIT,
    Interval,
    point,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.ops.formats import Format

ROWS, COLUMNS = 6, 16
# Ranges of ordinary values.
ORDINARY = [
    Interval(-5.0, 5.0), UNIT, SIGNED_UNIT, Interval(0.0, 10.0), Interval(1e-3, 3.0), point(0.0), point(1.0),
    Interval(-3.0, -0.5), Interval(-60.0, 60.0), Interval(0.25, 0.75), Interval(-1.0, 0.0), TRUTH,
    Interval(1.0, 20.0, integer=True), Interval(-4.0, 4.0, nonzero=True),
]  # fmt: skip
# Ranges that reach the ends of the format, infinities and NaN.
EXTREME = [
    FINITE, NONNEGATIVE, POSITIVE, ANYTHING, Interval(-INF, 0.0), Interval(100.0, INF), Interval(-1000.0, 1000.0),
    Interval(0.0, INF, plus_inf=True), Interval(-5.0, 5.0, minus_inf=True), Interval(-2.0, 2.0, nan=True), point(INF),
    Interval(-INF, INF, minus_inf=True, plus_inf=True, nan=True),
]  # fmt: skip
# Ranges without a bound, of values that can still be added up and multiplied.
ENDLESS = [
    FINITE, NONNEGATIVE, ANYTHING, Interval(0.0, INF, plus_inf=True), Interval(-5.0, 5.0, minus_inf=True),
    Interval(-2.0, 2.0, nan=True), Interval(-3.0, 3.0, minus_inf=True, plus_inf=True),
]  # fmt: skip


def function(operation: str) -> Callable[..., Any]:
    found: Any = torch
    for part in operation.split(".")[1:]:
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


# Past this a sum or a product of gentle values could overflow on the way.
GENTLE = 100.0


def landmarks(form: Format, *, gentle: bool) -> list[float]:
    extreme = [] if gentle else [form.smallest, form.tiny, form.max]
    sizes = [form.eps, 0.5, 1.0, 2.0, 10.0, 88.8, 1e4, *extreme]
    return [0.0, *sizes, *(-size for size in sizes)]


@cache
def values_in(interval: Interval, form: Format, seed: int, *, gentle: bool = False) -> Any:
    """ROWS x COLUMNS values of the interval: its ends, landmarks, infinities, NaN, and random ones."""
    generator = torch.Generator().manual_seed(seed)
    limit = GENTLE if gentle else form.max
    low, high = max(interval.low, -limit), min(interval.high, limit)
    found = [value for value in (low, high, *landmarks(form, gentle=gentle)) if interval.contains(value)]
    found += [value for value in (-INF, INF, math.nan) if interval.contains(value)]
    shares = torch.rand(ROWS * COLUMNS, generator=generator, dtype=torch.float64)
    reach = torch.rand(ROWS * COLUMNS, generator=generator, dtype=torch.float64) * 8
    near = (shares - 0.5) * reach.exp()
    spread = low / 2 + shares * (high / 2 - low / 2) + low / 2 if interval.has_finite else near
    pool = torch.cat([torch.tensor(found, dtype=torch.float64), near.clamp(low, high), spread])
    pool = pool.round() if interval.integer else pool
    stored = pool.to(getattr(torch, form.name)) + 0.0
    stored = stored[holds(interval, stored)]
    picked = torch.randint(len(stored), (ROWS * COLUMNS,), generator=generator)
    picked[: min(len(found), ROWS * COLUMNS)] = torch.arange(min(len(found), len(stored)))[: ROWS * COLUMNS]
    return stored[picked[torch.randperm(ROWS * COLUMNS, generator=generator)]].view(ROWS, COLUMNS)


def holds(interval: Interval, values: Any, *, admit: bool = False) -> Any:
    """Which elements are in the interval; with `admit`, an overflow from an open end is."""
    values = values.detach().double()
    inside = (values >= interval.low) & (values <= interval.high) & values.isfinite()
    inside &= (values != 0) | (not interval.nonzero)
    inside &= (values == values.floor()) | (not interval.integer)
    inside |= values.isnan() & interval.nan
    inside |= (values == INF) & (interval.plus_inf or (admit and interval.high == INF))
    return inside | ((values == -INF) & (interval.minus_inf or (admit and interval.low == -INF)))


def outside(interval: Interval, values: Any) -> list[float]:
    """The elements that torch computed and the interval does not admit."""
    odd = (
        values[~holds(interval, values, admit=True)]
        if values.dim()
        else values[None][~holds(interval, values[None], admit=True)]
    )
    return odd.tolist()[:5]  # type: ignore[no-any-return]
