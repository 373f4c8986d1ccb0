"""Whether an operation broke in the way that the finding states: on a value of the zone it names, in the format it names.

A sum that is infinite because something was divided by 0 is no overflow, and 0 / 0 is no large value. What the operands
of an operation do not show (a constant row in a norm, labels that are all ignored) is taken as it is.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.confirm.worker.origin import Event

_DIVISIONS = frozenset({"div", "div_", "true_divide", "floor_divide", "remainder", "fmod"})
_OF_ONE_VALUE = frozenset(
    f"{name}{suffix}"
    for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "pow", "acos", "asin", "acosh")
    for suffix in ("", "_")
) | {"atanh", "atanh_", "erfinv", "erfinv_", "logit", "logit_", "special_logit"}
_DIVIDING = frozenset({"div", "true_divide", "reciprocal", "rsqrt"})
_STRETCH = re.compile(r"[\[(](\S+), (\S+)[\])]")
_EXCEPT_0 = frozenset({"log", "log2", "log10"})
"""Operations for which everything below the edge is as bad as the edge."""


def is_about_large_values(hazard: dict[str, str] | None) -> bool:
    """Whether the finding tells of an overflow."""
    return hazard is not None and hazard["zone"].startswith("large values")


def is_met(source: Event, broken: Event, hazard: dict[str, str]) -> bool:
    """Whether `broken`, an operation or the gradient of `source`, broke on a value of the zone."""
    if is_about_large_values(hazard):
        return has_overflowed(broken, hazard["zone"])
    operand = _operand(source)
    if operand is None:
        return True
    if not operand.numel():
        return "element" in hazard["zone"]
    return _holds(source, operand, hazard, is_gradient=broken.backward)


def is_about_small_values(zone: str) -> bool:
    """Whether the zone is around 0: a bounded one, or 0 itself."""
    return zone == "0" or any(math.isfinite(low) and math.isfinite(high) for low, high in _stretches(zone))


def has_overflowed(broken: Event, zone: str = "") -> bool:
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


def _holds(source: Event, operand: torch.Tensor, hazard: dict[str, str], *, is_gradient: bool) -> bool:
    """Whether a value of the operand lies in the zone, and all of them where the finding says that they are."""
    low, high = next(_stretches(hazard.get("range", "")), (-math.inf, math.inf))
    if not bool(((operand >= low - _slack(low)) & (operand <= high + _slack(high))).all()):
        return False
    zone, name = hazard["zone"], source.operation.rstrip("_")
    stretches = [(0.0, 0.0)] if zone == "0" else list(_stretches(zone))
    if not stretches or name == "pow":
        # Which of two operands of a power is meant, the zone does not say.
        return True
    near = max((_near(name, made.dtype, is_gradient) for made in source.kept if made.is_floating_point()), default=0.0)
    if name in _EXCEPT_0:
        stretches = [(-math.inf, end) for _, end in stretches]
    return any(bool(((operand >= low - near) & (operand <= high + near)).any()) for low, high in stretches)


def _stretches(text: str) -> Iterator[tuple[float, float]]:
    """The intervals of a text like `[0, 1]` or `(-inf, -1) or (1, inf)`; none of another text."""
    for part in text.split(" or "):
        found = _STRETCH.fullmatch(part)
        if found is not None:
            yield float(found[1]), float(found[2])


def _slack(end: float) -> float:
    """How far a value may be from a bound that is written with six digits, and computed with rounding."""
    return 1e-3 * max(1.0, abs(end)) if math.isfinite(end) else 0.0


def _near(name: str, dtype: torch.dtype, is_gradient: bool) -> float:  # noqa: FBT001 - one of three facts
    """How near to the zone a format breaks already: where a square is 0 for gradients, where a quotient is infinite."""
    info = torch.finfo(dtype)
    return max(info.tiny**0.5 if is_gradient else 0.0, 1 / info.max if name in _DIVIDING else 0.0)
