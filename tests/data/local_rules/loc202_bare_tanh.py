"""LOC202 bare-tanh."""

from __future__ import annotations

from nanlint.rule import Finding, Iterator, OpHazard, Rule, Severity, every


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
    hazards = (every("torch.tanh", "input"),)
    preview = True

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one call."""
        yield self.told(hazard, f"`{hazard.text}` is a hyperbolic tangent")
