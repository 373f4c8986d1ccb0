"""NAN210 variance-by-subtraction."""

from __future__ import annotations

from nanlint.rule import (
    Direction,
    Edit,
    Finding,
    Fix,
    Iterator,
    OpHazard,
    Rule,
    items,
    replacing,
    safe,
    variances,
    zone,
)

ROOTS = ("torch.sqrt", "torch.rsqrt", "torch.log", "torch.log2", "torch.log10", "torch.pow")
DIVISIONS = {"torch.div": "other", "torch.reciprocal": "input"}
# With an eps it takes values beyond any ordinary size in float64.
NARROW = ("float16", "bfloat16", "float32")
QUOTED = 45


class VarianceBySubtraction(Rule):
    """The variance as E[x^2] - E[x]^2, which cancels to 0 or below, under a root, a logarithm or a division.

    ## Why it hurts
    Both terms grow with the square of the mean, and what is left of their difference is rounding. For values around 1000 with
    a spread of 0.1 it is noise of either sign: the root of it is NaN. A small eps does not help against noise that is larger.

    ## Flagged
        std = (x.pow(2).mean(dim=1) - x.mean(dim=1).pow(2) + 1e-5).sqrt()

    ## Instead
        std = (x.var(dim=1, correction=0) + 1e-5).sqrt()

    ## Silent when
    the difference is clamped before it is used; when it goes into no root, logarithm or division.

    ## Fix
    Safe: `var(correction=0)` is the same number without the cancellation. There is none where the two means are
    not written as means of one and the same value.
    """

    code, name = "NAN210", "variance-by-subtraction"
    evidence = (items.LOST_AT_ONCE,)
    hazards = (*(zone(root, "input") for root in ROOTS), *(zone(*division) for division in DIVISIONS.items()))

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one operation that a variance of 0 or below breaks."""
        # A division by noise and an eps is wrong, but finite.
        found = variances.variance_in(hazard.operand.value, plus_eps=hazard.op.function not in DIVISIONS)
        if found is None or hazard.is_of_arrays:
            return
        if hazard.op.function == "torch.pow" and (hazard.op.operands["exponent"].number or 1.0) >= 1:
            return
        name = hazard.word
        yield self.told(
            hazard,
            f"`{hazard.quoted(found.difference, QUOTED)}` can cancel to 0 or below, where `{name}` breaks",
            labels=hazard.label(found.difference, "the variance is computed here"),
            fix=_fix(hazard, found),
            direction=Direction.BOTH,
            dtypes=NARROW if found.has_eps else hazard.dtypes,
        )


def _fix(hazard: OpHazard, found: variances.Variance) -> Fix | None:
    """`std` for the root of a variance, which has a gradient at 0 as well; `var` where an eps stands beside it."""
    exponent = hazard.op.operands.get("exponent")
    is_root = hazard.op.function == "torch.sqrt" or (exponent is not None and exponent.number == 0.5)
    settings = replacing.settings_of(hazard, found.squares, found.mean)
    # Of a bare variance of 0 the inverse and the logarithm are not finite, whoever computes it.
    if (
        found.square is None
        or settings is None
        or not (found.has_eps or is_root)
        or "#" in hazard.text
        or hazard.is_in_place
    ):
        return None
    of, difference = hazard.operand_of(found.square, "input"), found.difference.node
    if difference is None or of.value.kind != "tensor" or not replacing.can_be_moved(hazard, of, difference):
        return None
    name, node = ("var", difference) if found.has_eps else ("std", hazard.op.node)
    text = f"{of.as_receiver}.{name}({', '.join([*settings, 'correction=0'])})"
    return safe(f"Use {name}", *replacing.with_leftovers(hazard, Edit(hazard.source.span_of(node), text)))
