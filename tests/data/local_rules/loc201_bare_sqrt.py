"""LOC201 bare-sqrt."""

from __future__ import annotations

from nanlint.rule import Call, Facts, Finding, Iterator, Rule, Severity


class BareSqrt(Rule):
    """A root is taken.

    ## Why it hurts
    It does not: the tests need rules that are easy to wake.

    ## Flagged
        y = torch.sqrt(x)

    ## Instead
        y = x

    ## Silent when
    the function is not called.

    ## Fix
    None.
    """

    code = "LOC201"
    name = "bare-sqrt"
    severity = Severity.ERROR
    calls = frozenset({"torch.sqrt"})
    options = {"noun": "root", "shout": False, "limit": 1.5, "count": 3}

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one call."""
        noun = str(self.option("noun"))
        noun = noun.upper() if self.option("shout") else noun
        yield self.finding(facts.span_of(call.node), f"`{facts.quote(call.node)}` is a {noun}")
