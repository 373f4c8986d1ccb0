"""NAN401 no-op-clip."""

from __future__ import annotations

import math

from nanlint.rule import (
    Direction,
    Edit,
    Finding,
    Fix,
    Item,
    Iterator,
    OpHazard,
    Rule,
    clips,
    every,
    items,
    possible_numbers,
    unsafe,
)


class NoOpClip(Rule):
    """Gradients are clipped at a bound so high that no gradient is ever clipped.

    ## Why it hurts
    Clipping is there for the one batch whose gradient has a norm of 1e5: with a bound of 1e6 it passes unchanged, the
    step throws the weights far away, and the next loss is NaN. The code looks protected.

    ## Flagged
        if config.clip:
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip)
        else:
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1e6)

    ## Instead
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip or 1.0)

    ## Silent when
    in tests; when the call only measures the norm: the bound is inf and the result is used, or a comment or the name of
    the function says so. A finite bound on a call whose result is used, with no real clip beside it, may be meant so too:
    info. So is `inf` for a bound that nobody has set. Set `max-norm` to the lowest bound that is worth a finding.

    ## Fix
    Unsafe: the bound becomes 1.0, which changes every step with a larger gradient. Only a bound that is written at the
    call is changed, and none that is reported as info.
    """

    code = "NAN401"
    name = "no-op-clip"
    direction = Direction.LOOP
    hazards = tuple(every(operation, operand) for operation, operand in clips.WATCHED)
    options = {"max-norm": 1e3}  # noqa: RUF012 - declared as a ClassVar in Rule

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Judge one clip, or one setting of a trainer that clips."""
        if hazard.is_in_tests or clips.bound_of(hazard.op, hazard.called) != hazard.operand_name:
            return
        largest, is_passed = self._largest(hazard)
        if largest is None or _only_measures(hazard, largest.number):
            return
        is_here = largest.node is not None and largest.node is hazard.operand.node
        is_certain = is_passed and not possible_numbers.may_be_something_else(hazard.operand.value)
        unset = largest.number == math.inf and not is_certain
        evidence: tuple[Item, ...] = (items.DECIDED_ELSEWHERE,) if unset or not is_passed else ()
        yield self.finding(
            hazard.operand.span or hazard.span,
            _message(hazard, largest.number, is_here=is_here, is_certain=is_certain),
            fix=_fix(hazard, largest) if not evidence else None,
            evidence=evidence,
            labels=hazard.label_at(largest.node, "the bound is set here"),
        )

    def _largest(self, hazard: OpHazard) -> tuple[possible_numbers.Possible | None, bool]:
        """The largest bound that clips nothing, if it has one; and whether some caller passes it, or no caller is in sight."""
        for value in (hazard.callers, hazard.operand.value):
            found = [
                each
                for each in possible_numbers.possible_numbers(value)
                if each.number >= float(self.option("max-norm"))
            ]
            if found:
                return max(found, key=lambda each: each.number), value is hazard.callers
        return None, False


def _only_measures(hazard: OpHazard, bound: float) -> bool:
    """Whether the norm that the call returns is all that is asked for."""
    if clips.is_setting_of_trainer(hazard.called):
        return False
    checked = hazard.op.operands.get("error_if_nonfinite")
    is_used = hazard.is_used or (checked is not None and checked.constant is not False)
    return is_used and (bound == math.inf or clips.says_it_measures(hazard.function.name, hazard.comments))


def _message(hazard: OpHazard, bound: float, *, is_here: bool, is_certain: bool) -> str:
    name = hazard.operand_name if not hazard.operand_name.isdigit() else "max_norm"
    text = hazard.operand.quoted(26)
    known = "" if is_here else f" {'is' if is_certain else 'can be'} {bound:g}, which"
    reason = "no gradient is above it" if bound == math.inf else "it is far above what a run survives"
    return f"`{f'{name}={text}' if is_here else text}`{known} never clips: {reason}"


def _fix(hazard: OpHazard, largest: possible_numbers.Possible) -> Fix | None:
    if largest.node is None or not hazard.operand.holds(largest.node):
        return None
    return unsafe("Clip at 1.0", Edit(hazard.source.span_of(largest.node), "1.0"))
