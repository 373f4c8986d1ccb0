"""NAN107 softmax-of-masked-row."""

from __future__ import annotations

from nanlint.rule import (
    Direction,
    Finding,
    Fix,
    Iterator,
    OpHazard,
    Rule,
    every,
    items,
    masked_rows,
    selection_fixes,
    unsafe,
    uses,
    zone,
)

SOFTMAX, LOG_SOFTMAX, LOGSUMEXP = "torch.softmax", "torch.log_softmax", "torch.logsumexp"
RESULTS = {
    SOFTMAX: "softmax is NaN",
    LOG_SOFTMAX: "log_softmax is NaN",
    LOGSUMEXP: "the logsumexp gradient is NaN",
}
ATTENTION = "torch.nn.MultiheadAttention"
QUOTED = 30


class SoftmaxOfMaskedRow(Rule):
    """The softmax over scores that a mask has filled with -inf, of which a whole row can be masked.

    ## Why it hurts
    A row of nothing but -inf has no largest score: softmax computes `-inf - -inf`, which is NaN, and the NaN spreads from one
    padded sequence or one empty set to every gradient of the batch. Where two masks meet, as of queries and of keys, that
    happens every day; a single mask does it for an empty sequence alone, and is of severity info. `nn.MultiheadAttention` does the same
    with a `key_padding_mask`, unless `need_weights=False`.

    ## Flagged
        hidden = padded_queries[:, :, None] | padded_keys[:, None, :]
        scores = scores.masked_fill(hidden, float("-inf"))
        weights = torch.softmax(scores, dim=-1)

    ## Instead
        hidden = padded_queries[:, :, None] | padded_keys[:, None, :]
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)

    ## Silent when
    the mask spares an element of each row by what it is made of: causal alone, by rank, or by the scores themselves; when the weights are
    repaired right behind (`nan_to_num`, `masked_fill`, `where`); when something asks the mask row by row (`mask.all(dim=-1)`); for the
    `logsumexp` of filled scores, whose -inf is right; for `scaled_dot_product_attention`, which gives 0 for such a row.

    ## Fix
    Unsafe: with `torch.finfo(dtype).min` a fully masked row becomes a uniform one. Half of that for a `log_softmax`, which is -inf
    again in float16 otherwise.
    """

    code, name = "NAN107", "softmax-of-masked-row"
    hazards = (
        *(zone(operation, "input", contains=float("-inf")) for operation in RESULTS),
        every(SOFTMAX, "input"),
        every(ATTENTION, "key_padding_mask"),
    )

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one softmax, or one attention that takes a mask."""
        if hazard.op.function == ATTENTION:
            yield from self._check_attention(hazard)
            return
        if not hazard.zones:
            if masked_rows.is_filled_with_infinity(hazard.operand.value):
                message = "a mask fills scores with +inf, and the softmax of any such row is NaN"
                yield self.told(hazard, message, evidence=(items.MADE_SO, items.LOST_AT_ONCE))
            return
        found = masked_rows.whole_row_behind(hazard.operand.value, hazard.function)
        function, is_log = hazard.op.function, hazard.op.function == LOG_SOFTMAX
        if found is None:
            return
        is_replaced = uses.is_replaced(hazard)
        if function == LOGSUMEXP and masked_rows.is_log_softmax(hazard.operand.value, hazard.function):
            function, is_log = LOG_SOFTMAX, True
        # The gradient of filled scores is cut off where they are filled, that of scores to which a mask is added is not.
        elif (function == LOGSUMEXP or is_replaced) and (not found.is_added or hazard.is_without_gradient):
            return
        # The softmax breaks, but the mistake is the -inf.
        is_here = hazard.is_here(found.op)
        place = hazard.span_of(found.op) if is_here else hazard.span
        mask = hazard.operand_of(found.op, found.mask_name).quoted(QUOTED) if is_here else "a mask"
        yield self.told(
            hazard,
            f"{RESULTS[function]} for any row that `{mask}` fills completely with -inf",
            at=place,
            fix=_fix(hazard, found, is_log=is_log) if is_here else None,
            direction=Direction.BACKWARD if is_replaced else Direction.BOTH if found.is_added else Direction.FORWARD,
            evidence=(items.MADE_SO if masked_rows.is_everyday(found) else items.DECIDED_ELSEWHERE,),
            labels=hazard.label(hazard.op, f"the {hazard.word} is taken here", finding=place),
        )

    def _check_attention(self, hazard: OpHazard) -> Iterator[Finding]:
        """A mask of keys that may hide all keys of a sequence."""
        wants_weights, mask = hazard.op.operands.get("need_weights"), hazard.operand.value
        is_none = mask.constant is None or (wants_weights is not None and wants_weights.constant is False)
        if is_none or masked_rows.spares_something(mask, None, hides=True):
            return
        yield self.told(
            hazard,
            f"the attention is NaN for any sequence that `{hazard.operand.quoted(QUOTED)}` hides completely",
            evidence=(items.DECIDED_ELSEWHERE,),
        )


def _fix(hazard: OpHazard, found: masked_rows.Filling, *, is_log: bool) -> Fix | None:
    """Added to a score, the least number is -inf again in float16: there is none for that."""
    edit = selection_fixes.least_instead(hazard, found, is_halved=is_log)
    return unsafe("Fill with a finite number", edit) if not found.is_added else None
