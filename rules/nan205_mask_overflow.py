"""NAN205 mask-overflow."""

from __future__ import annotations

from nanlint.rule import Call, Edit, Expression, Facts, Finding, Fix, Hazard, Iterator, Rule, Severity, unsafe

FILL, WHERE, PRODUCT = "torch.masked_fill", "torch.where", "torch.mul"
# The first numbers that float16 rounds to an infinity; what is infinite already is NAN107's business.
FLOAT16_OVERFLOW = 65520.0
MASKS = frozenset({"mask", "masks", "masked", "pad", "padding", "invalid", "keep"})
QUOTED = 24


class MaskOverflow(Rule):
    """A mask constant that float16 cannot hold.

    ## Why it hurts
    float16 ends at -65504. `masked_fill(mask, -1e9)` raises there, `where` and arithmetic turn the -1e9 into -inf: `0 * -inf`
    is NaN for what the mask keeps, and a row that is masked as a whole is NaN after the softmax.

    ## Flagged
        scores = torch.matmul(query, key)
        scores = torch.where(mask, scores, -1e9)

    ## Instead
        scores = torch.matmul(query, key)
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)

    ## Silent when
    the constant fits (`-1e4`) or is -inf (NAN107 judges that), the scores were cast to float32, or nothing says that they are
    float16 at times: neither a product of matrices, which autocast computes in half, nor the name of attention scores.

    ## Fix
    Unsafe: `torch.finfo(scores.dtype).min` masks in every dtype.
    """

    code = "NAN205"
    name = "mask-overflow"
    severity = Severity.WARNING
    preview = True
    dtypes = ("float16",)
    calls = frozenset({FILL, WHERE, PRODUCT})
    beside = frozenset(
        {"mask", "attn_mask", "attention_mask", "masked_fill", "masked_fill_", "softmax", "log_softmax", "Softmax"}
    )

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one mask."""
        if facts.is_test():
            return
        if call.function == PRODUCT:
            yield from self._check_product(call, facts)
            return
        found = facts.filling(call)
        constant = facts.constant_of(found.value) if found is not None else None
        if found is None or not _overflows(constant) or not facts.can_be_half(found.scores):
            return
        result = "and masked_fill raises" if call.function == FILL else "so it is -inf"
        yield self._finding(call, found.scores, found.value, facts, f"where float16 ends at -65504, {result}")

    def _check_product(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """`(1 - mask) * -1e9`, which is then added to scores."""
        for mask, value in ((call.subject, call.arguments.get("other")), (call.arguments.get("other"), call.subject)):
            if mask is None or value is None or not _overflows(facts.constant_of(value)):
                continue
            left = facts.rest_to_one(mask)
            if MASKS.isdisjoint(facts.words_of(left if left is not None else mask)):
                continue
            if facts.dtype_of(mask) in {"", "float16"} and facts.is_tensor(mask):
                yield self._finding(call, mask, value, facts, "where float16 ends at -65504, so it is -inf or NaN")

    def _finding(self, call: Call, scores: Expression, value: Expression, facts: Facts, result: str) -> Finding:
        return self.finding(
            facts.span_of(call.node),
            f"`{facts.quote(scores, QUOTED)}` is masked with {facts.quote(value, 20)} {result}",
            fix=_fix(scores, value, facts),
            hazard=Hazard(call.function, facts.source_of(scores), "float16"),
        )


def _overflows(constant: float | None) -> bool:
    return constant is not None and -float("inf") < constant <= -FLOAT16_OVERFLOW


def _fix(scores: Expression, value: Expression, facts: Facts) -> Fix | None:
    torch, name = facts.name_for("torch"), facts.source_of(scores)
    if torch is None or not name.replace(".", "").isidentifier() or not facts.is_here(value):
        return None
    text = f"{torch}.finfo({name}.dtype).min"
    return unsafe("Mask with the least number of the dtype", Edit(facts.span_of(value), text))
