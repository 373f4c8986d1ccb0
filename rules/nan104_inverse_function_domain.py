"""NAN104 inverse-function-domain."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Edit, Expression, Facts, Finding, Hazard, Iterator, Rule, items, unsafe

ACOSH, LOGIT = "torch.acosh", "torch.logit"
INF = float("inf")
# The operation -> the ends of its domain; at them its gradient is infinite, past them it is NaN.
DOMAINS = {**dict.fromkeys(("torch.acos", "torch.asin", "torch.atanh", "torch.erfinv"), (-1.0, 1.0)), ACOSH: (1.0, INF), LOGIT: (0.0, 1.0)}  # fmt: skip
SINES = frozenset({"torch.acos", "torch.asin"})
ANGLES = SINES | {"torch.atanh", ACOSH}
QUOTED, UNKEPT = 45, "is kept inside by nothing here"


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
    the argument is clamped inside the open interval by an eps that its dtype can hold, or scaled into it; for `logit(eps=...)`; for a
    clamp to the ends where no gradient passes (at `info` where no name says that one does, and where a `where` or a test of `isclose` takes the ends out); when the argument is neither known nor a dot product, nor a part of a length, `z / r`, nor an element of a rotation, `matrix[..., 0, 0]` (at `info`, as is what a function is given or computes); for a number that is made a tensor, which is a setting; in tests.

    ## Fix
    Unsafe: a clamp to `-1 + torch.finfo(x.dtype).eps` and `1 - ...`, which moves what is closer to the ends. There is none where
    no name has the dtype, since half types round 1e-6 away. The angle of two vectors is exact as `atan2(cross, dot)`.
    """

    code = "NAN104"
    name = "inverse-function-domain"
    evidence = (items.LOST_AT_ONCE,)
    direction = Direction.BOTH
    calls = frozenset(DOMAINS)
    yields_to = frozenset({"NAN203"})
    beside = frozenset({word + end for word in ("acos", "arccos", "asin", "arcsin", "atanh", "arctanh", "acosh", "arccosh", "erfinv", "logit") for end in ("", "_")})  # fmt: skip

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one inverse function."""
        inner = call.subject
        if inner is None or facts.is_test() or not facts.is_tensor(call.node) or "eps" in call.arguments:
            return
        reason, direction = _reason(call, inner, facts)
        # What a `where` throws away, or a test has taken out before, is NaN in the gradient alone, if at all.
        is_mended = facts.is_mended(call.node) or facts.mentions("isclose", "allclose")
        direction = Direction.BACKWARD if is_mended else direction
        if not reason or (is_mended and not facts.is_dot(inner)):
            return
        if direction is Direction.BACKWARD and not _is_trained(call, inner, facts):
            return
        is_rare = is_mended or facts.is_part_of_length(inner) or not facts.is_trained()
        name = call.function.rpartition(".")[2]
        result = f"the gradient of `{name}` is infinite" if direction is Direction.BACKWARD else f"`{name}` breaks"
        edit = _clamped(call, inner, facts) if reason != UNKEPT else None
        yield self.finding(
            facts.span_of(call.node),
            f"`{facts.quote(inner, QUOTED)}` {reason}, where {result}",
            hazard=Hazard(call.function, facts.source_of(inner), f"the ends of {DOMAINS[call.function]}"),
            direction=direction,
            fix=unsafe("Clamp inside the open interval", edit) if edit is not None else None,
            dtypes=_dtypes(call, inner, facts) or self.dtypes,
            evidence=(items.NOTHING_KNOWN,)
            if reason == UNKEPT
            else (items.RARE,)
            if direction is Direction.BACKWARD and is_rare
            else (items.RANGE_REACHES,),
        )


def _is_trained(call: Call, inner: Expression, facts: Facts) -> bool:
    return facts.could_train() and facts.has_gradient(call.node) and facts.has_gradient(inner)


def _reason(call: Call, inner: Expression, facts: Facts) -> tuple[str, Direction]:
    """Why it can be at or past an end, and in which direction that breaks; empty when nothing says so."""
    low, high = DOMAINS[call.function]
    reach = facts.range_of(inner)
    if any(facts.operand_of(inner, each) is not None for each in ("torch.where", "torch.tensor")):
        # Somebody has picked what may go in, or set it.
        return "", Direction.BOTH
    # A clamp on one side alone is known to end there, whatever the other side is.
    is_open = reach.low == -INF or (reach.high == INF and high != INF)
    if is_open and not (reach.low == low or reach.high == high < INF):
        return _told_by_form(call, inner, facts)
    if not is_open and (reach.low < low or reach.high > high) and not reach.nan:
        return f"can be past {low:g} or {high:g} (range {reach})".replace(" or inf", ""), Direction.BOTH
    if reach.contains(low) or reach.contains(high):
        infinite_there = call.function in {"torch.atanh", "torch.erfinv", LOGIT}
        end = low if not reach.contains(high) else high
        return f"can be {end:g} (range {reach})", Direction.BOTH if infinite_there else Direction.BACKWARD
    return "", Direction.BOTH


def _told_by_form(call: Call, inner: Expression, facts: Facts) -> tuple[str, Direction]:
    """As `_reason`, of what has no range: a dot product, a part of a length, what nothing is known of."""
    is_angle = call.function in ANGLES and not facts.is_given(inner)
    if is_angle and facts.is_dot(inner):
        return "is a dot product and can round past 1", Direction.BOTH
    if call.function in SINES and facts.is_of_rotation(inner):
        return "is an element of a rotation and can round past 1", Direction.BOTH
    if is_angle and facts.is_part_of_length(inner):
        return "can be 1", Direction.BACKWARD
    # A factor scales it into the interval, for all that is known.
    is_scaled = any(facts.operand_of(inner, each) is not None for each in ("torch.mul", "torch.div"))
    return UNKEPT if facts.is_unkept(inner) and not is_scaled else "", Direction.BOTH


def _dtypes(call: Call, inner: Expression, facts: Facts) -> tuple[str, ...]:
    """The dtypes in which the bound of a clamp rounds to the end of the domain; () when that is not the reason."""
    clamp = facts.origin_of(inner)
    bound = facts.constant_of(clamp.arguments.get("max")) if clamp is not None and facts.is_here(clamp.node) else None
    return facts.dtypes_where(bound, DOMAINS[call.function][1]) if bound is not None else ()


def _clamped(call: Call, inner: Expression, facts: Facts) -> Edit | None:
    """A clamp inside the open interval, by the eps of the dtype of something that is named."""
    clamp, torch = facts.call_of(inner), facts.name_for("torch")
    operand = clamp.subject if clamp is not None and clamp.function == "torch.clamp" and clamp.subject else inner
    made_by = facts.call_of(operand)
    named = facts.source_of(made_by.subject if made_by is not None and made_by.subject is not None else operand)
    is_open = DOMAINS[call.function] == (-1.0, 1.0) and not facts.changes_its_operand(call)
    if torch is None or not is_open or "#" in facts.source_of(inner) or not named.replace(".", "").isidentifier():
        return None
    eps = f"{torch}.finfo({named}.dtype).eps"
    return Edit(facts.span_of(inner), f"{facts.as_receiver(operand)}.clamp(-1 + {eps}, 1 - {eps})")
