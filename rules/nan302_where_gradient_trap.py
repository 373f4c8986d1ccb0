"""NAN302 where-gradient-trap."""

from __future__ import annotations

from nanlint.rule import (
    Direction,
    Edit,
    Finding,
    Iterator,
    OpHazard,
    Rule,
    items,
    kept,
    safe,
    selection_fixes,
    thrown_away,
    torch_names,
    word_set,
)

# The operation -> the operand that breaks it, and a value of that operand with which it is harmless.
HARMLESS = {
    **{f"torch.{name}": ("input", "1.0") for name in ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal", "pow")},
    **{
        f"torch.{name}": ("input", "0.0")
        for name in ("log1p", "exp", "expm1", "acos", "asin", "atanh", "square", "abs")
    },
    "torch.acosh": ("input", "2.0"),
    "torch.div": ("other", "1.0"),
    "torch.mul": ("other", "0.0"),
}
LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits")
EXPONENTIALS = torch_names("exp expm1")
QUOTED = 25


class WhereGradientTrap(Rule):
    """A result that breaks is thrown away, and its gradient is not.

    ## Why it hurts
    `where(x > 0, x.log(), 0)` picks the 0 where x is 0, so the forward is finite. The backward sends a gradient of 0 into
    the branch that was not picked, and there 0 times the infinite slope of the logarithm is NaN. `masked_fill`, `nan_to_num`, a
    clamp, a boolean index (`x.log()[x > 0]`, `y[n == 0] = 0`) and a product with a mask hide it and stop no gradient either. Nor do they
    for a target that is NaN: in `((x - target) ** 2)[~target.isnan()]` the slope of the square is NaN itself.

    ## Flagged
        y = torch.where(x > 0, x.log(), torch.zeros_like(x))
        z = x.log().masked_fill(x <= 0, 0.0)

    ## Instead
        y = torch.where(x > 0, torch.where(x > 0, x, 1.0).log(), torch.zeros_like(x))

    ## Silent when
    the operand is made safe first (the double where, or a clamp of it); when the condition does not speak of the operand; where no
    gradient comes back. At `info` for clamps of the result.

    ## Fix
    Safe: an inner `where` with the same condition gives the operation a harmless operand exactly where its result is
    thrown away. There is none for `nan_to_num` and clamps, which name no condition.
    """

    code, name = "NAN302", "where-gradient-trap"
    evidence = (items.LOST_AT_ONCE,)
    direction = Direction.BACKWARD
    hazards = (
        *(thrown_away(operation, operand) for operation, (operand, _) in HARMLESS.items()),
        thrown_away("torch.mul", "input"),
        thrown_away("torch.div", "input"),
        *(thrown_away(f"torch.nn.functional.{loss}", name) for loss in LOSSES for name in ("input", "target")),
    )
    yields_to = word_set("NAN110 NAN303")

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one result that is thrown away; of several that are thrown away together, the first."""
        found = hazard.kept
        if found is None or hazard.siblings[0] is not hazard:
            return
        edit, place = _edit(hazard, found), hazard.span_of(found.op)
        yield self.told(
            hazard,
            f"{found.word} hides where `{hazard.quoted(hazard.op, QUOTED)}` breaks, but its gradient there is 0 * inf: NaN",
            at=place,
            direction=Direction.BOTH if kept.spreads(found, hazard.op) else Direction.BACKWARD,
            fix=safe("Make the operand harmless first", edit),
            evidence=(items.RARE if _is_mild(hazard, found) else items.MADE_SO,),
            labels=hazard.label(hazard.op, "this breaks there", finding=place),
        )


def _is_mild(hazard: OpHazard, found: kept.Kept) -> bool:
    """A clamp of the result, or a threshold that is about something else than overflow."""
    is_other = hazard.op.function in EXPONENTIALS and kept.range_kept(hazard.operand.value, found).high <= 0
    return found.op.function in kept.CLAMPS or is_other


def _edit(hazard: OpHazard, found: kept.Kept) -> Edit | None:
    """The operand, made harmless exactly where the result is thrown away."""
    if found.op.function not in {kept.WHERE, kept.FILL} or hazard.operand.span is None or found.condition is None:
        return None
    harmless = (
        HARMLESS[hazard.op.function][1] if hazard.op.function in HARMLESS else "0.0"
    )  # of a loss anything finite is
    return selection_fixes.made_harmless(hazard, found, harmless)
