"""NAN107 softmax-of-masked-row."""

from __future__ import annotations

from nanlint.rule import (
    Call,
    Direction,
    Edit,
    Expression,
    Facts,
    Filling,
    Finding,
    Fix,
    Hazard,
    Iterator,
    Rule,
    items,
    unsafe,
)

SOFTMAX, LOG_SOFTMAX, LOGSUMEXP = "torch.softmax", "torch.log_softmax", "torch.logsumexp"
RESULTS = {
    SOFTMAX: "softmax is NaN",
    LOG_SOFTMAX: "log_softmax is NaN",
    LOGSUMEXP: "the logsumexp gradient is NaN",
}
# Filters of a sampler keep at least the best token.
SAMPLERS = ("sampl", "filter", "top_k", "top_p", "topk", "warp", "generate", "decode")
SCALING = frozenset({"torch.div", "torch.mul"})
ORDINARY = 100
QUOTED = 30


class SoftmaxOfMaskedRow(Rule):
    """The softmax over scores that a mask has filled with -inf, of which a whole row can be masked.

    ## Why it hurts
    A row of nothing but -inf has no largest score: softmax computes `-inf - -inf`, which is NaN, and the NaN spreads from one
    padded sequence or one empty set to every gradient of the batch. Where two masks meet, as of queries and of keys, that
    happens every day; a single mask does it for an empty sequence alone, and is of severity info.

    ## Flagged
        hidden = padded_queries[:, :, None] | padded_keys[:, None, :]
        scores = scores.masked_fill(hidden, float("-inf"))
        weights = torch.softmax(scores, dim=-1)

    ## Instead
        hidden = padded_queries[:, :, None] | padded_keys[:, None, :]
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)

    ## Silent when
    the mask spares an element of each row by what it is: causal alone, by rank, or by the scores themselves; when the weights
    are repaired right behind (`nan_to_num`, `masked_fill`, `where`) or a condition asked for the mask; in samplers and
    tests; for the `logsumexp` of filled scores, whose -inf is right unless it is taken from them; for `scaled_dot_product_attention`, which gives 0 for such a row.

    ## Fix
    Unsafe: with `torch.finfo(dtype).min` a fully masked row becomes a uniform one. Half of that for a `log_softmax`, which is -inf
    again in float16 otherwise.
    """

    code = "NAN107"
    name = "softmax-of-masked-row"
    direction = Direction.FORWARD
    calls = frozenset(RESULTS)

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one softmax."""
        found = _first_filling(call, facts)
        if found is None or facts.is_test() or facts.is_mended(call.node) or _is_filled_again(call.subject, facts):
            return
        if any(word in facts.function_name() for word in SAMPLERS) or facts.is_tested(found.mask):
            return
        # Filled scores have no gradient, and -inf is what the logsumexp of nothing is.
        is_taken = call.function == LOGSUMEXP and _is_taken_from_scores(call, facts)
        if call.function == LOGSUMEXP and not is_taken and not (found.is_added and facts.has_gradient(call.node)):
            return
        result = RESULTS[LOG_SOFTMAX if is_taken else call.function]
        # The softmax breaks, but the mistake is the -inf.
        place = found.call.node if facts.is_here(found.call.node) else call.node
        yield self.finding(
            facts.span_of(place),
            f"{result} for any row that `{facts.quote(found.mask, QUOTED)}` fills completely with -inf",
            fix=_fix(found, facts, is_log=is_taken or call.function == LOG_SOFTMAX),
            hazard=Hazard(call.function, facts.quote(call.subject, QUOTED) if call.subject is not None else "", "-inf"),
            evidence=(items.MADE_SO,) if _is_ordinary(found, call, facts) else (items.DECIDED_ELSEWHERE,),
            direction=Direction.BOTH if found.is_added else Direction.FORWARD,
            labels=facts.labels_at(call.node, f"the {call.function[6:]} is taken here", apart_from=place),
        )


def _is_ordinary(found: Filling, call: Call, facts: Facts) -> bool:
    """Two masks meet, and they are not masks that a caller may leave out: whether those take whole rows is the caller's."""
    # `scores[mask] = -inf` is looked for where all is shown.
    return (
        found.call.form.value != "operator"
        and facts.is_combined(found, call.subject)
        and not facts.is_optional(found.mask)
    )


def _is_taken_from_scores(call: Call, facts: Facts) -> bool:
    """Whether `x - logsumexp(x)` is computed, which is a log_softmax: -inf - -inf where all is masked."""
    return any(
        facts.origin_of(less.arguments.get("other")) is call and facts.is_same(less.subject, call.subject)
        for less in facts.calls_of("torch.sub")
    )


def _is_filled_again(scores: Expression | None, facts: Facts) -> bool:
    """Whether a mask with an ordinary number lies over the others, as for the rows that are masked altogether."""
    scaled = facts.origin_of(scores)
    scores = scaled.subject if scaled is not None and scaled.function in SCALING else scores
    fills = (each for each in facts.origins_of(scores) if each.function == "torch.masked_fill")
    numbers = (facts.constant_of(each.arguments.get("value")) for each in fills)
    return any(number is not None and abs(number) <= ORDINARY for number in numbers)


def _first_filling(call: Call, facts: Facts) -> Filling | None:
    """Of several masks on the same scores, the first that can take a whole row: a causal one may lie over it."""
    filling, first = facts.filling_behind(call.subject), None
    while filling is not None:
        first = first if facts.leaves_something(filling) else filling
        filling = facts.filling_behind(filling.scores)
    return first


def _fix(found: Filling, facts: Facts, *, is_log: bool) -> Fix | None:
    torch, scores = facts.name_for("torch"), facts.source_of(found.scores)
    # Added to a score, the least number is -inf again in float16.
    if found.is_added or torch is None or not scores.replace(".", "").isidentifier() or not facts.is_here(found.value):
        return None
    # A log_softmax takes the sum from it, and must not pass the end of float16 by that.
    text = f"{torch}.finfo({scores}.dtype).min{' / 2' if is_log else ''}"
    return unsafe("Fill with a finite number", Edit(facts.span_of(found.value), text))
