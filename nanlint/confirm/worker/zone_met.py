"""Whether an operation broke in the way that the finding states: on a value of the zone it names, in the format it names.

A sum that is infinite because something was divided by 0 is no overflow, and 0 / 0 is no large value. What the operands
of an operation do not show (a constant row in a norm, labels that are all ignored) is taken as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.confirm.worker.origin import Event

_DIVISIONS = frozenset({"div", "div_", "true_divide", "floor_divide", "remainder", "fmod"})
_OF_ONE_VALUE = frozenset(
    f"{name}{suffix}"
    for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "pow", "acos", "asin", "acosh")
    for suffix in ("", "_")
) | {"atanh", "atanh_", "erfinv", "erfinv_", "logit", "logit_", "special_logit"}
_ENDS = re.compile(r"the ends of \((\S+), (\S+)\)")
_EXCEPT_0 = frozenset({"log", "log2", "log10"})
"""Operations for which everything below the edge is as bad as the edge."""


def is_about_large_values(hazard: dict[str, str] | None) -> bool:
    """Whether the finding tells of an overflow."""
    return hazard is not None and hazard["zone"].startswith("large values")


def is_met(source: Event, broken: Event, hazard: dict[str, str]) -> bool:
    """Whether `broken`, an operation or the gradient of `source`, broke on a value of the zone."""
    if is_about_large_values(hazard):
        return _has_overflowed(broken, hazard["zone"])
    operand = _operand(source)
    if operand is None:
        return True
    if not operand.numel():
        return "element" in hazard["zone"]
    return _holds(source, operand, hazard["zone"], is_gradient=broken.backward)


def _has_overflowed(broken: Event, zone: str) -> bool:
    """Finite values, none of them a divisor of 0, gave an infinity in the format that the zone names."""
    given = [one for one in broken.given if isinstance(one, torch.Tensor)]
    if broken.backward or not broken.inf or not all(one.numel() and bool(one.isfinite().all()) for one in given):
        return False
    operand = _operand(broken)
    if broken.operation in _DIVISIONS and operand is not None and bool((operand == 0).any()):
        return False
    name = zone.partition(" in ")[2]
    return not name or any(made.dtype is getattr(torch, name) for made in broken.kept)


def _operand(source: Event) -> torch.Tensor | None:
    """The operand that a zone is about, in double precision; None where the arguments do not show it."""
    if source.operation not in _DIVISIONS | _OF_ONE_VALUE:
        return None
    place = 1 if source.operation in _DIVISIONS else 0
    found: Any = source.given[place] if len(source.given) > place else None
    if isinstance(found, (int, float)):
        return torch.tensor(float(found), dtype=torch.float64)
    if not isinstance(found, torch.Tensor) or found.is_complex():
        return None
    return found.detach().to("cpu", torch.float64)


def _holds(source: Event, operand: torch.Tensor, zone: str, *, is_gradient: bool) -> bool:
    """Whether a value of the operand lies in the zone; a gradient breaks near 0 already, where its square is 0."""
    tiny = max((torch.finfo(made.dtype).tiny ** 0.5 for made in source.kept if made.is_floating_point()), default=0.0)
    near = tiny if is_gradient else 0.0
    ends = _ENDS.match(zone)
    if ends:
        low, high = float(ends[1]), float(ends[2])
        close = max((torch.finfo(made.dtype).eps for made in source.kept if made.is_floating_point()), default=0.0)
        return bool((operand <= low + close).any() or (operand >= high - close).any())
    return _TESTS[zone](source, operand, near) if zone in _TESTS else True


def _at_zero(source: Event, operand: torch.Tensor, near: float) -> bool:
    if source.operation.rstrip("_") in _EXCEPT_0:
        return bool((operand <= near).any())
    return bool((operand.abs() <= near).any())


_TESTS: dict[str, Callable[[Event, torch.Tensor, float], bool]] = {
    "0": _at_zero,
    "0 or below": lambda _, operand, near: bool((operand <= near).any()),
    "below 0": lambda _, operand, __: bool((operand < 0).any()),
    "-1": lambda _, operand, near: bool((operand <= -1 + near).any()),
}
