"""NAN202 log-sum-exp-by-hand."""

from __future__ import annotations

from nanlint.rule import (
    Direction,
    Edit,
    Finding,
    Fix,
    Iterator,
    Op,
    OpHazard,
    Rule,
    exponentials,
    items,
    replacing,
    safe,
    uses,
    zone,
)

EXPONENTIALS, LOGS = ("torch.exp", "torch.expm1"), ("torch.log", "torch.log1p")
# exp is inf from here on, and 0 below that.
OVERFLOW, UNDERFLOW = {"float16": 11.09, "float64": 709.78}, {"float16": -17.3, "float64": -745.1}
OVERFLOW_FLOAT32, UNDERFLOW_FLOAT32 = 88.72, -103.9
QUOTED = 20


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
    the maximum was subtracted first; when the exponent stays where `exp` is neither inf nor 0, as of a log-probability or a cosine;
    `1 / (1 + exp(-x))` without a gradient, and what `where` replaces.

    ## Fix
    Safe: `logsumexp`, `logcumsumexp`, `logaddexp`, `softplus`, `sigmoid`, `softmax` and `tanh` are the same functions. There is none where
    an operand may have changed since, nor where no such function is meant, as by `log(exp(x) - 1)`.
    """

    code, name = "NAN202", "log-sum-exp-by-hand"
    hazards = (
        *(zone(exp, "input") for exp in EXPONENTIALS),
        zone("torch.div", "other", contains=0),
        zone("torch.log", "input", contains=0),
    )
    yields_to = frozenset({"NAN302"})

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word what is made of one exponential that is too large, or one sum of exponentials that are all 0."""
        is_large = hazard.op.function in EXPONENTIALS
        for outer in hazard.function.ops if is_large else [hazard.op]:
            found = exponentials.by_hand(outer)
            if found is None or found.exps[0].subject is None or (is_large and found.exps[0] is not hazard.op):
                continue
            exp = found.exps[0]
            if any(exponentials.is_shifted(each.subject) for each in found.exps):
                continue
            reason = _reason(exp, found, outer, is_large=is_large)
            has_gradient = outer.recorded and not hazard.operand.value.detached
            if not reason or (found.only_backward and not has_gradient) or uses.is_replaced(hazard, outer):
                continue
            yield self.told(
                hazard,
                f"exp of `{hazard.operand_of(exp, 'input').quoted(QUOTED)}` {reason}",
                at=hazard.span_of(outer) if hazard.is_here(outer) else None,
                fix=_fix(hazard, outer),
                direction=Direction.BACKWARD if found.only_backward else Direction.BOTH,
                evidence=(items.RARE,) if found.is_mild else (items.MADE_SO,),
            )


def _reason(exp: Op, found: exponentials.ByHand, outer: Op, *, is_large: bool) -> str:
    """What becomes of exponents that are too large, or all too small; empty if nothing does."""
    exponent = exp.operands["input"]
    reach, is_log = exponent.range, outer.function in LOGS
    edge, floor = OVERFLOW.get(exponent.dtype, OVERFLOW_FLOAT32), UNDERFLOW.get(exponent.dtype, UNDERFLOW_FLOAT32)
    if is_large and reach.greatest >= edge:
        result = "its log is inf" if is_log else "inf / inf is NaN"
        return f"is inf from {edge:.1f} on (range {reach}): {'the gradient of 1 / inf is NaN' if found.only_backward else result}"
    if not is_large and found.needs_mass and reach.least <= floor and reach.greatest < edge:
        return f"is 0 below {floor:.0f} (range {reach}): {'log(0) is -inf' if is_log else '0 / 0 is NaN'}"
    return ""


def _fix(hazard: OpHazard, outer: Op) -> Fix | None:
    """The function itself, on the exponents as they are written."""
    found = exponentials.by_hand(outer, plainly=True)
    if found is None or not (given := replacing.of_exponents(hazard, outer, found)):
        return None
    edit = Edit(hazard.source.span_of(outer.node), given)
    return safe(f"Use {found.function.rpartition('.')[2]}", *replacing.with_leftovers(hazard, edit))
