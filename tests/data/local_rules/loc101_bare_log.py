"""LOC101 bare-log."""

from __future__ import annotations

from nanlint.rule import Applicability, Call, Facts, Finding, Iterator, Rule, Severity

from ._shared import other_function


class BareLog(Rule):
    """A logarithm is taken.

    ## Why it hurts
    It does not: the tests need rules that are easy to wake.

    ## Flagged
        y = torch.log(x)

    ## Instead
        y = x

    ## Silent when
    the function is not called.

    ## Fix
    Safe, for the sake of the tests: `log1p`.
    """

    code = "LOC101"
    name = "bare-log"
    severity = Severity.WARNING
    calls = frozenset({"torch.log"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one call."""
        fix = other_function(call, facts, "torch.log1p", Applicability.SAFE)
        yield self.finding(facts.span_of(call.node), f"`{facts.quote(call.node)}` is a logarithm", fix=fix)
