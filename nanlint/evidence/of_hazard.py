"""The evidence that a hazard gives: what is known of its operand, where it stands, and where its result goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis import origins
from nanlint.analysis.name_hints import STATED
from nanlint.analysis.project.consequence import DATA, KEPT, OUTPUT, TRAINS, WRITTEN
from nanlint.analysis.trained_by_name import (
    is_building,
    is_inference,
    is_loss,
    is_trained,
    may_train,
    serves_a_forward,
    serves_a_loss,
    tells,
)
from nanlint.evidence import table
from nanlint.hazards.uses import is_read_off
from nanlint.model import Direction
from nanlint.source.syntax.outline import MODULE
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.project.index import Function
    from nanlint.analysis.project.whole import FileInProject
    from nanlint.evidence.table import Item
    from nanlint.hazards.hazard import Hazard
    from nanlint.model import Finding
    from nanlint.source.syntax.outline import Chunk, Outline

_HALVES = word_set("float16 bfloat16")
_FURTHEST_CALLER, _MOST_CALLERS = 4, 8


def of_hazard(finding: Finding, hazard: Hazard, plan: Outline) -> Iterator[Item]:
    """Every reason for or against a finding that its hazard and its place give."""
    if finding.direction is Direction.LOOP:
        yield table.IN_THE_LOOP
        return
    if finding.direction is Direction.BACKWARD:
        yield table.GRADIENT_ONLY
    if _breaks_in_half_alone(finding, hazard):
        yield table.HALF_ALONE
        if table.MADE_SO.name not in finding.evidence:
            yield table.HALF_UNUSED
    chunk, outline = _deciding(hazard.function.outermost, plan, hazard.file)
    if chunk is not None:
        yield from _of_function(chunk, outline, hazard)
        if any("backward" in each.words for each in plan.chunks.values()):
            yield table.BACKWARD_IN_FILE
    if hazard.zones:
        yield from _of_operand(finding, hazard, chunk, outline)
    elif not hazard.op.recorded:
        yield table.NO_GRADIENT
    if hazard.file.only_runs_a_model:
        yield table.NOBODY_CALLS
    else:
        yield from of_ends(hazard.ends)


def _deciding(
    function: Function, plan: Outline, file: FileInProject, depth: int = _FURTHEST_CALLER
) -> tuple[Chunk | None, Outline]:
    """The function whose name says whether it is trained, with the file that it stands in: itself, or else one that calls it.

    Of several callers one that is trained.
    """
    chunk = plan.chunks.get(function.qualname)
    callers = [each for each in function.callers if each.name != MODULE] if depth else []
    if chunk is None or not callers or tells(chunk, plan):
        return chunk, plan
    found = []
    for caller in callers[:_MOST_CALLERS]:
        there = plan if caller.module is function.module else file.outline_of(caller.module)
        if there is not None:
            found.append(_deciding(caller.outermost, there, file, depth - 1))
    known = [(each, there) for each, there in found if each is not None]
    trained = [pair for pair in known if is_trained(*pair)] or [pair for pair in known if may_train(*pair)] or known
    return trained[0] if trained else (chunk, plan)


def _breaks_in_half_alone(finding: Finding, hazard: Hazard) -> bool:
    """Whether float16 or bfloat16 is needed, and the code at hand does not say that it computes in one of them."""
    return bool(finding.dtypes) and _HALVES.issuperset(finding.dtypes) and not hazard.is_half_stated


def _of_operand(finding: Finding, hazard: Hazard, chunk: Chunk | None, plan: Outline) -> Iterator[Item]:
    """What is known of the operand, and of the gradient that passes through it."""
    is_unknown = not hazard.is_operand_known and table.MADE_SO.name not in finding.evidence
    if is_unknown or hazard.is_ruled_out_by_callers:
        yield table.NOTHING_KNOWN
    if hazard.is_presumed_safe and not _breaks_in_half_alone(finding, hazard):  # there the eps may be 0 itself
        yield table.RARE
    if not hazard.is_forward and not _is_seen_to_train(hazard, chunk, plan):
        yield table.GRADIENT_UNSEEN
    yield from _of_sources(hazard)
    # What has no gradient itself may still be multiplied onto what has one.
    is_without = hazard.is_without_gradient and not hazard.ends & (TRAINS | OUTPUT | DATA)
    if (not hazard.op.recorded or is_without or is_read_off(hazard)) and not hazard.is_in_optimizer_step:
        yield table.NO_GRADIENT


def _of_sources(hazard: Hazard) -> Iterator[Item]:
    """What it says about an operand where its numbers come from."""
    found = origins.sources_of(hazard.callers) - {origins.CONSTANT}
    breaks_at_zero = all(hasattr(zone, "contains") and zone.contains(0.0) for zone in hazard.zones)
    is_exact = breaks_at_zero and found in ({origins.NETWORK}, {origins.NETWORK, origins.LEARNED})
    if found == {origins.LEARNED}:
        yield table.LEARNED
    elif is_exact or found in ({origins.LENGTHS}, {origins.NOISE}):
        yield table.RARE
    elif found == {origins.SETTING}:
        yield table.DECIDED_ELSEWHERE
        yield table.BUILT_ONCE  # it is the same in every step


def _is_seen_to_train(hazard: Hazard, chunk: Chunk | None, plan: Outline) -> bool:
    """Whether something shows that a gradient passes: else the caller decides. None passes through what is called a label."""
    if all(not STATED.isdisjoint(name.lower().split("_")) for name in hazard.operand.sources or ("",)):
        return False
    is_named = chunk is not None and (is_trained(chunk, plan) or serves_a_forward(chunk, plan))
    is_part_of_model = hazard.ends & OUTPUT and (chunk is None or may_train(chunk, plan))
    if hazard.kept is not None and hazard.is_called_without_gradient:
        return False
    if hazard.kept is not None and (chunk is None or may_train(chunk, plan)):
        return True  # that it breaks here was seen, and mended in the forward alone
    return is_named or bool(hazard.ends & TRAINS or is_part_of_model)


def of_ends(ends: int) -> Iterator[Item]:
    """What the places say that a result reaches, through the whole project."""
    if ends & TRAINS:
        yield table.REACHES_BACKWARD
    if ends & WRITTEN and not ends & ~(WRITTEN | KEPT):
        yield table.ONLY_LOGGED


def _of_function(chunk: Chunk, plan: Outline, hazard: Hazard) -> Iterator[Item]:
    # A layer that is made once is used in every step.
    is_layer = hazard.op.function.rpartition(".")[2][:1].isupper()
    used_in = plan.chunks.get(f"{chunk.owner}.forward", chunk) if is_layer else chunk
    # What a loss uses, and what goes on to be trained, is a part of that loss, whatever it is called.
    is_part_of_loss = serves_a_loss(chunk, plan) and bool(hazard.ends & (TRAINS | OUTPUT))
    is_not_trained = not is_trained(used_in, plan) and (not may_train(used_in, plan) or is_inference(used_in))
    if is_not_trained and not (is_part_of_loss or hazard.ends & TRAINS or hazard.is_in_optimizer_step):
        yield table.NOT_TRAINED_BY_NAME
    if is_loss(chunk) or is_part_of_loss:
        yield table.IN_A_LOSS
    if not is_layer and (is_building(chunk.name) or (chunk.name == MODULE and not hazard.is_in_a_loop)):
        yield table.BUILT_ONCE
