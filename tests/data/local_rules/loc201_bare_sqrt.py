"""LOC201 bare-sqrt."""

from __future__ import annotations

from nanlint.rule import Finding, Iterator, OpHazard, Rule, Severity, every


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
    hazards = (every("torch.sqrt", "input"),)
    options = {"noun": "root", "shout": False, "limit": 1.5, "count": 3}

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one call."""
        noun = str(self.option("noun"))
        noun = noun.upper() if self.option("shout") else noun
        yield self.told(hazard, f"`{hazard.text}` is a {noun}")
