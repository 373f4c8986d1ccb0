"""NAN109 ctc-infinite-loss."""

from __future__ import annotations

from nanlint.rule import Direction, Finding, Iterator, OpHazard, Rule, every, items, unsafe, uses

FUNCTION, CLASS = "torch.nn.functional.ctc_loss", "torch.nn.CTCLoss"
# Where the setting stands among the arguments of the class, which no signature names.
SETTING, PLACE_IN_CLASS = "zero_infinity", "2"
CHECKS = ("torch.isfinite", "torch.isinf", "torch.isnan")


class CtcInfiniteLoss(Rule):
    """A CTC loss that is infinite for a target its input is too short for.

    ## Why it hurts
    CTC needs an input step for every symbol of the target and one more between two equal ones. One utterance that is
    cut too short has no alignment at all: its loss is inf, the mean over the batch is inf, and the gradients are NaN.

    ## Flagged
        loss = F.ctc_loss(log_probs, targets, input_lengths, target_lengths)

    ## Instead
        loss = F.ctc_loss(log_probs, targets, input_lengths, target_lengths, zero_infinity=True)

    ## Silent when
    `zero_infinity` is True, or is set from something that is not known here; when what is infinite in the loss is replaced
    or looked for behind it or elsewhere in the class, as in `loss[torch.isinf(loss)] = 0`. `zero_infinity=False` is flagged with a
    comment beside it, too: the comment reaches no gradient.

    ## Fix
    Unsafe: with `zero_infinity=True` such a target counts as 0 instead of inf, and its gradient is 0.
    """

    code, name = "NAN109", "ctc-infinite-loss"
    direction = Direction.BOTH
    dtypes = ("float32", "float64")
    hazards = (every(FUNCTION, "input"), every(CLASS))

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one CTC loss, or the making of one, where an nn.CTCLoss is judged."""
        is_made = hazard.op.function == CLASS
        if (
            hazard.op.module is not None
            or hazard.has_stars
            or uses.is_replaced(hazard)
            or hazard.class_computes(*CHECKS)
        ):
            return
        stated = hazard.op.operands.get(SETTING) or (hazard.op.operands.get(PLACE_IN_CLASS) if is_made else None)
        if stated is not None and stated.constant is not False:
            return
        edit = hazard.with_keyword(SETTING, "True")
        yield self.told(
            hazard,
            f"`{'CTCLoss' if is_made else 'ctc_loss'}` is inf for a target longer than its input, and its gradient is NaN",
            fix=unsafe("Set zero_infinity=True", edit),
            evidence=(items.MADE_SO,),
        )
