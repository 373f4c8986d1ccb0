"""NAN201 exp-overflow."""

from __future__ import annotations

from nanlint.rule import (
    Call,
    Direction,
    Edit,
    Expression,
    Facts,
    Finding,
    Hazard,
    Item,
    Iterator,
    Rule,
    items,
    show,
    unsafe,
)

# From here on the result is inf in float32; in float16 all of them overflow at 11 to 16.
OVERFLOW = {"torch.exp": 88.72, "torch.expm1": 88.72, "torch.exp2": 128.0, "torch.sinh": 89.42, "torch.cosh": 89.42}
LOG_PROBABILITIES = frozenset(["logp", "logps", "logprob", "logprobs", "logpi", "neglog", "neglogp", "logpac"])
PRODUCTS = frozenset({"torch.matmul", "torch.mv", "torch.mm", "torch.bmm"})
TINY, SMALLEST, LARGEST_EPS = frozenset({"eps", "epsilon", "reg"}), 0.05, 0.2
SAMPLING, SAMPLED = ("torch.multinomial", "torch.isinf", "torch.isfinite"), "are weights to sample by"
WIDE, AMPLIFIED = frozenset({"bfloat16", "float32", "float64"}), "is amplified, and nothing bounds it"
SKETCHES = {"torch.cosh": "log(cosh(x)) is x.abs() + F.softplus(-2 * x.abs()) - math.log(2), without the detour"}
LOG_SPACE = "stay in log space: logsumexp for the sum of products, and a difference for the quotient"
QUOTED = 26


