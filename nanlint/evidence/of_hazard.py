"""The evidence that a hazard gives: what is known of its operand, where it stands, and where its result goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.project.consequence import KEPT, TRAINS, WRITTEN
from nanlint.evidence import table
from nanlint.evidence.project import breaks_in_half_alone
from nanlint.facts.training_code import is_building, is_inference, is_loss, is_trained, may_train
from nanlint.hazards.uses import is_read_off
from nanlint.model import Direction
from nanlint.source.outline import MODULE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.evidence.table import Item
    from nanlint.hazards.hazard import Hazard
    from nanlint.model import Finding
    from nanlint.source.outline import Chunk, Outline


def of_hazard(finding: Finding, hazard: Hazard, plan: Outline) -> Iterator[Item]:
    """Every reason for or against a finding that its hazard and its place give."""
    if finding.direction is Direction.BACKWARD:
        yield table.GRADIENT_ONLY
    if breaks_in_half_alone(finding):
        yield table.HALF_ALONE
    if not hazard.is_operand_known and table.MADE_SO.name not in finding.evidence:
        yield table.NOTHING_KNOWN
    if hazard.is_ruled_out_by_callers:
        yield table.DECIDED_ELSEWHERE
    chunk = plan.chunks.get(hazard.outer_function)
    if chunk is not None:
        yield from _of_function(chunk, plan, hazard)
    if not hazard.op.recorded or hazard.is_without_gradient or is_read_off(hazard):
        yield table.NO_GRADIENT
    if hazard.ends and not hazard.ends & ~(WRITTEN | KEPT) and hazard.ends & WRITTEN:
        yield table.ONLY_LOGGED


def _of_function(chunk: Chunk, plan: Outline, hazard: Hazard) -> Iterator[Item]:
    if is_trained(chunk, plan) or hazard.ends & TRAINS:
        yield table.TRAINS_HERE
    elif not may_train(chunk, plan) or is_inference(chunk):
        yield table.NOT_TRAINED_BY_NAME
    if is_loss(chunk):
        yield table.IN_A_LOSS
    if any("loss" in word for word in chunk.words):
        yield table.SPEAKS_OF_LOSS
    if any("backward" in each.words for each in plan.chunks.values()):
        yield table.BACKWARD_IN_FILE
    if is_building(chunk.name) or (chunk.name == MODULE and not hazard.is_in_a_loop):
        yield table.BUILT_ONCE
