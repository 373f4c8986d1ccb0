"""LOC202 bare-tanh."""

from __future__ import annotations

from nanlint.rule import Call, Facts, Finding, Iterator, Rule, Severity


class BareTanh(Rule):
    """A hyperbolic tangent is taken.

    ## Why it hurts
    It does not: the tests need rules that are easy to wake.

    ## Flagged
        y = torch.tanh(x)

    ## Instead
        y = x

    ## Silent when
    the function is not called.

    ## Fix
    None.
    """

    code = "LOC202"
    name = "bare-tanh"
    severity = Severity.WARNING
    calls = frozenset({"torch.tanh"})
    preview = True

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one call."""
        yield self.finding(facts.span_of(call.node), f"`{facts.quote(call.node)}` is a hyperbolic tangent")