class ExpOverflow(Rule):
    """The exponential of a value that nothing bounds.

    ## Why it hurts
    `exp` is inf from 88.7 on in float32, from 11.1 on in float16. A policy that moved away has a log-ratio of 100 easily; clipped afterwards, the ratio still has the gradient `0 * inf`, NaN.

    ## Flagged
        ratio = torch.exp(log_prob - old_log_prob)

    ## Instead
        ratio = torch.exp((log_prob - old_log_prob).clamp(max=20.0))

    ## Silent when
    the exponent is known to stay below: clamped, `x - x.max()`, `-x**2`, a log-probability by itself; where no gradient passes and for `x - x.detach()`;
    in tests; for settings, decays and parts of the object. At `info`: exponents of which nothing is known, neither by name nor by range, variances and scales that are kept as logarithms,
    learnable exponents and what a layer makes, which reach 88 only when training diverges, and a log-ratio that a function is given. Not for those that something amplifies: `x / eps`, a learned factor, weights for `multinomial`, a kernel that is divided by.

    ## Fix
    Unsafe: `clamp(max=10.0)` caps the result at 2.2e4, which float16 holds (20.0 and 4.9e8 where the dtype is wider), and cuts the gradient above.
    A sketch for what is amplified, for a kernel that is divided by and for `log(cosh(x))`: they belong in log space.
    """

    code = "NAN201"
    name = "exp-overflow"
    direction = Direction.BOTH
    calls = frozenset(OVERFLOW)
    yields_to = frozenset({"NAN202"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one exponential."""
        inner, edge = call.subject, OVERFLOW[call.function]
        if inner is None or facts.is_test():
            return
        if facts.is_falling(inner) or facts.range_of(inner).greatest < edge:
            yield from self._check_kernel(call, inner, facts)
            return
        large = _why_large(call, inner, edge, facts)
        evidence, reason = (items.MADE_SO, large) if large else _why_at_all(inner, facts)
        is_told = bool(reason) and (reason == SAMPLED or facts.has_gradient(call.node))
        if not is_told or facts.is_shifted(inner) or facts.is_by_hand(call):
            return
        word, bound = call.function.rpartition(".")[2], "20.0" if facts.dtype_of(inner) in WIDE else "10.0"
        clamped = Edit(facts.span_of(inner), f"{facts.as_receiver(inner)}.clamp(max={bound})")
        is_fixed = reason != AMPLIFIED and call.function not in SKETCHES and not facts.changes_its_operand(call)
        yield self.finding(
            facts.span_of(call.node),
            f"`{facts.quote(inner, QUOTED)}` {reason}: {word} overflows above {edge:.3g}",
            evidence=(evidence,),
            fix=unsafe("Bound the exponent", clamped) if is_fixed else show(SKETCHES.get(call.function, LOG_SPACE)),
            hazard=Hazard(call.function, facts.source_of(inner), f"[{edge}, inf)"),
        )

    def _check_kernel(self, call: Call, inner: Expression, facts: Facts) -> Iterator[Finding]:
        """`K = exp(-cost / eps)`, then `a / (K @ v)`: a row that is 0 as a whole is divided by."""
        for quotient in facts.calls_of("torch.div") if facts.is_falling(inner) else ():
            total = facts.origin_of(quotient.arguments.get("other"))
            factors = total.arguments.values() if total is not None and total.function in PRODUCTS else ()
            if any(facts.origin_of(factor) is call for factor in factors) and not facts.is_mended(quotient.node):
                message = f"exp of `{facts.quote(inner, QUOTED)}` is 0 below -104, and a row of it is divided by"
                hazard = Hazard(call.function, facts.source_of(inner), "(-inf, -104]")
                yield self.finding(facts.span_of(call.node), message, fix=show(LOG_SPACE), hazard=hazard)
                return


def _why_large(call: Call, inner: Expression, edge: float, facts: Facts) -> str:
    """Why the exponent is large on inputs that do occur; empty if nothing says so."""
    reach, made_by = facts.range_of(inner), facts.origin_of(inner)
    uses = {user.function for user in facts.calls_of(*SAMPLING) if facts.origin_of(user.subject) is call}
    if uses == {SAMPLING[0]} or ("metric" in facts.function_name() and "loss" not in facts.function_name()):
        # What a model says over a temperature is a log-probability more often than not.
        given = made_by.arguments.values() if made_by is not None else ()
        is_tempered = any({"temperature", "temp"} & set(facts.words_of(each)) for each in given)
        return SAMPLED if uses == {SAMPLING[0]} and not is_tempered else ""
    if call.function in SKETCHES and any(facts.origin_of(log.subject) is call for log in facts.calls_of("torch.log")):
        return "has no known bound"
    if edge <= reach.greatest < float("inf") and facts.is_tensor(inner) and facts.constant_of(inner) is None:
        return f"can be {reach.greatest:g}"
    sides = (made_by.subject, made_by.arguments.get("other")) if made_by is not None else (None, None)
    if made_by is not None and made_by.function == "torch.sub" and not facts.is_same(*sides):
        return "is a log-ratio that nothing bounds" if all(_is_log_probability(side, facts) for side in sides) else ""
    return AMPLIFIED if made_by is not None and _amplifies(made_by, facts) else ""


def _why_at_all(inner: Expression, facts: Facts) -> tuple[Item, str]:
    """Why the exponent has no bound, by its name or because it is learned; empty if nothing says so."""
    scaled = facts.unscaled(inner)
    words = set(facts.words_of(scaled))
    if {"log", "ratio"} <= words and facts.origin_of(scaled) is None:
        return items.DECIDED_ELSEWHERE if facts.is_parameter(
            scaled
        ) else items.MADE_SO, "is a log-ratio that nothing bounds"
    unbounded = facts.unbounded(scaled)
    if unbounded:
        return items.NAME_ALONE, unbounded
    return items.NOTHING_KNOWN, "has no known bound" if facts.is_open_exponent(inner) else ""


def _amplifies(call: Call, facts: Facts) -> bool:
    """`x / eps`, and logits times something learned: neither of the two has to be large by itself."""
    above, below = call.subject, call.arguments.get("other")
    # `-s / eps` is how a cost is written.
    if above is None or below is None or facts.is_known(above) or facts.operand_of(above, "torch.neg") is not None:
        return False
    if call.function == "torch.div":
        constant, is_eps = facts.constant_of(below), not TINY.isdisjoint(facts.words_of(below))
        return is_eps if constant is None else 0 < constant < (LARGEST_EPS if is_eps else SMALLEST)
    pairs = ((above, below), (below, above)) if call.function == "torch.mul" else ()
    learned = [other for one, other in pairs if facts.value_of(one).learnable]
    return any(facts.is_tensor(other) and not facts.is_known(other) for other in learned)


def _is_log_probability(node: Expression | None, facts: Facts) -> bool:
    words = set(facts.words_of(node)) if node is not None else set()
    return bool(words & LOG_PROBABILITIES) or ("log" in words and bool(words & {"prob", "probs"}))
