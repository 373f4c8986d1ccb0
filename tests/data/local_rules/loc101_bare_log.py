"""LOC101 bare-log."""

from __future__ import annotations

from nanlint.rule import Applicability, Finding, Iterator, OpHazard, Rule, Severity, every

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
    hazards = (every("torch.log", "input"),)

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one call."""
        fix = other_function(hazard, "torch.log1p", Applicability.SAFE)
        yield self.told(hazard, f"`{hazard.text}` is a logarithm", fix=fix)
