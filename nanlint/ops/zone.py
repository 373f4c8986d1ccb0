"""A danger zone: the values of an operand that make an operation, or its gradient, infinite or NaN."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from nanlint.model import Direction
from nanlint.ops.interval import Interval

FORWARD, BACKWARD = Direction.FORWARD, Direction.BACKWARD
# What a witness of ordinary or edge plausibility can hold: 0, and values of this size.
ORDINARY = (1e-6, 1e4)


@dataclass(frozen=True, slots=True)
class Zone:
    """The `values` of `operand` for which `operation`, or its gradient, is `result` in `dtype`.

    With `row`, every value of a reduced row must be one of them. With `partner`, that operand must at the same time be
    in `partner_values`. `gradient` names the operand whose gradient breaks, if it is not `operand`.
    """

    operation: str
    operand: str
    direction: Direction
    dtype: str
    result: str
    values: tuple[Interval, ...]
    row: bool = False
    partner: str = ""
    partner_values: tuple[Interval, ...] = ()
    gradient: str = ""

    def contains(self, value: float) -> bool:
        """Whether `value` breaks the operation."""
        return any(part.contains(value) for part in self.values)

    def meets(self, reach: Interval) -> bool:
        """Whether an operand of range `reach` can break the operation."""
        return any(part.meets(reach) for part in self.values)

    def meets_ordinarily(self, reach: Interval) -> bool:
        """Whether it can with 0, an infinity, or a value of ordinary size: not with 1e-38 or 1e19 alone."""
        return _meet_ordinarily(self.values, reach)

    def __str__(self) -> str:
        return " or ".join(map(str, self.values))


@lru_cache(maxsize=16384)
def _meet_ordinarily(values: tuple[Interval, ...], reach: Interval) -> bool:
    """Whether one of `values` is met by what is ordinary of `reach`: a few ranges are asked about again and again."""
    small, large = ORDINARY
    parts = (
        Interval(0.0, 0.0, reach.minus_inf, reach.plus_inf),
        Interval(small, large),
        Interval(-large, -small),
    )
    return any(value.meets(reach.meet(part)) for part in parts for value in values)
