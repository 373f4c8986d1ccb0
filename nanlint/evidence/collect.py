"""The evidence that a place gives, whatever the rule: where the code stands and what becomes of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.evidence import table
from nanlint.evidence.project import breaks_in_half_alone
from nanlint.model import Direction

if TYPE_CHECKING:
    from collections.abc import Iterator

    import libcst as cst

    from nanlint.evidence.table import Item
    from nanlint.facts.module_facts import ModuleFacts
    from nanlint.facts.values import Call
    from nanlint.model import Finding


def of_place(finding: Finding, call: Call | None, facts: ModuleFacts) -> Iterator[Item]:
    """What the place of a finding says of it; `call` is the flagged operation, None for what is no operation."""
    if finding.direction is Direction.LOOP:
        yield table.IN_THE_LOOP
        return
    if finding.direction is Direction.BACKWARD:
        yield table.GRADIENT_ONLY
    if breaks_in_half_alone(finding):
        yield table.HALF_ALONE
    yield from _of_function(facts)
    # A layer that is made once is used in every step.
    if call is not None and not call.function.rpartition(".")[2][:1].isupper():
        yield from _of_computation(call.node, facts)


def _of_function(facts: ModuleFacts) -> Iterator[Item]:
    """What the function at hand says of all that stands in it."""
    if not facts.is_trained() and (not facts.may_train() or facts.is_inference()):
        yield table.NOT_TRAINED_BY_NAME
    if facts.is_loss():
        yield table.IN_A_LOSS
    if facts.has_backward():
        yield table.BACKWARD_IN_FILE


def _of_computation(node: cst.BaseExpression, facts: ModuleFacts) -> Iterator[Item]:
    """What becomes of the value of `node`."""
    if not facts.is_recorded(node) or facts.is_cut_off(node):
        yield table.NO_GRADIENT
    if facts.is_logged(node):
        yield table.ONLY_LOGGED
    if facts.is_done_once(node) or facts.is_building():
        yield table.BUILT_ONCE
