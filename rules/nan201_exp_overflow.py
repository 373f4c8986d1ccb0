"""NAN201 exp-overflow."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Edit, Expression, Facts, Finding, Hazard, Iterator, Rule, Severity, unsafe

# From here on the result is inf in float32; in float16 all of them overflow at 11 to 16.
OVERFLOW = {"torch.exp": 88.72, "torch.expm1": 88.72, "torch.exp2": 128.0, "torch.sinh": 89.42, "torch.cosh": 89.42}
BY_HAND = ("torch.log", "torch.log1p", "torch.div", "torch.reciprocal")
SCALINGS = ("torch.mul", "torch.div", "torch.neg")
LOG_PROBABILITIES = frozenset(["logp", "logps", "logprob", "logprobs", "logpi", "neglogp", "logpac"])
SPREADS = frozenset({"var", "vars", "variance", "std", "stds", "sigma", "sigmas", "scale"})
QUOTED = 26


class ExpOverflow(Rule):
    """The exponential of a value that nothing bounds.

    ## Why it hurts
    `exp` is inf from 88.7 on in float32 and from 11.1 on in float16. A policy that moved away from the one that acted has a
    log-ratio of 100 easily; the ratio is inf, and even where it is clipped afterwards its gradient is `0 * inf`, NaN.

    ## Flagged
        ratio = torch.exp(log_prob - old_log_prob)

    ## Instead
        ratio = torch.exp((log_prob - old_log_prob).clamp(max=20.0))

    ## Silent when
    the exponent is known to stay below: clamped, `x - x.max()`, `-x**2`, a log-probability by itself; where no gradient passes
    and for `x - x.detach()`; in tests; when nothing is known of the exponent, neither by its name nor by its range. Of severity
    info are variances and scales that are kept as logarithms and learnable exponents, which reach 88 only when training diverges.

    ## Fix
    Unsafe: `clamp(max=20.0)` caps the result at 4.9e8 and cuts the gradient above.
    """

    code = "NAN201"
    name = "exp-overflow"
    severity = Severity.WARNING
    preview = True
    direction = Direction.BOTH
    calls = frozenset(OVERFLOW)
    yields_to = frozenset({"NAN202"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one exponential."""
        inner, edge = call.subject, OVERFLOW[call.function]
        if (
            inner is None
            or facts.is_test()
            or facts.range_of(inner).greatest < edge
            or not facts.has_gradient(call.node)
        ):
            return
        severity, reason = _evidence(inner, edge, facts)
        if not reason or facts.is_shifted(inner) or facts.is_falling(inner) or _is_by_hand(call, facts):
            return
        word = call.function.rpartition(".")[2]
        clamped = None if facts.changes_its_operand(call) else f"{facts.as_receiver(inner)}.clamp(max=20.0)"
        yield self.finding(
            facts.span_of(call.node),
            f"`{facts.quote(inner, QUOTED)}` {reason} (range {facts.range_of(inner)}): its {word} can be inf",
            severity=severity,
            fix=unsafe("Bound the exponent", Edit(facts.span_of(inner), clamped)) if clamped is not None else None,
            hazard=Hazard(call.function, facts.source_of(inner), f"[{edge}, inf)"),
        )


def _evidence(inner: Expression, edge: float, facts: Facts) -> tuple[Severity, str]:
    """Why the exponent can be large, as far as anything says so."""
    difference = facts.origin_of(inner)
    if difference is not None and difference.function == "torch.sub":
        sides = (difference.subject, difference.arguments.get("other"))
        if all(_is_log_probability(side, facts) for side in sides) and not facts.is_same(*sides):
            return Severity.WARNING, "is a log-ratio without bound"
    reach = facts.range_of(inner)
    if edge <= reach.greatest < float("inf") and facts.is_tensor(inner) and facts.constant_of(inner) is None:
        return Severity.WARNING, "can be too large"
    scaled = _unscaled(inner, facts)
    words = facts.words_of(scaled)
    if "log" in words and "ratio" in words and facts.origin_of(scaled) is None:
        return Severity.WARNING, "is a log-ratio without bound"
    if facts.value_of(scaled).learnable:
        return Severity.INFO, "is learnable and has no bound"
    if {"logvar", "logstd", "logvars"} & set(words) or ("log" in words and SPREADS & set(words)):
        return Severity.INFO, "is a logarithm without bound"
    return Severity.INFO, ""


def _is_log_probability(node: Expression | None, facts: Facts) -> bool:
    words = facts.words_of(node) if node is not None else ()
    spelled = {"log", "prob"} <= set(words) or {"log", "probs"} <= set(words) or "neglog" in words
    return spelled or not LOG_PROBABILITIES.isdisjoint(words)


def _unscaled(node: Expression, facts: Facts) -> Expression:
    """`logvar` of `0.5 * logvar` and of `-logvar`."""
    for _ in range(3):
        call = facts.call_of(node)
        if call is None or call.function not in SCALINGS or call.subject is None:
            return node
        other = call.arguments.get("other")
        if other is None or facts.constant_of(other) is not None:
            node = call.subject
        elif facts.constant_of(call.subject) is not None:
            node = other
        else:
            return node
    return node


def _is_by_hand(call: Call, facts: Facts) -> bool:
    """Whether it is part of a softmax or the like by hand, of which NAN202 tells."""
    shapes = (facts.by_hand(outer) for outer in facts.calls_of(*BY_HAND))
    return any(shape is not None and call in shape.exps for shape in shapes)
