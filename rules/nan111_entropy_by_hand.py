"""NAN111 entropy-by-hand."""

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
    Iterator,
    Rule,
    items,
    safe,
    show,
    unsafe,
)

LOG, PRODUCT, QUOTIENT, DIFFERENCE = "torch.log", "torch.mul", "torch.div", "torch.sub"
LOGARITHMS, DIVERGENCE = frozenset({LOG, "torch.log2", "torch.log10"}), "torch.nn.functional.kl_div"
SOFTMAX, LOG_SOFTMAX = "torch.softmax", "torch.log_softmax"
QUOTED = 40


class EntropyByHand(Rule):
    """A value times the logarithm of itself, or a mask times a logarithm: 0 * log(0) is NaN.

    ## Why it hurts
    The limit of p * log(p) at 0 is 0, but floats compute `0 * -inf`, which is NaN. One probability that is exactly 0, as in
    every one-hot target and every saturated softmax, makes the whole sum NaN.

    ## Flagged
        entropy = -(p * torch.log(p)).sum(dim=-1)
        divergence = (t * torch.log(t / q)).sum()

    ## Instead
        entropy = -torch.xlogy(p, p).sum(dim=-1)
        divergence = torch.nn.functional.kl_div(q.log(), t, reduction="sum")

    ## Silent when
    the argument of the logarithm is known to stay above 0 (clamped, + eps); for `xlogy`, `special.entr` and `kl_div`; under a guard, or when a `where` throws the NaN away. At `info` where nothing is trained.
    Of p * log(p) the shape itself says that p is a probability, so nothing more needs to be known of it. `kl_div` is finite for a target of 0,
    where its gradient is NaN: a softmax as its target is flagged if the same logits are trained as the input of a `kl_div` beside it.

    ## Fix
    Safe where no gradient passes: `xlogy(p, p)` is the same function with the value 0 at 0. Its gradient at 0 is still NaN, so
    with a gradient the fix bounds the argument as well, which is unsafe; of `log(p / q)` it bounds both, as two logarithms. Better
    still: compute from logits with `log_softmax`. For a target of `kl_div` a sketch.
    """

    code = "NAN111"
    name = "entropy-by-hand"
    evidence = (items.LOST_AT_ONCE,)
    calls = frozenset({PRODUCT, DIVERGENCE})
    yields_to = frozenset({"NAN110", "NAN303"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one product, or one divergence."""
        is_trained = facts.may_train() and facts.is_recorded(call.node)
        if call.function == DIVERGENCE:
            if is_trained:
                yield from self._check_divergence(call, facts)
            return
        first, second = call.arguments.get("input"), call.arguments.get("other")
        for signed, other in ((first, second), (second, first)):
            factor = facts.operand_of(signed, "torch.neg") or signed
            log = _log(other, facts)
            argument = log.subject if log is not None else None
            if signed is None or factor is None or log is None or argument is None:
                continue
            if not _can_both_be_zero(factor, argument, facts) or facts.is_mended(call.node):
                continue
            quoted = facts.quote(factor, QUOTED)
            message = f"`{quoted}` can be 0, and 0 times the logarithm of `{facts.quote(argument, QUOTED)}` is NaN"
            yield self.finding(
                facts.span_of(call.node),
                message,
                fix=_fix(call, signed, log, facts),
                hazard=Hazard(log.function, facts.source_of(argument), "0"),
                evidence=(items.MADE_SO,) if is_trained else (items.RARE,),
            )
            return

    def _check_divergence(self, call: Call, facts: Facts) -> Iterator[Finding]:
        target, of = call.arguments.get("target"), facts.origin_of(call.arguments.get("target"))
        if target is None or of is None or "log_target" in call.arguments or not facts.has_gradient(target):
            return
        of_log = facts.operand_of(facts.operand_of(target, "torch.exp"), LOG_SOFTMAX)
        logits = of.subject if of.function == SOFTMAX else of_log
        trained = (facts.operand_of(other.subject, LOG_SOFTMAX) for other in facts.calls_of(DIVERGENCE))
        if logits is not None and any(one is not None and facts.is_same(one, logits) for one in trained):
            message = f"`{facts.quote(target, QUOTED)}` is a trained target and can be 0, where its gradient is NaN"
            yield self.finding(
                facts.span_of(call.node),
                message,
                fix=show("the log_softmax as its target, with log_target=True"),
                evidence=(items.RARE,),
                direction=Direction.BACKWARD,
                hazard=Hazard(DIVERGENCE, facts.source_of(target), "0"),
            )


def _log(node: Expression | None, facts: Facts) -> Call | None:
    """The logarithm that `node` is, or from which something is taken away: `t * (t.log() - y)`."""
    made_by = facts.value_of(node).made_by if node is not None else None
    if made_by is not None and made_by.function == DIFFERENCE:
        made_by = facts.value_of(made_by.subject).made_by if made_by.subject is not None else None
    is_log = made_by is not None and made_by.function in LOGARITHMS and facts.is_here(made_by.node)
    return made_by if is_log else None


def _can_both_be_zero(factor: Expression, argument: Expression, facts: Facts) -> bool:
    if any(facts.is_number(node) or not facts.range_of(node).has_zero for node in (factor, argument)):
        return False
    divided = facts.operand_of(argument, QUOTIENT)
    if facts.is_same(factor, argument) or (divided is not None and facts.is_same(factor, divided)):
        return facts.reaches_zero(factor)
    is_mask = facts.dtype_of(factor) == "bool" or (facts.is_known(factor) and facts.range_of(factor).integer)
    return is_mask and facts.is_known(argument) and facts.is_often_zero(argument)


def _fix(call: Call, factor: Expression, log: Call, facts: Facts) -> Fix | None:
    """`torch.xlogy(p, p)` where the logarithm is written in the product itself."""
    spelled, argument = facts.spelling_of("torch.xlogy"), log.subject
    if log.function != LOG or log.node not in call.arguments.values() or spelled is None or argument is None:
        return None
    if facts.changes_its_operand(call) or facts.changes_its_operand(log) or "#" in facts.source_of(call.node):
        return None
    text, span = facts.source_of(factor), facts.span_of(call.node)
    if not facts.has_gradient(argument):
        return safe("Use xlogy", Edit(span, f"{spelled}({text}, {facts.source_of(argument)})"))
    # The gradient of the logarithm at 0 is infinite still; only a bound keeps it finite.
    quotient = facts.call_of(argument)
    below = quotient.arguments.get("other") if quotient is not None and quotient.function == QUOTIENT else None
    if quotient is None or quotient.subject is None or below is None:
        return unsafe("Use xlogy with a bound", Edit(span, f"{spelled}({text}, {_bounded(argument, facts)})"))
    # A quotient by what is next to 0 is past the end of float16, a difference of logarithms never is.
    parts = " - ".join(f"{spelled}({text}, {_bounded(part, facts)})" for part in (quotient.subject, below))
    return unsafe("Use xlogy with bounds", Edit(span, parts if getattr(call.node, "lpar", ()) else f"({parts})"))


def _bounded(node: Expression, facts: Facts) -> str:
    return f"{facts.as_receiver(node)}.clamp_min({facts.floor_for(node)})"
