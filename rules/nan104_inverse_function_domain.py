"""NAN104 inverse-function-domain."""

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
    patterns,
    torch_names,
    unsafe,
    word_set,
    zone,
)

INF = float("inf")
# The operation -> the ends of its domain; at them its gradient is infinite, past them it is NaN.
DOMAINS = {
    **dict.fromkeys(("torch.acos", "torch.asin", "torch.atanh", "torch.erfinv"), (-1.0, 1.0)),
    "torch.acosh": (1.0, INF),
    "torch.logit": (0.0, 1.0),
}
SINES = torch_names("acos asin")
INFINITE_AT_THE_ENDS = torch_names("atanh erfinv logit")
QUOTED = 45
ROUNDING = 1e-2


class InverseFunctionDomain(Rule):
    """An inverse function at or past the end of its domain.

    ## Why it hurts
    The cosine of a vector with itself can be 1.0000001, and `acos` past 1 is NaN. Clamped to exactly 1 or -1, the
    forward is finite and the gradient is infinite. `atanh`, `erfinv` and `logit` are infinite at their ends already.

    ## Flagged
        angle = torch.acos(torch.nn.functional.cosine_similarity(a, b))
        safe_looking = torch.acos(dot.clamp(-1, 1))

    ## Instead
        angle = torch.acos(torch.nn.functional.cosine_similarity(a, b).clamp(-1 + 1e-6, 1 - 1e-6))
        p = torch.logit(probs, eps=1e-6)

    ## Silent when
    the argument is clamped or scaled inside the open interval; for `logit(eps=...)` (of an eps that half formats round away NAN203
    tells); for a clamp to the ends where no gradient passes; for numbers that somebody sets.

    ## Fix
    Unsafe: a clamp to `-1 + torch.finfo(x.dtype).eps` and `1 - ...`, which moves what is closer to the ends. There is none where
    no name has the dtype, since half types round 1e-6 away. The angle of two vectors is exact as `atan2(cross, dot)`.
    """

    code, name = "NAN104", "inverse-function-domain"
    evidence = (items.LOST_AT_ONCE,)
    hazards = tuple(zone(operation, "input") for operation in DOMAINS)
    yields_to = word_set("NAN203 NAN302")

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one inverse function."""
        (low, high), reach, word = DOMAINS[hazard.op.function], hazard.callers.range, hazard.word
        domain = f"[{low:g}, {high:g}{')' if high == INF else ']'}"
        is_past = reach.low < low or reach.high > high
        is_forward = is_past or hazard.op.function in INFINITE_AT_THE_ENDS
        if hazard.is_half_alone:
            return
        quoted = f"`{hazard.operand.quoted(QUOTED)}`"
        is_open = reach.low == -INF or (reach.high == INF and high != INF)
        is_known = True
        if is_past and patterns.is_dot_product(hazard.callers):
            message = f"{quoted} is a dot product, which rounds past 1: {word} is NaN there"
        elif is_past and hazard.op.function in SINES and patterns.is_element_of_matrix(hazard.callers):
            message = f"{quoted} is an element of a matrix; of a rotation it rounds past 1, where {word} is NaN"
        elif is_past and is_open:
            message, is_known = f"nothing keeps {quoted} within {domain}: {word} is NaN outside", False
        elif is_past and low - ROUNDING <= reach.low and reach.high <= high + ROUNDING:
            message = f"{quoted} rounds past {high:g}: {word} is NaN there"
        elif is_past:
            message = f"{quoted} can be outside of {domain} (range {reach}): {word} is NaN there"
        else:
            end = high if reach.contains(high) else low
            what = word if is_forward else f"the gradient of {word}"
            message = f"{quoted} can be exactly {end:g} (range {reach}): {what} is infinite there"
        yield self.told(
            hazard,
            message,
            direction=Direction.BOTH if is_forward else Direction.BACKWARD,
            fix=_fix(hazard) if is_known else None,
            evidence=(items.RANGE_REACHES if is_known else items.NOTHING_KNOWN,),
        )


def _fix(hazard: OpHazard) -> Fix | None:
    """A clamp inside the open interval, by the eps of the dtype of something that is named."""
    inner, torch, span = hazard.inside("torch.clamp"), hazard.name_of("torch"), hazard.operand.span
    if (
        torch is None
        or span is None
        or DOMAINS[hazard.op.function] != (-1.0, 1.0)
        or hazard.is_in_place
        or not inner.named
    ):
        return None
    eps = f"{torch}.finfo({inner.named}.dtype).eps"
    return unsafe("Clamp inside the open interval", Edit(span, f"{inner.as_receiver}.clamp(-1 + {eps}, 1 - {eps})"))
