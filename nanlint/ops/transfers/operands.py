"""What a range transfer is given: the ranges and the constants of one call, by parameter name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nanlint.ops.formats import FLOAT32, Format
from nanlint.ops.interval import FINITE, Interval, point
from nanlint.ops.signatures import OVERLOADS


@dataclass(frozen=True, slots=True)
class Operands:
    """The arguments of a call of `operation` that computes in `form`.

    A constant goes before a range of the same name, and a constant None is an argument that is not there. `empty` says
    that a reduction may be over no value at all (var and std: over just one).
    """

    operation: str
    form: Format
    ranges: Mapping[str, Interval]
    constants: Mapping[str, object]
    empty: bool = False

    def __getitem__(self, name: str) -> Interval:
        """The range of an argument, or of the parameter's default; FINITE when nothing is known."""
        value = self.number(name)
        if value is not None:
            return point(self.work.round(value))
        return self.ranges.get(name, FINITE)

    @property
    def work(self) -> Format:
        """The format a number beside a tensor is rounded to: torch computes half types in float32."""
        return self.form if self.form.digits > FLOAT32.digits else FLOAT32

    def given(self, name: str) -> bool:
        """Whether the call gives the argument, None excepted."""
        return self.constants[name] is not None if name in self.constants else name in self.ranges

    def constant(self, name: str) -> object:
        """The constant the argument is, or the parameter's default; None if it is not known."""
        if name in self.constants:
            return self.constants[name]
        if name in self.ranges:
            return self.ranges[name].constant
        parameters = (p for signature in OVERLOADS.get(self.operation, ()) for p in signature)
        return next((p.default for p in parameters if p.name == name and not p.required), None)

    def number(self, name: str) -> float | None:
        """The constant as a number; None if it is none."""
        value = self.constant(name)
        if not isinstance(value, int | float):
            return None
        try:
            return float(value)
        except OverflowError:
            return None


Transfer = Callable[[Operands], Interval]
"""The range of an operation's result from the ranges of its operands."""
