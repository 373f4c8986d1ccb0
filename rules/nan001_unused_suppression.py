"""NAN001 unused-suppression."""

from __future__ import annotations

from nanlint.rule import Direction, Rule, Severity


class UnusedSuppression(Rule):
    """A comment suppresses a finding that is not there.

    ## Why it hurts
    The finding is gone, or the code it names was mistyped and never was there. Left in place, the comment hides the next
    defect on its line: the one that a later edit brings in.

    ## Flagged
        mean = total / 8  # nanlint: ignore[NAN110] the softmax was here once

    ## Instead
        mean = total / 8

    ## Silent when
    the rules that the comment names did not run, be it by `--select` or by per-file ignores. A bare `# noqa` serves other
    tools too and is never called unused. `# nanlint: ignore[NAN001]` keeps this rule quiet.

    ## Fix
    Safe: the unused code goes out of the list, or the whole comment with it. A comment changes no result.
    """

    # The engine knows which suppressions were used, and yields the findings (nanlint.engine.suppressing.unused).
    code = "NAN001"
    name = "unused-suppression"
    severity = Severity.WARNING
    direction = Direction.FORWARD
    dtypes = ()
