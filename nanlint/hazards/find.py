"""The hazards of one file: every operation of it whose operand meets a zone that some rule watches."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.analysis.in_format import in_format
from nanlint.analysis.op_graph import CALL, JOIN, NUMBER, made_from, name_of
from nanlint.analysis.patterns.few import LAYERS, LOSSES, SPREADS, few, few_left
from nanlint.analysis.patterns.kept import thrown_away, zones_thrown_away
from nanlint.analysis.project.consequence import WRITTEN
from nanlint.hazards.calls import Calls, Seen, put_together
from nanlint.hazards.hazard import Hazard
from nanlint.hazards.never_run import is_never_run
from nanlint.hazards.no_elements import NoElements
from nanlint.hazards.protected import is_capped
from nanlint.hazards.resume import Resume
from nanlint.hazards.watched import RESTORED, Watched
from nanlint.hazards.zones_met import zones_met
from nanlint.ops.formats import BFLOAT16, FLOAT16, FLOAT32, FORMATS, runs_in
from nanlint.ops.zone import BACKWARD
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nanlint.analysis.op_graph import Op, Value
    from nanlint.analysis.patterns.kept import Kept
    from nanlint.analysis.project.graph import Graph
    from nanlint.analysis.project.index import Function
    from nanlint.analysis.project.whole import FileInProject
    from nanlint.ops.zone import Zone

_HALVES = (FLOAT16.name, BFLOAT16.name)
_PLACED = "torch.index_put"
_TENSORS = torch_names("tensor as_tensor")


def hazards_in(file: FileInProject, watched: Mapping[str, Iterable[Watched]]) -> Iterator[tuple[Watched, Seen]]:
    """Each hazard of the file with what watches for it, in the order of the code."""
    calls, look = Calls(file), _Look(file, any(each.thrown for several in watched.values() for each in several))
    for function in file.functions:
        if _is_run_by_pytest(function):
            continue  # what breaks there breaks no run
        found = [
            (each, seen)
            for op in function.ops
            if op.copy_of is None and (watching := watched.get(_name_of(op), ()))
            for each, seen in look.at(op, watching, function, calls)
        ]
        found += (
            (each, Seen(hazard, [], is_complete=False, is_decided=False))
            for each, hazard in _of_restored(watched.get(RESTORED, ()), function, file)
        )
        put_together(found)
        yield from found


class _Look:
    """Looks at the operations of one file."""

    def __init__(self, file: FileInProject, is_any_thrown: bool) -> None:  # noqa: FBT001 - what to look for
        self._file = file
        self._is_any_thrown = is_any_thrown
        self._thrown: dict[int, dict[Op, list[Kept]]] = {}

    def at(
        self, op: Op, watching: Iterable[Watched], function: Function, calls: Calls
    ) -> Iterator[tuple[Watched, Seen]]:
        """What is met at one operation, as it stands and as it is called."""
        called = calls.of(op, function)
        is_complete = called.is_complete and not self._file.may_be_called_elsewhere(function)
        is_decided = is_complete and self._file.knows_callers(function)
        for each in watching:
            own = self._hazard(op, each, function)
            seen = [self._hazard(copy, each, within) for copy, within in called.found]
            hazards = [hazard for hazard in seen if hazard is not None]
            if (own is not None or hazards) and not is_never_run(op, function, self._file):
                yield each, Seen(own, hazards, is_complete, is_decided)

    def _hazard(self, op: Op, each: Watched, function: Function) -> Hazard | None:
        return _hazard(op, each, function, self._file, self._thrown_away(function).get(op, ()))

    def _thrown_away(self, function: Function) -> dict[Op, list[Kept]]:
        """By operation what throws its results away in this function."""
        key = id(function.ops)
        if key not in self._thrown:
            self._thrown[key] = thrown_away(function.ops) if self._is_any_thrown else {}
        return self._thrown[key]


def _of_restored(
    watched: Iterable[Watched], function: Function, file: FileInProject
) -> Iterator[tuple[Watched, Hazard]]:
    """The calls of a function that restore the saved state of parts of a run."""
    for op in (op for op in function.ops if watched and op.function == CALL and op.copy_of is None):
        parts = file.graph.restoring.of(op)
        for each in watched if parts else ():
            hazard = Hazard(op, each.operand, [], function, file)
            hazard.resume = Resume(parts, hazard, file)
            yield each, hazard


def _name_of(op: Op) -> str:
    """The operation as the op table calls it: `x[index] = value` is one of a name."""
    return _PLACED if op.function == JOIN and op.where == "element" else name_of(op)


def _is_run_by_pytest(function: Function) -> bool:
    owner = function.owner.name if function.owner is not None else ""
    return any(each.name.startswith("test_") for each in _with_outer(function)) or owner.startswith("Test")


def _with_outer(function: Function | None) -> Iterator[Function]:
    while function is not None:
        yield function
        function = function.parent


def _hazard(  # noqa: PLR0911 - one way out for each reason
    op: Op, watched: Watched, function: Function, file: FileInProject, thrown: Sequence[Kept]
) -> Hazard | None:
    value, library = op.operands.get(watched.operand), _library(op, function, file.graph)
    if watched.always:
        return Hazard(op, watched.operand, [], function, file) if value is not None or not watched.operand else None
    if value is None or library == "math" or (watched.thrown and not thrown):
        return None
    if watched.few or watched.narrow:
        return (_of_too_few if watched.few else _of_half)(op, watched, function, file)
    if all(_is_number(each) for each in op.operands.values()):
        return None  # Python's own numbers raise
    if watched.thrown:
        return _of_thrown(op, watched, function, file, thrown)
    if value.presumed and not value.is_known:
        return None  # nothing says that it can be negative, and somebody has added an eps
    zones, alive = _met_alive(op, watched, value, function, file)
    if not zones:
        return None
    callers = file.graph.with_callers(alive)
    is_cut_off = not op.recorded or library == "numpy" or file.is_cut_off(op)
    if callers is not alive and file.knows_callers(function):
        operands = {**op.operands, watched.operand: callers}
        zones = zones if _met(op, watched, operands) else []
    else:
        operands = dict(op.operands)
    is_forward_alone = is_cut_off or _is_far_from_training(op, function, file)
    zones = [
        zone
        for zone in zones
        if zone.direction is not BACKWARD or not (is_forward_alone or _is_detached(zone, operands, file))
    ]
    if not zones:
        return None
    return Hazard(op, watched.operand, zones, function, file, is_cut_off=is_cut_off)


def _met_alive(
    op: Op, watched: Watched, value: Value, function: Function, file: FileInProject
) -> tuple[list[Zone], Value]:
    """The zones that are met without what no caller takes, where nothing caps what is made of it; and the operand without that."""
    zones = _met(op, watched, op.operands)
    alive = _without_dead(value, function, file) if zones else value
    zones = _met(op, watched, {**op.operands, watched.operand: alive}) if alive is not value else zones
    if zones and not op.recorded and is_capped(op, function):
        zones = [zone for zone in zones if zone.result != "inf"]
    return zones, alive


def _without_dead(value: Value, function: Function, file: FileInProject) -> Value:
    """The value without what only branches give that no caller takes."""
    joined = value.op if value.op is not None and value.op.function == JOIN and not value.op.where else None
    each = list(joined.operands.values()) if joined is not None else []
    kept = [one for one in each if one.op is None or not is_never_run(one.op, function, file)]
    return file.graph.maker.join(kept) if 0 < len(kept) < len(each) else value


def _is_far_from_training(op: Op, function: Function, file: FileInProject) -> bool:
    """Whether no backward starts behind it: it stands in a data set, or its result is only printed, logged or plotted."""
    owner = function.owner
    return file.ends_of(op) == WRITTEN or (owner is not None and function.module.project.is_data_set(owner))


def _is_detached(zone: Zone, operands: Mapping[str, Value], file: FileInProject) -> bool:
    """Whether no gradient is computed for those operands whose gradient would break, by whomever it is called."""
    broken = [operands.get(name) for name in (zone.gradient or zone.operand, zone.partner) if name]
    if all(value is None or value.detached for value in broken):
        return True
    return all(value is None or file.comes_without_gradient(value) for value in broken)


def _library(op: Op, function: Function, graph: Graph) -> str:
    """What a function is called from: `np.sqrt(x)` -> numpy, which computes no gradients."""
    called = getattr(op.node, "func", None)
    owner = getattr(called, "value", called)
    local, module = owner.id if isinstance(owner, ast.Name) else "", function.module
    if local not in module.imports and module.stars and local:
        return graph.global_value(module, local).name.partition(".")[0]
    return module.imports.get(local, "").partition(".")[0]


def _is_number(value: Value) -> bool:
    """A number of Python's, or a tensor of one that somebody sets."""
    made = made_from(value)
    inner = made.subject if made is not None and made.function in _TENSORS else None
    return value.kind is NUMBER or (inner is not None and inner.kind is NUMBER and inner.number is None)


