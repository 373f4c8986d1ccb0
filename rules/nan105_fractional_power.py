"""NAN105 fractional-power."""

from __future__ import annotations

from nanlint.rule import Direction, Finding, Iterator, OpHazard, Rule, differences, items, roots, show, zone

# A bound so close below 0 is our own caution about the last digits.
INF, ROUNDING = float("inf"), 1e-4
QUOTED = 40


class FractionalPower(Rule):
    """A power with an exponent that is no integer, of a value that can be negative.

    ## Why it hurts
    `x ** 1.5` of a negative x is NaN, in the forward and in the gradient, however close to 0 it is. A learnable exponent has
    the gradient `x ** p * log(x)`, which is NaN for every negative x, even where p happens to be 2.

    ## Flagged
        weight = torch.cos(angle) ** 1.5

    ## Instead
        weight = torch.cos(angle).clamp_min(1e-6) ** 1.5

    ## Silent when
    the base is known not to be negative, or has an eps added to it; for integer exponents; for roots (NAN103 and NAN301 tell of
    those); when a `where` throws the NaN away (NAN302 tells of the gradient).

    ## Fix
    Sketch: a base held at 0, or the power of its size with its sign. Which of them is meant is for the author to say.
    """

    code, name = "NAN105", "fractional-power"
    evidence = (items.LOST_AT_ONCE,)
    hazards = (
        zone("torch.pow", "input", contains=-1),
        zone("torch.pow", "input", contains=0, backward=True),
    )
    yields_to = frozenset({"NAN302"})

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one power."""
        exponent, reach = hazard.exponent, hazard.callers.range
        if exponent is None or not hazard.is_of_tensors or hazard.is_presumed_safe:
            return
        if any(op.function == "torch.where" for op, _ in hazard.uses):
            return
        if reach.low >= -ROUNDING or not any(each.contains(-1) for each in hazard.zones):
            yield from self._check_rest(hazard)
            return
        is_unknown = reach.low == -INF and not (reach.high < INF and differences.is_rest(hazard.callers))
        is_given = hazard.is_exponent_open and not exponent.learned
        is_left_out = is_unknown and (reach.nan or roots.is_kept_elsewhere(hazard.callers))
        if is_given or is_left_out or (exponent.number is not None and abs(exponent.number) == 0.5):
            return
        quoted = f"`{hazard.operand.quoted(QUOTED)}`"
        shown = (
            f"{exponent.number:g}"
            if exponent.number is not None
            else f"`{hazard.operand_of(hazard.op, 'exponent').text}`"
        )
        what = "the gradient of the exponent" if exponent.learned else f"its power {shown}"
        reason = (
            f"nothing keeps {quoted} from below 0"
            if is_unknown
            else f"{quoted} can be negative (range {reach.finite()})"
        )
        yield self.told(
            hazard,
            f"{reason}: {what} is NaN there",
            direction=Direction.BACKWARD if exponent.learned else hazard.direction,
            fix=show("clamp_min(0) on the base, or its sign times the power of its size"),
            labels=hazard.label(hazard.operand.made_by, "it is computed here"),
            evidence=() if is_unknown else (items.RANGE_REACHES,),
        )

    def _check_rest(self, hazard: OpHazard) -> Iterator[Finding]:
        """`(1 - p) ** gamma`, as in a focal loss: p is 1 where the model is sure, and the slope infinite for a gamma below 1."""
        reach, exponent = hazard.callers.range, hazard.exponent
        is_setting = hazard.is_exponent_open and exponent is not None and not exponent.learned
        if is_setting and reach.has_zero and reach.high <= 1 and not hazard.is_forward:
            yield self.told(
                hazard,
                f"`{hazard.operand.quoted(QUOTED)}` can be 0: the gradient is infinite there for an exponent below 1",
                fix=show("clamp_min with a small number on the base, or an exponent that is 1 at least"),
                evidence=(items.DECIDED_ELSEWHERE,),
            )
