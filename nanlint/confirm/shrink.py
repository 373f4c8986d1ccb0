"""Make a witness simpler: steps propose, one gate decides.

A step knows nothing of the failure, so a bad one can waste time but not lie. What still fails in the same way and is
simpler in the one order of `Witness.complexity` is taken; then all steps are proposed anew.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nanlint.confirm.witness import Values, Witness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BOUNDED = frozenset({"mask", "index"})
_ROUNDINGS = (0, 1, 2)
_ROUNDING = 0.01
"""How far from 1 the sum of a distribution may be in a half format."""


def shrink(witness: Witness, still_fails: Callable[[Witness], bool], tries: int = 300) -> Witness:
    """The simplest witness that single steps reach within so many tries."""
    best, left = witness, tries
    improved = True
    while improved and left > 0:
        improved = False
        for candidate in steps(best):
            if candidate.complexity >= best.complexity or not in_domain(candidate):
                continue
            left -= 1
            if still_fails(candidate):
                best, improved = candidate, True
                break
            if left <= 0:
                break
    return best


_LIMITS: dict[str, tuple[float, float]] = {
    "positive": (1e-30, math.inf),
    "nonneg": (0.0, math.inf),
    "unit": (0.0, 1.0),
    "prob": (0.0, 1.0),
    "simplex": (0.0, 1.0),
    "signed": (-1.0, 1.0),
    "logprob": (-math.inf, 0.0),
}


def in_domain(witness: Witness) -> bool:
    """Whether every tensor keeps what its domain promises: a scale is above 0, a distribution sums up to 1."""
    for _, values in witness.tensors:
        low, high = _LIMITS.get(values.domain, (-math.inf, math.inf))
        if not all(low <= float(element) <= high for element in values.elements):
            return False
        if values.domain == "simplex" and not _sums_to_one(values):
            return False
    return True


def _sums_to_one(values: Values) -> bool:
    if not values.shape or not values.elements:
        return True
    width = values.shape[-1]
    rows = range(0, len(values.elements), max(width, 1))
    return all(abs(sum(map(float, values.elements[row : row + width])) - 1) < _ROUNDING for row in rows)


def steps(witness: Witness) -> Iterator[Witness]:
    """Every proposal, the boldest first."""
    yield from smaller_sizes(witness)
    yield from plain_together(witness)
    yield from plain_tensors(witness)
    yield from plain_elements(witness)
    yield from halved(witness)
    yield from rounded(witness)
    yield from rounded_together(witness)


def smaller_sizes(witness: Witness) -> Iterator[Witness]:
    """Cut every dimension of one size to 1 or to half, in all tensors at once, then in single ones."""
    sizes = sorted({size for _, values in witness.tensors for size in values.shape if size > 1}, reverse=True)
    for size in sizes:
        for smaller in dict.fromkeys((1, size // 2, size - 1)):
            yield Witness(
                tuple((name, values.cut(_with(values.shape, size, smaller))) for name, values in witness.tensors)
            )
    for name, values in witness.tensors:
        for place, size in enumerate(values.shape):
            for smaller in dict.fromkeys((1, size // 2)):
                if 0 < smaller < size:
                    shape = (*values.shape[:place], smaller, *values.shape[place + 1 :])
                    yield witness.replaced(name, values.cut(shape))
                    # The same place of every tensor with that size: batches shrink together.
                    yield Witness(tuple((other, _cut_at(old, place, size, smaller)) for other, old in witness.tensors))


def _with(shape: tuple[int, ...], size: int, smaller: int) -> tuple[int, ...]:
    return tuple(smaller if one == size else one for one in shape)


def _cut_at(values: Values, place: int, size: int, smaller: int) -> Values:
    if len(values.shape) <= place or values.shape[place] != size:
        return values
    return values.cut((*values.shape[:place], smaller, *values.shape[place + 1 :]))


def plain_together(witness: Witness) -> Iterator[Witness]:
    """Replace all numbers by 0 or by 1: what fails because two tensors are equal goes on to fail."""
    if len(witness.tensors) > 1:
        for number in (0, 1):
            yield Witness(
                tuple(
                    (name, values if values.domain in _BOUNDED else _filled(values, number))
                    for name, values in witness.tensors
                )
            )


def plain_tensors(witness: Witness) -> Iterator[Witness]:
    """Replace a whole tensor by 0 or by 1."""
    for name, values in witness.tensors:
        for number in (0, 1):
            yield witness.replaced(name, _filled(values, number))


def _filled(values: Values, number: int) -> Values:
    element = bool(number) if values.domain == "mask" else number if values.domain == "index" else float(number)
    return Values(values.shape, (element,) * len(values.elements), values.domain)


def plain_elements(witness: Witness) -> Iterator[Witness]:
    """Replace one element by 0, 1 or -1."""
    for name, values in witness.tensors:
        if len(values.elements) > 64:
            continue
        for place, element in enumerate(values.elements):
            for number in (0.0, 1.0, -1.0) if values.domain not in _BOUNDED else (0,):
                if element != number:
                    yield witness.replaced(name, _changed(values, place, number))


def _changed(values: Values, place: int, number: float) -> Values:
    kind = type(values.elements[place])
    elements = (*values.elements[:place], kind(number), *values.elements[place + 1 :])
    return Values(values.shape, elements, values.domain)


def halved(witness: Witness) -> Iterator[Witness]:
    """Bring large magnitudes closer to 0, all of a tensor at once."""
    for name, values in witness.tensors:
        largest = max((abs(float(element)) for element in values.elements), default=0.0)
        if values.domain in _BOUNDED or largest <= 1:
            continue
        for factor in (0.1, 0.5, 0.9):
            scaled = tuple(_neat(float(element) * factor) for element in values.elements)
            yield witness.replaced(name, Values(values.shape, scaled, values.domain))


def _neat(number: float) -> float:
    return float(round(number)) if abs(number) >= 1 else round(number, 3)


def rounded(witness: Witness) -> Iterator[Witness]:
    """Fewer digits, for a whole tensor."""
    for name, values in witness.tensors:
        if values.domain in _BOUNDED:
            continue
        for digits in _ROUNDINGS:
            yield witness.replaced(name, _rounded(values, digits))


def rounded_together(witness: Witness) -> Iterator[Witness]:
    """Fewer digits, for all numbers."""
    if len(witness.tensors) > 1:
        for digits in _ROUNDINGS:
            yield Witness(
                tuple(
                    (name, values if values.domain in _BOUNDED else _rounded(values, digits))
                    for name, values in witness.tensors
                )
            )


def _rounded(values: Values, digits: int) -> Values:
    elements = tuple(round(float(element), digits) + 0.0 for element in values.elements)
    return Values(values.shape, elements, values.domain)
