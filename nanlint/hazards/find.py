"""The hazards of one file: every operation of it whose operand meets a zone that some rule watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import NUMBER
from nanlint.analysis.patterns.few import LAYERS, LOSSES, SPREADS, few, few_left
from nanlint.hazards.hazard import Hazard, NoElements
from nanlint.hazards.zones_met import zones_met
from nanlint.ops.formats import FLOAT32, FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nanlint.analysis.op_graph import Op, Value
    from nanlint.analysis.project.index import Function
    from nanlint.analysis.project.whole import FileInProject
    from nanlint.hazards.watched import Watched
    from nanlint.ops.zone import Zone


def hazards_in(file: FileInProject, watched: Mapping[str, Iterable[Watched]]) -> Iterator[tuple[Watched, Hazard]]:
    """Each hazard of the file with what watches for it, in the order of the code."""
    for function in file.functions:
        found = [
            (each, hazard)
            for op in function.ops
            if op.copy_of is None and op.function in watched
            for each in watched[op.function]
            if (hazard := _hazard(op, each, function, file)) is not None
        ]
        together: dict[object, list[Hazard]] = {}
        for each, hazard in found:
            hazard.siblings = together.setdefault((each.contains, each.backward, hazard.defect), [])
            hazard.siblings.append(hazard)
        yield from found


def _hazard(op: Op, watched: Watched, function: Function, file: FileInProject) -> Hazard | None:
    value = op.operands.get(watched.operand)
    if watched.few:
        return _of_too_few(op, watched, function, file) if value is not None else None
    if value is None or (value.kind is NUMBER and all(each.kind is NUMBER for each in op.operands.values())):
        return None  # Python's own numbers raise
    zones = _met(op, watched, op.operands)
    if not zones:
        return None
    callers = file.project.graph.with_callers(value)
    if callers is not value:
        still = _met(op, watched, {**op.operands, watched.operand: callers})
        if not still and file.project.knows_callers(function):
            return None
    return Hazard(op, watched.operand, zones, function, file.source, callers=callers, ends=file.project.ends_of(op))


def _of_too_few(op: Op, watched: Watched, function: Function, file: FileInProject) -> Hazard | None:
    is_spread = op.function in SPREADS
    operand = op.operands[watched.operand]
    is_loss = op.function in LOSSES or op.function in LAYERS
    found = few_left(op, operand) if is_loss else few(op, operand, is_spread=is_spread, others=function.ops)
    if found is None:
        return None
    zones = [NoElements(name, is_spread=is_spread and found.mask is None) for name in FORMATS]
    hazard = Hazard(op, watched.operand, zones, function, file.source, callers=operand, ends=file.project.ends_of(op))
    hazard.few = found
    return hazard


def _met(op: Op, watched: Watched, operands: Mapping[str, Value]) -> list[Zone]:
    """The zones that are met in each format that the operation may compute in."""
    stated = next((value.dtype for value in operands.values() if value.dtype in FORMATS), "")
    found = [zone for zone in zones_met(op, operands, stated or FLOAT32.name) if watched.covers(zone)]
    if stated:
        return found
    # What breaks in float32 breaks in the half formats as well; what does not may still.
    others = [name for name in FORMATS if name != FLOAT32.name]
    for name in others:
        found += [zone for zone in zones_met(op, operands, name) if watched.covers(zone)]
    return found
