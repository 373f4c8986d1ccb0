"""NAN104 inverse-function-domain."""

from __future__ import annotations

from nanlint.rule import Direction, Edit, Finding, Fix, Iterator, OpHazard, Rule, items, patterns, unsafe, zone

INF = float("inf")
# The operation -> the ends of its domain; at them its gradient is infinite, past them it is NaN.
DOMAINS = {
    **dict.fromkeys(("torch.acos", "torch.asin", "torch.atanh", "torch.erfinv"), (-1.0, 1.0)),
    "torch.acosh": (1.0, INF),
    "torch.logit": (0.0, 1.0),
}
SINES = frozenset({"torch.acos", "torch.asin"})
INFINITE_AT_THE_ENDS = frozenset({"torch.atanh", "torch.erfinv", "torch.logit"})
QUOTED = 45


class InverseFunctionDomain(Rule):
    """An inverse function at or past the end of its domain.

    ## Why it hurts
    The cosine of a vector with itself is 1.0000001 as often as 1, and `acos` past 1 is NaN. Clamped to exactly 1 the
    forward is finite and the gradient -inf. `atanh`, `erfinv` and `logit` are infinite at their ends already.

    ## Flagged
        angle = torch.acos(torch.nn.functional.cosine_similarity(a, b))
        safe_looking = torch.acos(dot.clamp(-1, 1))

    ## Instead
        angle = torch.acos(torch.nn.functional.cosine_similarity(a, b).clamp(-1 + 1e-6, 1 - 1e-6))
        p = torch.logit(probs, eps=1e-6)

    ## Silent when
    the argument is clamped or scaled inside the open interval by an eps that its dtype can hold; for `logit(eps=...)`; for a clamp to
    the ends where no gradient passes.

    ## Fix
    Unsafe: a clamp to `-1 + torch.finfo(x.dtype).eps` and `1 - ...`, which moves what is closer to the ends. There is none where
    no name has the dtype, since half types round 1e-6 away. The angle of two vectors is exact as `atan2(cross, dot)`.
    """

    code, name = "NAN104", "inverse-function-domain"
    evidence = (items.LOST_AT_ONCE,)
    hazards = tuple(zone(operation, "input") for operation in DOMAINS)
    yields_to = frozenset({"NAN203"})

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one inverse function."""
        (low, high), reach = DOMAINS[hazard.op.function], hazard.callers.range
        reason, is_past = f"can be {high if reach.contains(high) else low:g} (range {reach})", False
        if patterns.is_dot_product(hazard.callers) and (reach.low < low or reach.high > high):
            reason, is_past = "is a dot product and can round past 1", True
        elif hazard.op.function in SINES and patterns.is_element_of_matrix(hazard.callers):
            reason, is_past = "is an element of a rotation and can round past 1", True
        elif reach.low == -INF or (reach.high == INF and high != INF):
            reason, is_past = "is kept inside by nothing here", True
        elif reach.low < low or reach.high > high:
            reason, is_past = f"can be past {low:g} or {high:g} (range {reach})".replace(" or inf", ""), True
        is_forward = is_past or hazard.op.function in INFINITE_AT_THE_ENDS
        if not is_forward and hazard.is_without_gradient:
            return
        name = hazard.op.function.rpartition(".")[2]
        breaks = f"`{name}` breaks" if is_forward else f"the gradient of `{name}` is infinite"
        yield self.told(
            hazard,
            f"`{hazard.operand.quoted(QUOTED)}` {reason}, where {breaks}",
            direction=Direction.BOTH if is_forward else Direction.BACKWARD,
            fix=_fix(hazard) if "nothing" not in reason else None,
            evidence=(items.RANGE_REACHES,),
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