def _of_too_few(op: Op, watched: Watched, function: Function, file: FileInProject) -> Hazard | None:
    is_spread = op.function in SPREADS
    operand = op.operands[watched.operand]
    is_loss = op.function in LOSSES or op.function in LAYERS
    found = few_left(op, operand) if is_loss else few(op, operand, is_spread=is_spread, others=function.ops)
    if found is None:
        return None
    zones = [NoElements(name, is_spread=is_spread and found.mask is None) for name in FORMATS]
    hazard = Hazard(op, watched.operand, zones, function, file)
    hazard.few = found
    return hazard


def _of_half(op: Op, watched: Watched, function: Function, file: FileInProject) -> Hazard | None:
    zones = _met_in_half(op, watched, file) if not all(map(_is_number, op.operands.values())) else []
    return Hazard(op, watched.operand, zones, function, file) if zones else None


def _met_in_half(op: Op, watched: Watched, file: FileInProject) -> list[Zone]:
    """The zones that are met if what has no dtype is half, those of float32 before them."""
    found = _met(op, watched, op.operands)
    if any(value.dtype in FORMATS for value in op.operands.values()):
        return found
    found = [zone for zone in found if zone.dtype not in _HALVES]
    for dtype in _HALVES:
        operands = {name: in_format(value, dtype, file.graph.maker) for name, value in op.operands.items()}
        # Autocast casts up what it runs in float32, but not what led there.
        computed = runs_in(op.function, dtype, dtype if op.autocast else None)
        met = (zone for zone in zones_met(op, operands, computed) if watched.covers(zone))
        found += [replace(zone, dtype=dtype) for zone in met]
    is_cut_off = not op.recorded or file.is_cut_off(op)
    return [zone for zone in found if not is_cut_off or zone.direction is not BACKWARD]


def _of_thrown(
    op: Op, watched: Watched, function: Function, file: FileInProject, thrown: Sequence[Kept]
) -> Hazard | None:
    """An operation whose broken results somebody throws away, as far as a gradient passes through it."""
    if (
        not op.recorded
        or _library(op, function, file.graph) == "numpy"
        or all(map(_has_no_gradient, op.operands.values()))
    ):
        return None
    if _is_far_from_training(op, function, file):
        return None
    if all(map(file.comes_without_gradient, op.operands.values())):
        return None
    callers = file.graph.with_callers(op.operands[watched.operand])
    operands = {**op.operands, watched.operand: callers} if file.knows_callers(function) else dict(op.operands)
    for each in thrown:
        zones = zones_thrown_away(op, watched.operand, each, _met(op, Watched(op.function, watched.operand), operands))
        if zones and not file.is_cut_off(op):
            hazard = Hazard(op, watched.operand, zones, function, file)
            hazard.kept = each
            return hazard
    return None


def _has_no_gradient(value: Value) -> bool:
    return value.detached or value.kind is NUMBER


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
