"""NAN205 mask-overflow."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from nanlint.rule import Call, Edit, Expression, Facts, Finding, Fix, Hazard, Item, Iterator, Rule, items, unsafe

FILL, WHERE, PRODUCT, SUM = "torch.masked_fill", "torch.where", "torch.mul", "torch.add"
# The first numbers that float16 rounds to an infinity; what is infinite already is NAN107's business.
FLOAT16_OVERFLOW = 65520.0
MASKS = frozenset({"mask", "masks", "masked", "pad", "padding", "invalid", "keep"})
SOFTMAXES = ("softmax", "log_softmax", "Softmax")
SOFTMAX = (*SOFTMAXES, "scores", "logits", "attn", "attention_mask", "attn_mask")
CAST, QUOTED = re.compile(r"\.(to|type_as|type)\(|\.half\("), 24
RAISING = frozenset({"torch.clamp", "torch.clamp_min", "torch.max", "torch.maximum"})


class MaskOverflow(Rule):
    """A mask constant that float16 cannot hold.

    ## Why it hurts
    float16 ends at -65504. `masked_fill(mask, -1e9)` raises there, `where` and arithmetic turn the -1e9 into -inf: `0 * -inf`
    is NaN for what the mask keeps, and a row that is masked as a whole is NaN after the softmax. The least number of a dtype
    fits, but not twice: two masks of `finfo.min` that are added give -inf where both mask, in every dtype.

    ## Flagged
        scores = torch.matmul(query, key)
        scores = torch.where(mask, scores, -1e9)

    ## Instead
        scores = torch.matmul(query, key)
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)

    ## Silent when
    the constant fits (`-1e4`) or is -inf (NAN107 judges that), the scores were cast to float32, or nothing says that they are
    float16 at times: neither a product of matrices, which autocast computes in half, nor the name of attention scores; where the
    sum of two masks is raised again (`clamp`, `max`, `masked_fill`), there or before a softmax of the file. At `info` for a mask times a constant that is not seen
    to be cast to the dtype of the scores, for `scores[mask] = -1e9`, and for a tensor that nothing tells of, or that is cast back.

    ## Fix
    Unsafe: `torch.finfo(scores.dtype).min` masks in every dtype.
    """

    code = "NAN205"
    name = "mask-overflow"
    dtypes = ("float16",)
    calls = frozenset({FILL, WHERE, PRODUCT, SUM})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one mask."""
        if facts.is_test():
            return
        checks = {PRODUCT: self._check_product, SUM: self._check_sum}
        found = list(checks.get(call.function, self._check_filling)(call, facts))
        if found and not facts.asks_dtype(call.node):
            yield from found

    def _check_filling(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """`scores.masked_fill(mask, -1e9)` and the like."""
        found = facts.filling(call)
        constant = facts.filled_with(found) if found is not None else None
        if found is None or constant is None or not _overflows(-abs(constant)):
            return
        dtype, is_plane = facts.dtype_of(found.scores), facts.is_number(found.scores)
        # Filled in float32 and cast back to what the scores were.
        is_cast_back = (dtype == "float32" or is_plane) and facts.is_cast(call.node)
        # `scores[mask] = -1e9`, and what is taken the least of, are looked for where all is shown.
        is_set = call.form.value == "operator"
        is_used = facts.mentions(*SOFTMAXES) or (facts.may_be_half() and not is_set)
        is_certain = facts.can_be_half(found.scores) and not is_set and constant < 0 and not is_plane
        if is_certain or is_cast_back or (dtype == "" and not is_plane and is_used):
            is_raising = call.function == FILL and not is_set and not is_cast_back
            result = "and masked_fill raises" if is_raising else f"so it is {math.copysign(math.inf, constant)}"
            text = f"where float16 ends at {math.copysign(65504, constant):g}, {result}"
            likely = items.RANGE_REACHES if is_certain else items.DECIDED_ELSEWHERE
            told = self._finding(call, found.scores, found.value, facts, result=text, likely=likely)
            yield told if is_certain else replace(told, fix=None)

    def _check_sum(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Two masks of the least number: twice that is -inf, and a row of it NaN after the softmax."""
        terms = [call.subject, call.arguments.get("other")]
        if not all(term is not None and facts.holds_least(term) for term in terms):
            return
        around = facts.user_of(call.node)
        is_raised = (around is not None and around.function in RAISING) or facts.is_mended(call.node)
        if is_raised or facts.raises_scores():
            return
        yield self.finding(
            facts.span_of(call.node),
            f"`{facts.quote(call.node, QUOTED)}` adds finfo.min to finfo.min where both mask: that is -inf",
            hazard=Hazard(SUM, facts.source_of(call.node), "finfo.min"),
            evidence=(items.MADE_SO,),
            dtypes=("float16", "bfloat16", "float32", "float64"),
        )

    def _check_product(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """`(1 - mask) * -1e9`, which is then added to scores, or `1e9 * (1 - mask)`, which is subtracted."""
        around = facts.user_of(call.node)
        sign = -1 if around is not None and around.function == "torch.sub" and around.subject is not call.node else 1
        for mask, value in ((call.subject, call.arguments.get("other")), (call.arguments.get("other"), call.subject)):
            constant = facts.constant_of(value)
            if mask is None or value is None or constant is None or not _overflows(sign * constant):
                continue
            left = facts.rest_to_one(mask)
            if MASKS.isdisjoint(facts.words_of(left if left is not None else mask)):
                continue
            if facts.dtype_of(mask) in {"", "float16"} and not facts.is_number(mask):
                # A mask that is not cast to the dtype of scores is float32, and so is what it is added to.
                is_cast = facts.origin_of(mask) is not None and CAST.search(facts.source_of(mask)) is not None
                likely = items.RANGE_REACHES if is_cast and facts.mentions(*SOFTMAX) else items.DECIDED_ELSEWHERE
                text = "where float16 ends at -65504, so it is -inf or NaN"
                yield self._finding(call, mask, value, facts, result=text, likely=likely)

    def _finding(  # noqa: PLR0913 - what is masked, with what, and how sure that is
        self, call: Call, scores: Expression, value: Expression, facts: Facts, *, result: str, likely: Item
    ) -> Finding:
        return self.finding(
            facts.span_of(call.node),
            f"`{facts.quote(scores, QUOTED)}` is masked with {facts.quote(value, 20)} {result}",
            fix=_fix(scores, value, facts) if (facts.constant_of(value) or 0) < 0 else None,
            hazard=Hazard(call.function, facts.source_of(scores), "float16"),
            evidence=(likely,),
        )


def _overflows(constant: float | None) -> bool:
    return constant is not None and -float("inf") < constant <= -FLOAT16_OVERFLOW


def _fix(scores: Expression, value: Expression, facts: Facts) -> Fix | None:
    torch, name = facts.name_for("torch"), facts.source_of(scores)
    if torch is None or not name.replace(".", "").isidentifier() or not facts.is_here(value):
        return None
    text = f"{torch}.finfo({name}.dtype).min"
    return unsafe("Mask with the least number of the dtype", Edit(facts.span_of(value), text))
