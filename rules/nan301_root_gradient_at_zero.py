"""NAN301 root-gradient-at-zero."""

from __future__ import annotations

from nanlint.rule import (
    Call,
    Direction,
    Edit,
    Expression,
    Facts,
    Finding,
    Fix,
    Hazard,
    Item,
    Iterator,
    Rule,
    items,
    safe,
    unsafe,
)

SQRT, RSQRT, POWER, HYPOT = "torch.sqrt", "torch.rsqrt", "torch.pow", "torch.hypot"
NORM, SUM = "torch.linalg.vector_norm", "torch.sum"
# relu's own backward is 0 at 0, whatever comes in.
HARMLESS = frozenset({"torch.relu", "torch.nn.functional.relu6"})
QUOTED, UNKEPT = 36, "is kept above 0 by nothing here"


class RootGradientAtZero(Rule):
    """The root of a value that can be exactly 0, on the way of a gradient.

    ## Why it hurts
    The slope of `sqrt` at 0 is infinite. The forward is a harmless 0; the backward multiplies that slope by the gradient of a square, which is 0 there, and `inf * 0` is NaN. Two
    equal points, a padded row or a silent clip are enough.

    ## Flagged
        distance = ((a - b) ** 2).sum(dim=-1).sqrt()

    ## Instead
        distance = torch.linalg.vector_norm(a - b, dim=-1)
        spread = (x.var(dim=-1) + 1e-6).sqrt()

    ## Silent when
    something above 0 is added or clamped to inside the root; under `no_grad`, on detached values, counts and in tests; for norms, `std`, `cdist` and `relu(x).sqrt()`, whose
    gradient torch defines at 0; when only underflow could make the value 0, as of `exp(x)`; for settings, schedules and parts of the object. At `info` when nothing is known of the value, where no name says that the code is
    trained (`forward`, a loss, a distance), where a name alone says that it is a square, or where a 0 would be a coincidence, as of the length of one vector, or of two atoms in one place, `pos[i] - pos[j]`.

    ## Fix
    Safe for the root of a sum of squares: `torch.linalg.vector_norm` is the same function with a gradient of 0 at 0. Elsewhere unsafe: `clamp_min(1e-7)`, or 1e-12 where the dtype
    is not float16, moves what lies below it. An eps after the root does not help.
    """

    code = "NAN301"
    name = "root-gradient-at-zero"
    evidence = (items.LOST_AT_ONCE,)
    direction = Direction.BACKWARD
    calls = frozenset({SQRT, RSQRT, POWER, HYPOT})
    yields_to = frozenset({"NAN103", "NAN204", "NAN210", "NAN211"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one root."""
        inner = call.subject
        if inner is None or not facts.could_train() or not facts.is_tensor(call.node) or not _is_root(call, facts):
            return
        reason = _reason(call, inner, facts)
        if not reason or not facts.has_gradient(inner) or not facts.has_gradient(call.node):
            return
        is_sure = reason != UNKEPT
        is_inverse = call.function == RSQRT or (facts.constant_of(call.arguments.get("exponent")) or 0) < 0
        result = "the root is inf" if is_inverse else "its root's slope is inf"
        yield self.finding(
            facts.span_of(call.node),
            f"`{facts.quote(inner, QUOTED)}` {reason}, where {result}",
            fix=_fix(call, facts) if is_sure else None,
            hazard=Hazard(call.function, facts.source_of(inner), "0"),
            direction=Direction.BOTH if is_inverse or facts.is_size_of_row(call) else Direction.BACKWARD,
            evidence=_evidence(call, facts) if is_sure else (items.NOTHING_KNOWN,),
        )


def _evidence(call: Call, facts: Facts) -> tuple[Item, ...]:
    return (items.MADE_SO,) if _is_expected(call, facts) and facts.is_trained() else (items.RARE,)


def _is_root(call: Call, facts: Facts) -> bool:
    if call.function != POWER:
        return True
    power = facts.constant_of(exponent := call.arguments.get("exponent"))
    # The power 1 / p is a root for every p above 1.
    return facts.is_inverse(exponent) if power is None else power < 1 and 0 < power % 1 < 1


def _reason(call: Call, inner: Expression, facts: Facts) -> str:
    """Why the operand can be 0; empty if nothing says so."""
    operands = [inner, call.arguments.get("other", inner)] if call.function == HYPOT else [facts.divided_in(inner)]
    if facts.is_square_by_name(inner) and not facts.is_tested(inner):
        return "is a square by its name, and can be 0"
    for operand in operands:
        reach, origin = facts.range_of(operand), facts.origin_of(operand)
        if call.function != HYPOT and (not facts.is_known(operand) or reach.low < 0 or reach.integer):
            return UNKEPT if facts.is_unkept(operand) else ""
        is_harmless = (origin is not None and origin.function in HARMLESS) or facts.is_picked_zero(operand)
        if is_harmless or not facts.reaches_zero(operand):
            return UNKEPT if facts.is_of_squares(operand) else ""
    return f"can be 0 (range {facts.range_of(operands[0])})"


def _is_expected(call: Call, facts: Facts) -> bool:
    """Whether a 0 is to be expected: by what it is made of, as the size of a row, or because an eps is added after the root."""
    is_guarded_late = facts.raised(facts.user_of(call.node)) is not None
    return is_guarded_late or call.function == HYPOT or facts.expects_zero(call.subject) or facts.is_size_of_row(call)


def _fix(call: Call, facts: Facts) -> Fix | None:
    inner = call.subject
    if inner is None or facts.changes_its_operand(call) or call.function == HYPOT:
        return None
    norm = _norm(call, facts.call_of(inner), facts)
    if norm is not None:
        return safe("Use vector_norm", Edit(facts.span_of(call.node), norm))
    text = f"{facts.as_receiver(inner)}.clamp_min({facts.floor_for(inner)})"
    return unsafe("Keep the value under the root above 0", Edit(facts.span_of(inner), text))


def _norm(call: Call, total: Call | None, facts: Facts) -> str | None:
    """`torch.linalg.vector_norm(x, dim=1)` for `x.pow(2).sum(dim=1).sqrt()` as it is written."""
    spelled = facts.spelling_of(NORM)
    if total is None or total.function != SUM or total.subject is None or spelled is None:
        return None
    if call.function == RSQRT or (call.function == POWER and facts.constant_of(call.arguments.get("exponent")) != 0.5):
        return None
    rest = {name: node for name, node in total.arguments.items() if name not in {"input", "dtype"}}
    squared = facts.squared(facts.call_of(total.subject))
    if squared is None or len(rest) + 1 != len(total.arguments) or "#" in facts.source_of(call.node):
        return None
    given = [facts.source_of(squared), *(f"{name}={facts.source_of(node)}" for name, node in rest.items())]
    return f"{spelled}({', '.join(given)})"
