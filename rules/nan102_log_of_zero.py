"""NAN102 log-of-zero."""

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
    unsafe,
)

# The operation -> the largest argument at which it is -inf.
LOGARITHMS = {"torch.log": 0, "torch.log2": 0, "torch.log10": 0, "torch.log1p": -1}
TOLD_ELSEWHERE = frozenset({"torch.softmax", "torch.sigmoid", "torch.nn.functional.softmin", "torch.det", "torch.prod", "torch.cumprod", "torch.exp", "torch.exp2", "torch.nn.functional.softplus", "torch.erfc", "torch.special.erfcx"})  # fmt: skip
DIFFERENCE, RELU, QUOTED = "torch.sub", "torch.relu", 50
PROBABILITY, LIKELIHOOD = "is a probability by name", "torch.nn.functional.nll_loss"
# In a sentence, {} stands for the argument.
UNKEPT, BY_NAME = "nothing keeps {} above 0", "{} may contain zeros (judged by its name only)"


class LogOfZero(Rule):
    """The argument of a logarithm can be 0.

    ## Why it hurts
    `log(0)` is -inf and its slope is inf; below 0 it is NaN. A silent clip, an empty class, a mask of zeros, a tanh that rounds to 1 makes the argument 0,
    the loss -inf, and every gradient of the step NaN.

    ## Flagged
        energy = frames.pow(2).sum(dim=-1)
        level = 10 * torch.log10(energy)
        log_prob = normal.log_prob(u) - torch.log(1 - torch.tanh(u) ** 2)

    ## Instead
        level = 10 * torch.log10(energy.clamp_min(1e-12))
        log_prob = normal.log_prob(u) - 2 * (math.log(2) - u - F.softplus(-2 * u))

    ## Silent when
    the argument stays above 0, as after `clamp_min(1e-12)` or `+ 1e-8` on a value that is not negative; of `exp(x)`, which only underflow makes 0; when it is a setting, a schedule or a part of the object; when nothing is known of it, told at `info`, unless a mask is a factor of it, or it is `1 - y ** 2` of a `tanh` that was scaled by something else than a number within 1;
    under `no_grad` and in tests, where -inf is a result like any other. At `info` where it takes an underflow or a rounding (a difference of two tensors, a sum of products), where it is learned or a name alone says that it is a target or a deviation, or a probability that was computed here (one that was handed in is a `warning`; what `nll_loss` is given is one by its use), of the odds `x / (1 - x)`, of what goes on as a number (`.item()`) or is rounded, and in code that is not trained by its name: metrics, sampling, inference. The logarithm of a softmax or sigmoid is NAN110's, of a determinant or product NAN112's.

    ## Fix
    Unsafe: `clamp_min(1e-7)`, or 1e-12 where the dtype is not float16, changes the result where the argument was below that.
    """

    code = "NAN102"
    name = "log-of-zero"
    evidence = (items.LOST_AT_ONCE,)
    direction = Direction.BOTH
    calls = frozenset(LOGARITHMS)
    yields_to = frozenset({"NAN110", "NAN111", "NAN112", "NAN202", "NAN203", "NAN210", "NAN211", "NAN302"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one logarithm."""
        inner, edge = call.subject, LOGARITHMS[call.function]
        if inner is None or not facts.is_tensor(call.node) or facts.is_test() or not facts.is_recorded(call.node):
            return
        if (shape := facts.by_hand(call)) is not None and any(facts.is_shifted(exp.subject) for exp in shape.exps):
            return  # the largest of the exponentials is 1
        origin = facts.origin_of(inner)
        # `log(1 - p)` beside `log(p)` is told of with it; NAN110, NAN112 and NAN202 tell what to write instead.
        part = facts.origin_of(facts.rest_to_one(inner)) or origin
        if part is not None and part.function in TOLD_ELSEWHERE and not facts.is_rest_of_exp(inner):
            return
        is_ordinary = bool(reason := _reason(call, inner, edge, facts)) and _is_ordinary(call, inner, edge, facts)
        # Whatever else it is, the likelihood of a class is the output of a softmax, which rounds to 0.
        is_ordinary |= bool(reason) and (user := facts.user_of(call.node)) is not None and user.function == LIKELIHOOD
        certain = _certain(inner, facts) if not edge and not is_ordinary else ""
        if not (reason or certain) or facts.is_log_meant(call, inner) or facts.is_mended(call.node):
            return
        is_relu = origin is not None and origin.function == RELU
        is_forward = is_relu or facts.is_read_off(call.node) or bool(facts.stretched_in(inner))
        yield self.finding(
            facts.span_of(call.node),
            (certain or reason).replace("{}", f"`{facts.quote(inner, QUOTED)}`", 1),
            fix=_fix(call, inner, edge, facts) if certain or not reason.startswith(UNKEPT) else None,
            hazard=Hazard(call.function, facts.source_of(inner), str(edge)),
            # relu's own backward is 0 at 0, whatever comes in; that of a logarithm below 0 is a number.
            direction=Direction.FORWARD if is_forward else self.direction,
            evidence=(items.MADE_SO,) if certain or is_ordinary else _evidence(call, inner, edge, reason, facts),
        )


def _certain(inner: Expression, facts: Facts) -> str:
    """The sentence that says why the argument is 0 or below somewhere, whatever is known of the rest of it."""
    stretched, mask = facts.stretched_in(inner), facts.masked_by(inner)
    if stretched:
        return f"{{}} is negative where `{facts.quote(stretched, QUOTED // 2)}` is above 1: its log is NaN"
    kind = facts.saturated(inner) if facts.range_of(inner).contains(0) else ""
    if not (kind or mask) or not facts.may_train() or facts.is_tested(inner):
        return ""
    if kind or mask is None:
        return f"{{}} can be 0 where the {kind} rounds: log(0) is -inf"
    return f"{{}} is 0 where `{facts.quote(mask, QUOTED // 2)}` is: log(0) is -inf"


def _evidence(call: Call, inner: Expression, edge: int, reason: str, facts: Facts) -> tuple[Item, ...]:
    if not edge and facts.is_log_of_probability(call, inner, told=PROBABILITY):
        return (items.RANGE_REACHES,)
    if reason.startswith(UNKEPT):
        return (items.NOTHING_KNOWN,)
    if "(range" in reason:
        return (items.RANGE_REACHES,)
    return (items.RARE,) if facts.is_difference(inner) or facts.is_read_off(call.node) else (items.NAME_ALONE,)


def _is_ordinary(call: Call, inner: Expression, edge: int, facts: Facts) -> bool:
    # What may be NaN already is broken before it gets here; of a level that is read off or rounded, -inf is one like any other.
    is_sound = facts.range_of(inner).low == edge and not facts.range_of(inner).nan and not facts.is_read_off(call.node)
    return is_sound and facts.may_train() and (edge != 0 or facts.is_often_zero(inner))


def _reason(call: Call, inner: Expression, edge: int, facts: Facts) -> str:
    """The sentence that says why the argument can be at the edge, or below; empty if nothing says so."""
    reach, origin = facts.range_of(inner), facts.origin_of(inner)
    if not edge and reach.has_zero and (facts.is_rest_of_exp(inner) or facts.is_odds(call)):
        odds = "{} can be 0: these are log-odds, -inf at one end of the range and inf at the other"
        return "{} is 0 where the exponent is 0: log(0) is -inf" if facts.is_rest_of_exp(inner) else odds
    if facts.is_known(inner):
        # Squares, norms and shares are known not to be negative; what may be so is not, as a rule, but for differences.
        is_below = origin is not None and origin.function == DIFFERENCE and not facts.is_tested(inner)
        if (reach.low == edge or (reach.low < edge and is_below)) and reach.contains(edge):
            if edge:
                return f"log1p(-1) is -inf: {{}} can reach -1 (range {reach})"
            is_lower = reach.low < 0
            return f"{{}} can be 0{is_lower * ' or negative'} (range {reach}): log gives -inf{is_lower * ' or NaN'}"
    if edge or facts.is_tested(inner):
        return ""
    if facts.is_difference(inner):
        return "{} is a difference and can round to 0 or below: log gives -inf or NaN"
    told = facts.told_by_making(inner)
    sentence = (BY_NAME if told.endswith("by name") else f"{{}} {told}") if told else UNKEPT
    return f"{sentence}: log(0) is -inf" if told or facts.is_unkept(inner) else ""


def _fix(call: Call, inner: Expression, edge: int, facts: Facts) -> Fix | None:
    is_of_more = bool(facts.stretched_in(inner)) or facts.is_odds(call) or facts.is_read_off(call.node)
    if edge or is_of_more or facts.range_of(inner).nan or facts.changes_its_operand(call):
        return None
    text = f"{facts.as_receiver(inner)}.clamp_min({facts.floor_for(inner)})"
    return unsafe("Keep the argument of the logarithm above 0", Edit(facts.span_of(inner), text))
