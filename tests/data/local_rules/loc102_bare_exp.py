"""LOC102 bare-exp."""

from __future__ import annotations

from nanlint.rule import Applicability, Finding, Iterator, OpHazard, Rule, Severity, every

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
    hazards = (every("torch.exp", "input"),)

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one call."""
        fix = other_function(hazard, "torch.expm1", Applicability.UNSAFE)
        yield self.told(hazard, f"`{hazard.text}` is an exponential", fix=fix)
