"""The danger zones of every operation, by dtype.

The static side asks whether an operand's range meets a zone; confirm steers the operand into it. The measured edges are
in `tables.zones`, those that depend on a constant of the call in `computed_zones`.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from nanlint.ops.computed_zones import COMPUTED, DECIDING
from nanlint.ops.formats import FORMATS, Format
from nanlint.ops.interval import INF, Interval, point
from nanlint.ops.tables import zones as table_zones
from nanlint.ops.zone import BACKWARD, FORWARD, Zone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


_SHAPES: dict[str, Callable[[Format, float], tuple[Interval, ...]]] = {
    "above": lambda _, edge: (Interval(edge, INF),),
    "below": lambda _, edge: (Interval(-INF, edge),),
    "past": lambda form, edge: (Interval(form.above(edge), INF),),
    "under": lambda form, edge: (Interval(-INF, form.below(edge)) if edge else Interval(-INF, 0.0, nonzero=True),),
    "beyond": lambda _, edge: (Interval(-INF, -edge), Interval(edge, INF)),
    "outside": lambda form, edge: (Interval(-INF, -form.above(edge)), Interval(form.above(edge), INF)),
    "within": lambda _, edge: (Interval(-edge, edge),),
    "at": lambda _, edge: (point(edge),),
    "off": lambda _, edge: (point(-edge), point(edge)),
    "whole": lambda _, edge: (Interval(-INF, edge, integer=True),),
    "row": lambda _, edge: (point(edge),),
}
_DIRECTIONS = {"F": (FORWARD,), "B": (BACKWARD,), "FB": (FORWARD, BACKWARD)}


def _values(form: Format, shape: str, edge: str) -> tuple[Interval, ...]:
    if shape == "ring":
        inner, outer = (form.round(float(part)) for part in edge.split(":"))
        return (Interval(-outer, -inner), Interval(inner, outer))
    return _SHAPES[shape](form, form.round(float(edge)))


def _read(operation: str, operand: str, rest: list[str]) -> Iterator[Zone]:
    """The zones of one line, one per direction and format."""
    directions, result, shape, *edges = rest
    operand, _, partner = operand.partition("&")
    for form, edge in zip(FORMATS.values(), edges * 4 if len(edges) == 1 else edges, strict=False):
        if edge == "-":
            continue
        values = _values(form, shape, edge)
        for direction in _DIRECTIONS[directions]:
            yield Zone(
                operation,
                operand,
                direction,
                form.name,
                result,
                values,
                row=shape == "row",
                partner=partner,
                partner_values=values if partner else (),
            )


def _lines() -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for line in table_zones.ZONES.strip().splitlines():
        operation, *rest = line.split()
        found.setdefault(operation, []).append(rest)
    return found


_LINES = _lines()

OPERATIONS = frozenset(_LINES) | frozenset(COMPUTED)
"""Every operation that has a zone, for some constants."""


@cache
def measured(operation: str, dtype: str) -> tuple[Zone, ...]:
    """The zones the table has for `operation` in `dtype`."""
    found = (zone for operand, *rest in _LINES.get(operation, ()) for zone in _read(operation, operand, rest))
    return tuple(zone for zone in found if zone.dtype == dtype)


def zones(operation: str, dtype: str, constants: Mapping[str, object] | None = None) -> tuple[Zone, ...]:
    """Every zone of `operation` in `dtype`, given the constants its parameters are bound to."""
    if operation not in COMPUTED:
        return measured(operation, dtype)
    stated = {name: constants[name] for name in DECIDING if name in constants} if constants else {}
    numbers = {name: each if isinstance(each, int | float) else None for name, each in stated.items()}
    return _computed(operation, dtype, **numbers)


# 0 and False are not the same constant.
@lru_cache(maxsize=4096, typed=True)
def _computed(operation: str, dtype: str, **constants: object) -> tuple[Zone, ...]:
    computed = COMPUTED[operation](operation, FORMATS[dtype], constants)
    return computed if computed is not None else measured(operation, dtype)
