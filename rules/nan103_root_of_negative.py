"""NAN103 root-of-negative."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Edit, Expression, Facts, Finding, Hazard, Iterator, Rule, items, unsafe

SQRT, RSQRT, POWER, DIFFERENCE, PRODUCT = "torch.sqrt", "torch.rsqrt", "torch.pow", "torch.sub", "torch.mul"
INF, EINSUM = float("inf"), "torch.einsum"
# A bound so close below 0 is our own caution about the last digits.
ROUNDING = 1e-4
SIGNED = frozenset({"torch.cos", "torch.sin", "torch.tanh", "torch.erf", "torch.cosine_similarity"})
DIMENSIONS = frozenset({"dim", "keepdim"})
PRODUCTS = frozenset({"torch.matmul", "torch.bmm", "torch.mm", EINSUM})
SUMS = PRODUCTS | {"torch.sum"}
# Shares, levels and rates are kept below 1 by those who make them.
SHARES = frozenset(
    {"noise", "level", "scale", "alpha", "alphas", "beta", "gamma", "eccentricity", "e", "ratio", "rate", "decay", "prob", "fraction"}
)  # fmt: skip
QUOTED, IN_NO_ORDER = 50, "can be negative, for all that is known here"
QUADRATIC = "is a quadratic form and can round below 0"


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
    the value was clamped; it is 1 less the square of a share, a level or a rate by its name; it is a sum of squares, an absolute value or a variance (where it is exactly 0, NAN301 speaks); when nothing
    is known of it, and of a difference of two squares, which are in order by what they mean; under a guard; in tests. At `info` for a difference of two things that stand in no known order, for a sum of products, for a quadratic form that something is divided by the root of, and, but for other
    quadratic forms, in code that is not trained by its name: schedules, metrics, sampling.

    ## Fix
    Unsafe: `clamp_min(1e-7)` inside the root, or 1e-12 where the dtype is not float16. The bound is above 0 because the gradient of the root at 0 is infinite.
    """

    code = "NAN103"
    name = "root-of-negative"
    evidence = (items.LOST_AT_ONCE,)
    direction = Direction.BOTH
    calls = frozenset({SQRT, RSQRT, POWER})
    yields_to = frozenset({"NAN210", "NAN302"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one root."""
        inner = call.subject
        if inner is None or facts.is_test() or not facts.is_tensor(call.node) or not _is_root(call, facts):
            return
        is_quadratic = facts.is_quadratic_form(call) and facts.is_unkept(inner)
        reason = QUADRATIC if is_quadratic else _reason(inner, facts)
        if reason and (facts.may_train() or not facts.is_mended(call.node)):
            message = f"`{facts.quote(inner, QUOTED)}` {reason}, and its root is NaN there"
            fix = None
            if not facts.changes_its_operand(call) and reason != IN_NO_ORDER:
                text = f"{facts.as_receiver(inner)}.clamp_min({facts.floor_for(inner)})"
                fix = unsafe("Keep the value under the root above 0", Edit(facts.span_of(inner), text))
            hazard = Hazard(call.function, facts.source_of(inner), "below 0")
            is_sure = is_quadratic or (facts.may_train() and reason != IN_NO_ORDER)
            evidence = (items.RANGE_REACHES,) if is_sure else (items.NOTHING_KNOWN,)
            yield self.finding(facts.span_of(call.node), message, fix=fix, hazard=hazard, evidence=evidence)


def _is_root(call: Call, facts: Facts) -> bool:
    exponent = facts.constant_of(call.arguments.get("exponent"))
    return call.function != POWER or exponent in {0.5, -0.5}


def _reason(inner: Expression, facts: Facts) -> str:
    """Why it can be negative; empty when nothing says so."""
    reach, origin = facts.range_of(inner), facts.origin_of(inner)
    if reach.low > -INF and origin is not None and origin.function in SIGNED:
        return f"can be negative (range {reach})"
    made_by = facts.value_of(inner).made_by
    if (facts.is_expanded_square(inner) and reach.low < 0) or _is_form(inner, facts):
        return "is a square multiplied out and can round below 0" if facts.is_expanded_square(inner) else IN_NO_ORDER
    if made_by is None or made_by.function != DIFFERENCE or not facts.is_here(made_by.node) or reach.low >= -ROUNDING:
        return ""
    left, right = made_by.arguments.get("input", inner), made_by.arguments.get("other", inner)
    if facts.constant_of(left) is not None:
        return f"can be negative (range {reach})" if _is_square(right, facts) and not _is_of_share(right, facts) else ""
    # What is taken from a sum of squares is, on paper, never more, and floats round both. Two squares are ordered by what they mean.
    is_positive = facts.is_known(left) and facts.range_of(left).low >= 0 and facts.is_tensor(left)
    factors = [right, *(made.arguments.values() if (made := facts.call_of(right)) and made.function == PRODUCT else ())]
    is_taken = not facts.is_number(right) and not any(_is_square(factor, facts) for factor in factors)
    is_taken = is_taken and not facts.is_bounded(left)
    if is_positive and is_taken:
        return "can be negative by rounding"
    return IN_NO_ORDER if facts.is_unkept(left) and facts.is_unkept(right) else ""


def _is_form(inner: Expression, facts: Facts) -> bool:
    """Whether it is a sum of products of which nothing is known; of a bank of filters and sizes NAN301 tells."""
    origin = facts.origin_of(inner)
    if origin is None or origin.function not in SUMS - {EINSUM} or not (facts.is_unkept(inner) and facts.is_dot(inner)):
        return False
    factors = [factor for name, factor in origin.arguments.items() if name not in DIMENSIONS]
    is_square = any(facts.is_same(one, other) for one in factors for other in factors if one is not other)
    return not is_square and not any(facts.range_of(factor).low >= 0 for factor in factors)


def _is_of_share(square: Expression, facts: Facts) -> bool:
    """Whether it is the square of a share or a level by its name, or of what was picked from below 1: `x[x < 1]`."""
    made_by = facts.value_of(square).made_by
    base = made_by.subject if made_by is not None else None
    words = facts.words_of(base) if base is not None else ()
    return facts.range_of(base).high <= 1 or any(word.rstrip("0123456789") in SHARES for word in words)


def _is_square(node: Expression, facts: Facts) -> bool:
    """Whether it is a square or an absolute value."""
    made_by = facts.value_of(node).made_by
    if made_by is None:
        return False
    if made_by.function == "torch.mul":
        return facts.is_same(made_by.subject, made_by.arguments.get("other"))
    if made_by.function == POWER:
        return facts.constant_of(made_by.arguments.get("exponent")) == 2
    return made_by.function in {"torch.square", "torch.abs"}
