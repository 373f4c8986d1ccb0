"""A hazard of no values: there may be too few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.ops.zone import FORWARD

if TYPE_CHECKING:
    from nanlint.model import Direction


class NoElements(NamedTuple):
    """The place of a zone where not the values break an operation, but that there are too few of them."""

    dtype: str
    is_spread: bool
    """It takes one element to break it, and not none."""
    direction: Direction = FORWARD

    def meets_ordinarily(self, _: object) -> bool:
        """No range tells how many there are."""
        return True

    def contains(self, _: float) -> bool:
        """No value does it."""
        return False

    def __str__(self) -> str:
        return "one element" if self.is_spread else "no elements"
