"""Closed intervals over the extended reals, plus one bit for NaN.

The lattice of the range analysis. Pure arithmetic: this module knows neither libcst nor torch, so every law it must
obey is testable in a line. An interval is a stretch of finite floats and four bits beside it:

    [0, 1]                  both ends are reached
    [0, inf)                finite values without a known bound
    [0, inf]                inf itself is reached
    [-5, 5] or -inf         scores of which some were masked
    (0, inf)                any value above 0: a guard has excluded the 0
    (-inf, inf) or nan      ANYTHING: nothing is known

An open end at infinity stands for values of ordinary size. Sums and products of such values stay finite here, or
every expression could be NaN; an overflow is stated where a function makes one out of ordinary values (exp) or where
known bounds do (40000 * 2 in half). -0 counts as 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

INF = math.inf


# Not frozen: nobody changes one, and freezing it takes longer than all else that makes it.
@dataclass(slots=True, unsafe_hash=True)
class Interval:
    """The finite values from `low` to `high`, and of -inf, inf and NaN those whose bit is set."""

    low: float
    high: float
    minus_inf: bool = False
    plus_inf: bool = False
    nan: bool = False
    nonzero: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        if self.integer or self.nonzero or self.low >= self.high or self.low == INF or self.high == -INF:
            self._normalise()

    def _normalise(self) -> None:
        """One form for one set, so that equal sets are equal intervals."""
        low, high, nonzero = self.low, self.high, self.nonzero
        if self.integer:
            low = float(math.ceil(low)) if math.isfinite(low) else low
            high = float(math.floor(high)) if math.isfinite(high) else high
            low, high = (1.0 if nonzero and low == 0 else low), (-1.0 if nonzero and high == 0 else high)
        if low > high or low == INF or high == -INF or (nonzero and low == high == 0):
            low, high = INF, -INF
        integer = low <= high and (self.integer or (low == high == math.floor(low)))
        self.low, self.high = low, high
        self.nonzero = nonzero and low <= 0 <= high
        self.integer = integer

    # What it holds

    @property
    def is_empty(self) -> bool:
        """No value at all: code that is not reached."""
        return not (self.has_finite or self.minus_inf or self.plus_inf or self.nan)

    @property
    def has_finite(self) -> bool:
        """Whether some finite value is in it."""
        return self.low <= self.high

    @property
    def is_finite(self) -> bool:
        """Neither NaN nor an infinity is in it."""
        return not (self.nan or self.minus_inf or self.plus_inf)

    @property
    def constant(self) -> float | None:
        """Its only value, if it has just one."""
        return self.low if self.low == self.high and self.is_finite else None

    @property
    def least(self) -> float:
        """No number in it is smaller."""
        return -INF if self.minus_inf else self.low

    @property
    def greatest(self) -> float:
        """No number in it is greater."""
        return INF if self.plus_inf else self.high

    @property
    def has_zero(self) -> bool:
        """Whether 0 is in it."""
        return self.low <= 0 <= self.high and not self.nonzero

    @property
    def has_positive(self) -> bool:
        """Whether a number above 0 is in it, inf included."""
        return self.plus_inf or self.high > 0

    @property
    def has_negative(self) -> bool:
        """Whether a number below 0 is in it, -inf included."""
        return self.minus_inf or self.low < 0

    def contains(self, value: float) -> bool:
        """Whether `value`, which may be NaN or infinite, is in it."""
        if math.isnan(value):
            return self.nan
        if math.isinf(value):
            return self.plus_inf if value > 0 else self.minus_inf
        inside = self.low <= value <= self.high and not (self.nonzero and value == 0)
        return inside and not (self.integer and value != math.floor(value))

    def admits(self, value: float) -> bool:
        """`contains`, or an infinity that overflows from an end without a known bound."""
        return self.contains(value) or (value == INF == self.high) or (value == -INF == self.low)

    # The lattice

    def join(self, other: Interval) -> Interval:
        """The least interval that holds both: what a value is after two branches meet."""
        if self is other:
            return self
        return Interval(
            min(self.low, other.low),
            max(self.high, other.high),
            minus_inf=self.minus_inf or other.minus_inf,
            plus_inf=self.plus_inf or other.plus_inf,
            nan=self.nan or other.nan,
            nonzero=not (self.has_zero or other.has_zero),
            integer=(self.integer or not self.has_finite) and (other.integer or not other.has_finite),
        )

    def meet(self, other: Interval) -> Interval:
        """What is in both: what a guard leaves."""
        if self is other:
            return self
        return Interval(
            max(self.low, other.low),
            min(self.high, other.high),
            minus_inf=self.minus_inf and other.minus_inf,
            plus_inf=self.plus_inf and other.plus_inf,
            nan=self.nan and other.nan,
            nonzero=self.nonzero or other.nonzero,
            integer=self.integer or other.integer,
        )

    def meets(self, other: Interval) -> bool:
        """Whether some value is in both."""
        if (self.nan and other.nan) or (self.plus_inf and other.plus_inf) or (self.minus_inf and other.minus_inf):
            return True
        if max(self.low, other.low) > min(self.high, other.high):
            return False
        return not self.meet(other).is_empty

    def is_subset(self, other: Interval) -> bool:
        """Whether every value of this one is in `other`."""
        return self is other or self.join(other) == other

    # Parts of it

    def without_nan(self) -> Interval:
        """The same values, NaN excluded."""
        return replace(self, nan=False) if self.nan else self

    def without_zero(self) -> Interval:
        """The same values, 0 excluded."""
        return replace(self, nonzero=True)

    def finite(self) -> Interval:
        """Its finite values."""
        return Interval(self.low, self.high, nonzero=self.nonzero, integer=self.integer)

    def __str__(self) -> str:
        parts = [self._stretch()] if self.has_finite else []
        if self.minus_inf and self.low != -INF:
            parts.append("-inf")
        if self.plus_inf and self.high != INF:
            parts.append("inf")
        if self.nan:
            parts.append("nan")
        return " or ".join(parts) or "empty"

    def _stretch(self) -> str:
        open_low = (self.low == -INF and not self.minus_inf) or (self.low == 0 and self.nonzero)
        open_high = (self.high == INF and not self.plus_inf) or (self.high == 0 and self.nonzero)
        text = f"{'(' if open_low else '['}{number(self.low)}, {number(self.high)}{')' if open_high else ']'}"
        return f"{text} except 0" if self.nonzero and self.low < 0 < self.high else text


def number(value: float) -> str:
    """A bound as a reader writes it: 0, 1e-12, 88.7228."""
    return f"{value + 0.0:.6g}"


def point(value: float) -> Interval:
    """One value, which may be infinite or NaN."""
    if math.isnan(value):
        return NAN
    if math.isinf(value):
        return Interval(INF, -INF, plus_inf=value > 0, minus_inf=value < 0)
    return Interval(value, value)


EMPTY = Interval(INF, -INF)
NAN = Interval(INF, -INF, nan=True)
FINITE = Interval(-INF, INF)
ANYTHING = Interval(-INF, INF, nan=True)
EVERYTHING = Interval(-INF, INF, minus_inf=True, plus_inf=True, nan=True)
NONNEGATIVE = Interval(0.0, INF)
POSITIVE = Interval(0.0, INF, nonzero=True)
UNIT = Interval(0.0, 1.0)
SIGNED_UNIT = Interval(-1.0, 1.0)
TRUTH = Interval(0.0, 1.0, integer=True)
COUNT = Interval(0.0, INF, integer=True)
