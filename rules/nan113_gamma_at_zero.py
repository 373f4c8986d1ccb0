"""NAN113 gamma-at-zero."""

from __future__ import annotations

from nanlint.rule import Direction, Finding, Iterator, OpHazard, Rule, items, log_arguments, show, uses, zone

GAMMAS = {"torch.lgamma": "inf", "torch.digamma": "-inf", "torch.polygamma": "infinite", "torch.mvlgamma": "inf"}
WRITE = "keep it above 0: `torch.relu(x) + 1` or `F.softplus(x) + 1e-2` for a concentration, `+ 1` for a count"
QUOTED = 50


class GammaAtZero(Rule):
    """The log-gamma function, or a derivative of it, of a value that can be 0.

    ## Why it hurts
    `lgamma(0)` is inf and `digamma(0)` -inf, as are their slopes. The concentrations of a Dirichlet, the dispersion of a negative
    binomial or a count come out of a relu or an underflown `exp` as exactly 0, and inf - inf makes the whole loss NaN.

    ## Flagged
        alpha = torch.relu(scores)
        loss = torch.lgamma(alpha).sum() - torch.lgamma(alpha.sum())

    ## Instead
        alpha = torch.relu(scores) + 1
        loss = torch.lgamma(alpha).sum() - torch.lgamma(alpha.sum())

    ## Silent when
    the argument stays above 0, as after `+ 1`, `+ 1e-6` or `clamp_min(1e-6)`; of `exp(x)`, which only underflow makes 0; when the result
    is replaced where it breaks.

    ## Fix
    Sketch: a concentration is `relu(x) + 1` or `softplus(x)` plus something. A tiny eps is no cure: digamma is -1/x there.
    """

    code, name = "NAN113", "gamma-at-zero"
    evidence = (items.LOST_AT_ONCE,)
    hazards = tuple(zone(function, "input", contains=0) for function in GAMMAS)
    yields_to = frozenset({"NAN302"})

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one gamma function; of several of one value, the first that a gradient passes."""
        argument = hazard.callers
        kind, _ = log_arguments.reason_for(hazard.op, argument, hazard.function.ops)
        if not kind or not hazard.is_foremost(hazard.siblings) or not hazard.op.recorded or hazard.is_of_arrays:
            return
        if uses.is_replaced(hazard):
            return
        quoted, result = f"`{hazard.operand.quoted(QUOTED)}`", f"{hazard.word}(0) is {GAMMAS[hazard.op.function]}"
        is_known = kind != "unknown"
        yield self.told(
            hazard,
            f"{quoted} can be 0: {result}" if is_known else f"nothing keeps {quoted} above 0: {result}",
            direction=Direction.FORWARD if hazard.is_behind_relu else Direction.BOTH,
            fix=show(WRITE) if is_known else None,
            evidence=(items.MADE_SO if is_known else items.NOTHING_KNOWN,),
        )
