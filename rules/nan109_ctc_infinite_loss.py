"""NAN109 ctc-infinite-loss."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Edit, Facts, Finding, Hazard, Iterator, Rule, unsafe

FUNCTION, CLASS = "torch.nn.functional.ctc_loss", "torch.nn.CTCLoss"
SETTING = "zero_infinity"
# Where the setting stands among the arguments of the class, which no signature names.
PLACE_IN_CLASS = "2"
# Whoever made the loss looks for what is not finite by hand.
CHECKS = ("isfinite", "isinf", "isnan")


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
    or looked for behind it or elsewhere in the class, as in `loss[torch.isinf(loss)] = 0`; in tests. `zero_infinity=False` is flagged with a
    comment beside it, too: the comment reaches no gradient.

    ## Fix
    Unsafe: with `zero_infinity=True` such a target counts as 0 instead of inf, and its gradient is 0.
    """

    code = "NAN109"
    name = "ctc-infinite-loss"
    direction = Direction.BOTH
    dtypes = ("float32", "float64")
    calls = frozenset({FUNCTION, CLASS})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one CTC loss, or the making of one."""
        # An nn.CTCLoss is judged where it is made.
        if call.module is not None or facts.has_stars(call) or facts.is_test() or facts.is_mended(call.node):
            return
        if facts.class_mentions(*CHECKS):
            return
        setting = call.arguments.get(SETTING) or (
            call.arguments.get(PLACE_IN_CLASS) if call.function == CLASS else None
        )
        if setting is not None and facts.value_of(setting).constant is not False:
            return
        edit = Edit(facts.span_of(setting), "True") if setting is not None else facts.add_keyword(call, SETTING, "True")
        word = "CTCLoss" if call.function == CLASS else "ctc_loss"
        yield self.finding(
            facts.span_of(call.node),
            f"`{word}` is inf for a target longer than its input, and its gradient is NaN",
            fix=unsafe("Set zero_infinity=True", edit) if edit is not None else None,
            hazard=Hazard(FUNCTION, "input_lengths", "shorter than the target"),
        )
