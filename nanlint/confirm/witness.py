"""A witness: tensors with explicit values, and the one order that says which of two is simpler.

Plain numbers, so that it can be printed, saved and compared; what it does to a function, it does not know.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

Number = float | int | bool
_SHORT = 200


@dataclass(frozen=True)
class Values:
    """One tensor: its shape, its elements in row-major order, and the domain they belong to."""

    shape: tuple[int, ...]
    elements: tuple[Number, ...]
    domain: str = "real"

    def cut(self, shape: tuple[int, ...]) -> Values:
        """The first elements along each dimension."""
        strides = [math.prod(self.shape[place + 1 :]) for place in range(len(self.shape))]
        kept = (
            self.elements[sum(index * stride for index, stride in zip(place, strides, strict=True))]
            for place in itertools.product(*map(range, shape))
        )
        return Values(shape, tuple(kept), self.domain)

    def nested(self) -> Any:
        """The elements as nested lists, a single number for a tensor without dimensions."""
        if math.prod(self.shape) != len(self.elements):
            raise ValueError(f"{len(self.elements)} values for the shape {self.shape}"[:_SHORT])
        if not self.shape:
            return self.elements[0]
        return _nest(list(self.elements), self.shape)


def _nest(flat: list[Number], shape: tuple[int, ...]) -> list[Any]:
    if len(shape) == 1:
        return flat
    size = math.prod(shape[1:])
    return [_nest(flat[start * size : (start + 1) * size], shape[1:]) for start in range(shape[0])]


@dataclass(frozen=True)
class Witness:
    """The tensors of a call by the names of their parameters."""

    tensors: tuple[tuple[str, Values], ...]

    @property
    def complexity(self) -> tuple[int, int, float]:
        """Fewer elements, then smaller shapes, then rounder and smaller values are simpler."""
        every = [values for _, values in self.tensors]
        return (
            sum(len(values.elements) for values in every),
            sum(sum(values.shape) for values in every),
            sum(_oddness(element) for values in every for element in values.elements),
        )

    def replaced(self, name: str, values: Values) -> Witness:
        """The witness with one tensor changed."""
        return Witness(tuple((other, values if other == name else old) for other, old in self.tensors))


def _oddness(element: Number) -> float:
    """0 for 0, a little for small whole numbers, more for each digit."""
    number = float(element)
    if number == 0:
        return 0.0
    sign = 0.5 if number < 0 else 0.0
    if number.is_integer() and abs(number) < 1e6:
        return sign + 1.0 + math.log10(abs(number))
    return sign + 10.0 + len(repr(number)) + min(abs(math.log10(abs(number))), 30.0)
