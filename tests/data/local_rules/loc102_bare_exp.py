"""LOC102 bare-exp."""

from __future__ import annotations

from nanlint.rule import Applicability, Call, Facts, Finding, Iterator, Rule, Severity

from ._shared import other_function


class BareExp(Rule):
    """An exponential is taken.

    ## Why it hurts
    It does not: the tests need rules that are easy to wake.

    ## Flagged
        y = torch.exp(x)

    ## Instead
        y = x

    ## Silent when
    the function is not called.

    ## Fix
    Unsafe: `expm1`.
    """

    code = "LOC102"
    name = "bare-exp"
    severity = Severity.INFO
    calls = frozenset({"torch.exp"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one call."""
        fix = other_function(call, facts, "torch.expm1", Applicability.UNSAFE)
        yield self.finding(facts.span_of(call.node), f"`{facts.quote(call.node)}` is an exponential", fix=fix)
