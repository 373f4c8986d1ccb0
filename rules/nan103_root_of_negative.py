"""NAN103 root-of-negative."""

from __future__ import annotations

from nanlint.rule import Finding, Item, Iterator, Op, OpHazard, Rule, differences, items, unsafe, word_set, zone

INF, QUOTED = float("inf"), 50
# A bound so close below 0 is our own caution about the last digits.
ROUNDING = 1e-4


class RootOfNegative(Rule):
    """The root of a value that can be negative, if only by rounding.

    ## Why it hurts
    `sqrt` of anything below 0 is NaN. A difference that is never negative on paper is -1e-8 in floats: 1 - c * c of
    a cosine, |a|^2 + |b|^2 - 2ab of two equal points, E[x^2] - E[x]^2 of a constant; so is x A x by a matrix that was inverted.

    ## Flagged
        sine = torch.sqrt(1 - cosine * cosine)
        distance = (a.pow(2).sum(1) + b.pow(2).sum(1) - 2 * (a * b).sum(1)).sqrt()
        mahalanobis = ((delta @ precision) * delta).sum(-1).sqrt()

    ## Instead
        sine = torch.sqrt((1 - cosine * cosine).clamp_min(1e-12))
        distance = torch.linalg.vector_norm(a - b, dim=1)

    ## Silent when
    the value was clamped or a guard keeps it from below 0; it is a sum of squares, an absolute value or a variance (where it is
    exactly 0, NAN301 tells); when nothing is known of it, not even that something was subtracted.

    ## Fix
    Unsafe: `clamp_min(1e-7)` inside the root, or 1e-12 where the dtype is not float16. The bound is above 0 because the gradient of the root at 0 is infinite.
    """

    code, name = "NAN103", "root-of-negative"
    evidence = (items.LOST_AT_ONCE,)
    hazards = tuple(zone(f"torch.{word}", "input", contains=-1, backward=False) for word in ("sqrt", "rsqrt", "pow"))
    yields_to = word_set("NAN210 NAN302")

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one root."""
        exponent = hazard.op.operands.get("exponent")
        is_root = exponent is None or exponent.number in {0.5, -0.5}
        if not is_root or not hazard.is_of_tensors or hazard.is_presumed_safe:
            return
        reason, item = _reason(hazard)
        if not reason:
            return
        edit = hazard.with_call(f".clamp_min({hazard.floor})")
        has_fix = item is not items.NOTHING_KNOWN and not hazard.is_in_place
        yield self.told(
            hazard,
            f"`{hazard.operand.quoted(QUOTED)}` {reason}: {hazard.word} is NaN there",
            fix=unsafe("Keep the value under the root above 0", edit) if has_fix else None,
            labels=hazard.label(hazard.operand.made_by, "it is computed here"),
            evidence=(item,),
        )


def _reason(hazard: OpHazard) -> tuple[str, Item]:
    """Why it can be negative, and what that is worth; no reason if nothing says so."""
    value, reach = hazard.callers, hazard.callers.range
    if reach.low == -INF and differences.is_quadratic_form(value) and not hazard.is_divided_by:
        return "is a quadratic form, which rounds below 0", items.RANGE_REACHES
    if differences.is_expanded_square(value):
        return "is a square multiplied out, which rounds below 0", items.RANGE_REACHES
    if reach.low == -INF and differences.is_sum_of_products(value):
        return "is a sum of products of any sign", items.NOTHING_KNOWN
    if reach.low < -ROUNDING and (reach.low > -INF or (reach.high < INF and differences.is_rest(value))):
        return f"can be negative (range {reach.finite()})", items.RANGE_REACHES
    less = differences.difference(value)
    is_open = reach.low == -INF and not reach.nan and less is not None and less.operands["input"].number is None
    return _reason_of_difference(less) if is_open and less is not None else ("", items.NOTHING_KNOWN)


def _reason_of_difference(less: Op) -> tuple[str, Item]:
    left, right = less.operands["input"], less.operands["other"]
    if left.range.low < 0:
        return "can be negative, as nothing says which is larger", items.NOTHING_KNOWN
    # Two squares are in order by what they mean, and still round.
    is_in_order = differences.is_size(right) or right.number is not None
    return "can be negative, if only by rounding", items.RARE if is_in_order else items.RANGE_REACHES
