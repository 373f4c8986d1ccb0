"""NAN202 log-sum-exp-by-hand."""

from __future__ import annotations

from nanlint.rule import ByHand, Call, Direction, Edit, Facts, Finding, Fix, Hazard, Iterator, Rule, items, safe

EXPONENTIALS = frozenset({"torch.exp", "torch.expm1"})
LOGS, QUOTIENTS, WHERE = ("torch.log", "torch.log1p"), ("torch.div", "torch.reciprocal"), "torch.where"
# exp is inf from here on, and 0 below that.
OVERFLOW = {"float16": 11.09, "float64": 709.78}
UNDERFLOW = {"float16": -17.3, "float64": -745.1}
OVERFLOW_FLOAT32, UNDERFLOW_FLOAT32 = 88.72, -103.9
# A kernel over a grid has its peak on the grid.
GRIDS = ("arange", "linspace", "meshgrid")
SCORES, QUOTED = frozenset({"logit", "logits", "score", "scores"}), 20


class LogSumExpByHand(Rule):
    """A logsumexp, softplus, sigmoid, softmax or tanh that is written out with `exp`.

    ## Why it hurts
    `exp` is inf from 88.7 on in float32 and from 11.1 on in float16. The functions themselves are finite there, but written
    by hand they pass through that infinity: `log` keeps it, and `inf / inf` and the gradient of `1 / (1 + inf)` are NaN.

    ## Flagged
        loss = torch.log(torch.exp(scores).sum(dim=-1))
        weights = torch.exp(scores) / torch.exp(scores).sum(dim=-1, keepdim=True)

    ## Instead
        loss = torch.logsumexp(scores, dim=-1)
        weights = torch.softmax(scores, dim=-1)

    ## Silent when
    the maximum was subtracted first, under whatever name; when the exponent is known to stay where `exp` is neither inf
    nor 0, as of a log-probability, of minus a distance or of a cosine; in tests and initialisation. `1 / (1 + exp(-x))` breaks in the
    backward alone, so it is silent where there is no gradient, as is what `where` replaces. It is of severity info, as are `log(exp(x) - 1)` and `log(exp(x) + eps)`,
    which are mostly given small numbers, and gates that are learned as numbers, `exp(self.gate) / (1 + exp(self.gate))` and `log(1 + exp(self.rho))`.

    ## Fix
    Safe: `logsumexp`, `logcumsumexp`, `logaddexp`, `softplus`, `sigmoid`, `softmax` and `tanh` are the same functions. There is none where
    an operand may have changed since, nor where no such function is meant, as by `log(exp(x) - 1)`.
    """

    code = "NAN202"
    name = "log-sum-exp-by-hand"
    direction = Direction.BOTH
    calls = EXPONENTIALS
    yields_to = frozenset({"NAN302"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge what is made of one exponential."""
        if call.subject is None or facts.is_test() or "init" in facts.function_name() or facts.is_shifted(call.subject):
            return
        for outer in facts.calls_of(*LOGS, *QUOTIENTS):
            found = facts.by_hand(outer)
            # `exp(-m) + exp(x - m)`: what is subtracted from one exponent is subtracted from both.
            if found is None or found.exps[0] is not call or any(facts.is_shifted(exp.subject) for exp in found.exps):
                continue
            has_gradient = facts.has_gradient(outer.node) and facts.has_gradient(call.subject)
            zone, reason = _breaks(call, outer, found, facts)
            if not zone or (found.only_backward and not has_gradient):
                continue
            picked = [each.value for each in facts.selections(WHERE)] if not facts.may_train() else []
            if any(facts.is_within(outer.node, value) for value in picked):
                continue
            yield self.finding(
                facts.span_of(outer.node),
                f"exp of `{facts.quote(call.subject, QUOTED)}` {reason}",
                fix=_fix(outer, found, facts),
                hazard=Hazard(call.function, facts.source_of(call.subject), zone),
                direction=Direction.BACKWARD if found.only_backward else Direction.BOTH,
                evidence=(items.RARE,) if _is_mild(call, found, facts) else (items.MADE_SO,),
            )


def _is_mild(call: Call, found: ByHand, facts: Facts) -> bool:
    """The backward alone, the inverse of softplus, the logarithm of a scale with a floor, and a gate that is learned as such."""
    is_gate = facts.is_setting(call.subject, but=SCORES) and (found.is_share or found.function.endswith("softplus"))
    return is_gate or found.only_backward or found.is_inverse or not (found.function or found.total or found.is_share)


def _breaks(call: Call, outer: Call, found: ByHand, facts: Facts) -> tuple[str, str]:
    """The exponents that break it, and how, as far as their range tells; empty if it does not."""
    reach, dtype = facts.range_of(call.subject), facts.dtype_of(call.node)
    edge, floor = OVERFLOW.get(dtype, OVERFLOW_FLOAT32), UNDERFLOW.get(dtype, UNDERFLOW_FLOAT32)
    is_log = outer.function in LOGS
    if reach.greatest >= edge and not facts.is_falling(call.subject):
        result = "its log is inf" if is_log else "inf / inf is NaN"
        result = "the gradient of 1 / inf is NaN" if found.only_backward else result
        return f"[{edge}, inf)", f"is inf from {edge:.1f} on (range {reach}): {result}"
    if found.needs_mass and reach.least <= floor and reach.greatest < edge and not facts.mentions(*GRIDS):
        result = "log(0) is -inf" if is_log else "0 / 0 is NaN"
        return f"(-inf, {floor}]", f"is 0 below {floor:.0f} (range {reach}): {result}"
    return "", ""


def _fix(outer: Call, found: ByHand, facts: Facts) -> Fix | None:
    """The function itself, on the exponents as they are written."""
    spelled = (facts.name_for(found.function) or facts.spelling_of(found.function)) if found.function else None
    whole = facts.source_of(outer.node)
    exponents = [exp.subject for exp in found.exps if exp.subject is not None]
    settings = _settings(found, facts)
    if spelled is None or settings is None or not found.is_plain or "#" in whole or facts.changes_its_operand(outer):
        return None
    operands = [*exponents, *(found.total.arguments.values() if found.total is not None else ())]
    if any(facts.changes_its_operand(exp) or not facts.is_here(exp.node) for exp in found.exps):
        return None
    if not all(facts.is_within(node, outer.node) or facts.is_unchanged(node, outer.node) for node in operands):
        return None
    texts = [facts.negated(node) if found.falls else facts.source_of(node) for node in exponents]
    lines = [facts.on_one_line(text) for text in (texts if found.function.endswith("logaddexp") else texts[:1])]
    if None in lines:
        return None
    given = ", ".join([*(text for text in lines if text is not None), *settings])
    edit = Edit(facts.span_of(outer.node), f"{spelled}({given})")
    return safe(f"Use {found.function.rpartition('.')[2]}", *facts.with_leftovers(edit))


def _settings(found: ByHand, facts: Facts) -> list[str] | None:
    """The arguments of the sum that the function needs too; None where it cannot take them."""
    if found.total is None:
        return []
    given = {name: node for name, node in found.total.arguments.items() if name != "input"}
    if "dim" not in given or not set(given) <= {"dim", "keepdim"}:
        return None
    if found.function == "torch.softmax":
        keeps = facts.value_of(given["keepdim"]).constant is True if "keepdim" in given else False
        return (
            [f"dim={facts.source_of(given['dim'])}"] if keeps and facts.constant_of(given["dim"]) is not None else None
        )
    return [f"{name}={facts.source_of(node)}" for name, node in given.items()]
