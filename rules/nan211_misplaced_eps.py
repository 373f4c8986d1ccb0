"""NAN211 misplaced-eps."""

from __future__ import annotations

from nanlint.rule import (
    Direction,
    Edit,
    Finding,
    Iterator,
    OpHazard,
    Rule,
    eps,
    items,
    roots,
    torch_names,
    unsafe,
    zone,
)

ROOTS, LOGARITHMS = torch_names("sqrt pow"), torch_names("log log2 log10")
DIVISIONS = {"torch.div": "other", "torch.reciprocal": "input"}
QUOTED, LEAST_IN_HALF = 26, 1e-7


class MisplacedEps(Rule):
    """An eps that looks like a guard and stands where it guards nothing.

    ## Why it hurts
    The slope of `sqrt` at 0 is infinite, and `sqrt(x) + eps` has the same slope; `log(0) + eps` is -inf; `relu(x + eps)` is
    0 for every x below -eps. The reader sees an eps and trusts the line.

    ## Flagged
        scale = torch.sqrt((x * x).sum(dim=-1)) + 1e-6
        logits = torch.log(p) + 1e-8

    ## Instead
        scale = torch.sqrt((x * x).sum(dim=-1) + 1e-6)
        logits = torch.log(p + 1e-8)

    ## Silent when
    the eps is added to the operand of what breaks, or that cannot be 0 anyway; for a root without a gradient; for a logarithm that
    something is divided by; when the number is not known, or is above 1e-3.

    ## Fix
    Unsafe: the eps moves to where it guards, which changes results of its own size; for a logarithm, an inverse root or an eps that
    has a name it becomes a bound of 1e-7 at least, which float16 can hold, unless the dtype is known to be wider.
    """

    code, name = "NAN211", "misplaced-eps"
    hazards = (
        *(zone(root, "input", contains=0, backward=True) for root in sorted(ROOTS)),
        *(zone(log, "input", contains=0, backward=False) for log in sorted({*LOGARITHMS, "torch.rsqrt"})),
        *(zone(division, operand, contains=0, backward=False) for division, operand in DIVISIONS.items()),
    )

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Judge an operation that breaks at 0, and the eps around it."""
        if not hazard.is_of_tensors or hazard.is_half_alone or hazard.is_presumed_safe:
            return
        value, found = hazard.callers, eps.swallowed(hazard.callers)
        if found is not None:
            outer, inner = found
            word, shown = outer.function.rpartition(".")[2], hazard.operand_of(inner.sum, inner.eps_name).text
            message = f"`{shown}` is added inside {word}, which is 0 all the same for values {'far ' if word != 'relu' else ''}below 0"
            yield self.told(hazard, message, at=hazard.span_of(outer), evidence=(items.MADE_SO,))
        elif hazard.op.function in DIVISIONS:
            is_clamped = eps.is_clamped_to_zero(value)
            reason = "is clamped to 0" if is_clamped else "has its eps before the product, which can be 0"
            if is_clamped or eps.is_raised_before_product(value):
                yield self.told(hazard, f"`{hazard.operand.quoted(QUOTED)}` {reason}: the quotient is inf or NaN there")
        else:
            yield from self._check_late(hazard)

    def _check_late(self, hazard: OpHazard) -> Iterator[Finding]:
        """`sqrt(x) + eps`, `rsqrt(x) + eps`, `log(x) + eps`."""
        late = next((each for op, _ in hazard.uses if (each := eps.raised(op)) is not None), None)
        value, is_root = hazard.callers, hazard.op.function in ROOTS
        if late is None or value.range.integer or (is_root and not roots.breaks_at_zero(value)):
            return
        # The eps in `a / (log(x) + eps)` is for the log of 1.
        if hazard.op.function in LOGARITHMS and hazard.is_divisor(late.sum):
            return
        shown = hazard.operand_of(late.sum, late.eps_name).text or f"{late.eps.range.constant:g}"
        what = "whose gradient is infinite" if is_root else "which is infinite"
        edit = _moved_inside(hazard, late, shown)
        yield self.told(
            hazard,
            f"`{shown}` is added after the {hazard.word}, {what} where `{hazard.operand.quoted(QUOTED)}` is 0",
            fix=unsafe("Add the eps inside", edit),
            direction=Direction.BACKWARD if is_root else Direction.BOTH,
            evidence=(items.RANGE_REACHES,),
        )


def _moved_inside(hazard: OpHazard, late: eps.Raised, shown: str) -> Edit | None:
    """`sqrt(x + eps)` for `sqrt(x) + eps` as it is written; a bound where an eps that is added would not do in float16."""
    whole, floor = hazard.whole(late.sum, late.value), hazard.floor
    if whole is None or hazard.op.function == "torch.pow":
        return None
    is_wide, is_enough = float(floor) < LEAST_IN_HALF, (late.eps.range.constant or 0) >= float(floor)
    if not is_wide and not shown[:1].isdigit():  # what a name holds is for the caller to say, so it stays where it is
        return hazard.with_call(f".clamp_min({floor})")
    total = f"{hazard.operand.as_receiver}.clamp_min({shown if is_enough else floor})"
    if is_wide or (hazard.op.function == "torch.sqrt" and is_enough):
        total = hazard.operand.plus(shown, is_receiver=hazard.is_method)
    text = hazard.text_with(total)
    return Edit(whole, text) if text is not None else None
