"""NAN303 inf-times-mask."""

from __future__ import annotations

from nanlint.rule import (
    Finding,
    Iterator,
    OpHazard,
    Rule,
    every,
    items,
    kept,
    masked_rows,
    safe,
    selection_fixes,
    zone,
)

PRODUCT = "torch.mul"
QUOTED = 24


class InfTimesMask(Rule):
    """A mask multiplied onto a value that is infinite or NaN where the mask is 0.

    ## Why it hurts
    `0 * inf` and `0 * nan` are NaN: a product does not remove what is not finite, it spreads it. So does a difference:
    `scores - scores.max()` of a row that is masked with -inf as a whole is `-inf - -inf`, which is NaN. So is a logsumexp by hand of
    logarithms that are all -inf, at `info`: `torch.logsumexp` gives -inf there.

    ## Flagged
        penalty = float("inf") * mask
        clean = loss * torch.isfinite(loss)

    ## Instead
        penalty = torch.zeros_like(scores).masked_fill(mask, float("inf"))
        clean = torch.where(torch.isfinite(loss), loss, 0.0)

    ## Silent when
    the value is finite for all that is known, as the loss of the usual `loss * mask` is; when the factor cannot be 0; when the mask of a
    difference spares something of every row.

    ## Fix
    Safe in the forward: `torch.where` picks instead of multiplying. What makes the value infinite keeps its gradient of NaN.
    """

    code, name = "NAN303", "inf-times-mask"
    hazards = (every(PRODUCT, "input"), every(PRODUCT, "other"), zone("torch.sub", "input"))
    yields_to = frozenset({"NAN110"})

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one product with a mask, or one difference of a row and its largest element."""
        if hazard.op.function == PRODUCT:
            yield from self._check_product(hazard)
        else:
            yield from self._check_difference(hazard)

    def _check_product(self, hazard: OpHazard) -> Iterator[Finding]:
        found = kept.kept(hazard.op, hazard.operand_name)
        reason = kept.infinite_where_dropped(found) if found is not None else ""
        if found is None or not reason:
            return
        mask = hazard.operand_of(hazard.op, "other" if hazard.operand_name == "input" else "input")
        where = f"`{hazard.operand.quoted(QUOTED)}` {reason} where `{mask.quoted(QUOTED)}` is 0"
        fix = selection_fixes.picked(hazard, found, mask)
        yield self.told(
            hazard,
            f"{where}: the product is NaN",
            fix=safe("Pick instead of multiplying", fix),
            evidence=(items.MADE_SO,),
        )

    def _check_difference(self, hazard: OpHazard) -> Iterator[Finding]:
        if not masked_rows.is_shifted_by_peak(hazard.op) or hazard.is_protected:
            return
        found = masked_rows.whole_row_behind(hazard.op.operands["input"], hazard.function)
        text = hazard.operand.quoted(QUOTED)
        if found is None and masked_rows.is_filled(hazard.operand.value):
            return  # of each row something is spared
        if found is None:
            message = f"if every element of `{text}` is -inf, this computes -inf - -inf, which is NaN"
        else:
            mask = hazard.operand_of(found.op, found.mask_name).quoted(QUOTED)
            message = f"`{text}` is -inf where `{mask}` says so: for a row of nothing else, -inf - -inf is NaN"
        yield self.told(hazard, message, evidence=(items.MADE_SO if found is not None else items.RARE,))
