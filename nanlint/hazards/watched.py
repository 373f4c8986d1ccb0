"""What a rule watches for: some zones of one operand of one operation. Rules name it; it imports next to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nanlint.ops.zone import Zone


RESTORED = "<restored>"
"""What calls are watched as that restore a saved state, whatever their name is."""


class Watched(NamedTuple):
    """The zones of one operand that a rule tells of."""

    operation: str
    operand: str
    contains: float | None = None
    """Only zones that hold this value; None for all."""
    backward: bool | None = None
    """Only zones of the gradient (True) or of the result (False); None for both."""
    always: bool = False
    """Whatever the operand is: what matters is a setting of the operation."""
    few: bool = False
    """Not a zone of values: there may be too few of them."""
    narrow: bool = False
    """Where the dtype is open, the values are those that the half formats would compute."""
    thrown: bool = False
    """Only where the result is thrown away in the places where it breaks."""

    @property
    def is_of_zones(self) -> bool:
        """Whether it is only met where a danger zone of the operation is."""
        return not (self.always or self.few or self.thrown or self.operation == RESTORED)

    def covers(self, met: Zone) -> bool:
        """Whether the rule tells of this zone."""
        if met.operand != self.operand or (self.contains is not None and not met.contains(self.contains)):
            return False
        return self.backward is None or self.backward is (met.direction.value == "backward")


def zone(operation: str, operand: str, *, contains: float | None = None, backward: bool | None = None) -> Watched:
    """The zones of `operand` of `operation` that a rule tells of."""
    return Watched(operation, operand, contains, backward)


def in_half(operation: str, operand: str, *, contains: float | None = None, backward: bool | None = None) -> Watched:
    """The same zones, and those that are met only since a half format rounds what leads there."""
    return Watched(operation, operand, contains, backward, narrow=True)


def every(operation: str, operand: str = "") -> Watched:
    """Every such operation that is given `operand`, whatever that is: the rule looks at a setting of it. Without one, what it makes.

    An operation outside of the op table has its full name (`torch.nn.Parameter`), a method its own (`.load_state_dict`).
    """
    return Watched(operation, operand, always=True)


def thrown_away(operation: str, operand: str) -> Watched:
    """An operation of which just those results are thrown away that `operand` breaks: the gradient of them is not."""
    return Watched(operation, operand, backward=True, thrown=True)


def too_few(operation: str, operand: str = "input") -> Watched:
    """An operation that breaks where `operand` has no elements, or for a spread one alone."""
    return Watched(operation, operand, few=True)


def restored() -> Watched:
    """Every call that restores the saved state of parts of a run: an optimizer, a scheduler, a scaler; itself or through helpers and frameworks."""
    return Watched(RESTORED, "")
