"""Axes: where a value is drawn, and the round numbers that are written beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDE = 1e3
"""Values that span more than this are drawn on a logarithmic scale."""
TICKS = 5
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers, drawn from 0 to 1."""

    low: float
    high: float
    is_log: bool = False

    def share(self, value: float) -> float:
        """Where the value is, 0 at the low end; in the middle if all values are the same."""
        low, high, here = (self._scaled(number) for number in (self.low, self.high, value))
        return (here - low) / (high - low) if high > low else 0.5

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.is_log else value

    def ticks(self, *, whole: bool = False) -> list[float]:
        """A handful of round numbers inside; only whole ones, if asked for."""
        return _decades(self.low, self.high) if self.is_log else _round_numbers(self.low, self.high, whole=whole)


def axis_of(values: Sequence[float]) -> Axis:
    """An axis on which all these finite values have room."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    return Axis(low, high, is_log=low > 0 and high / low > WIDE)


def _decades(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    step = max(1, math.ceil((last - first + 1) / TICKS))
    return [float(f"1e{exponent}") for exponent in range(first, last + 1, step)]


def _round_numbers(low: float, high: float, *, whole: bool) -> list[float]:
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low] if math.isfinite(low) else []
    rough = span / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in _ROUND if power * factor >= rough * 0.999)
    step = max(1.0, float(round(step))) if whole else step
    if not math.isfinite(low / step) or step == 0:
        return [low, high]
    first = math.ceil(low / step - 1e-9)
    return [index * step for index in range(first, math.floor(high / step + 1e-9) + 1)]


def written(value: float) -> str:
    """`0.001`, `20`, `1e+06`."""
    return f"{value:.3g}" if value else "0"
