"""From clues to causes in order: one table says how much each kind of evidence is worth, and clues about one thing are added up.

What was seen in the user's own run comes first, then what was seen in the user's own files, then code that was run and failed on
inputs that nanlint made up, then what was only read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.diagnose.answer import Cause, Clue

if TYPE_CHECKING:
    from collections.abc import Sequence

SEEN, CONFIRMED, LIKELY, POSSIBLE = "seen", "confirmed", "likely", "possible"

STRENGTHS: dict[str, tuple[float, str]] = {
    "run": (100, SEEN),  # the origin of a NaN in the traced run
    "run-warned": (65, SEEN),  # the traced run was growing, and did not break in the steps that it was given
    "data-named": (90, SEEN),  # values that are not finite in a file that the code names
    "data": (70, SEEN),
    "data-missing": (50, LIKELY),  # empty cells: whether they become NaN is up to the reader
    "data-filled": (18, POSSIBLE),  # the same, and the code fills or drops what is missing
    "latest-bad": (85, SEEN),  # the checkpoint that one would resume from
    "earlier-bad": (30, SEEN),  # a later one is clean, so training got over it
    "other-run": (28, SEEN),  # a folder of checkpoints that neither the code names nor the last run wrote to
    "loss-scale": (72, SEEN),
    "exploded": (60, SEEN),
    "beyond-format": (60, SEEN),
    "rate-above": (75, SEEN),  # a resumed run has a higher rate than its config says
    "rate-below": (35, SEEN),
    "rate-code": (40, LIKELY),  # the code brings the saved rate back; no checkpoint to compare with
    "format": (48, SEEN),  # trained in one half format, and the config names the other
    "state": (20, POSSIBLE),  # a dead layer, a schedule that is over
    "confirmed-ordinary": (80, CONFIRMED),
    "confirmed-edge": (74, CONFIRMED),
    "confirmed-large": (62, CONFIRMED),
    "loop-confirmed": (58, CONFIRMED),  # lets a NaN in or hides it, and needs another cause to begin with
    "reachable": (50, LIKELY),
    "probe-ordinary": (66, CONFIRMED),  # fails on made-up inputs, and the linter has nothing to say about the line
    "probe-edge": (56, CONFIRMED),
    "probe-large": (14, POSSIBLE),  # most code fails on something large
    "conflict": (52, LIKELY),
    "risky-value": (55, LIKELY),
    "error": (55, LIKELY),
    "warning": (45, LIKELY),
    "loop": (38, LIKELY),  # read, not run: lets a NaN in or hides it
    "saving": (25, POSSIBLE),  # what is saved or restored: spoils a later run
    "info": (15, POSSIBLE),
    "not-reproduced": (30, POSSIBLE),  # shown by default, and made-up inputs did not break it
    "info-not-reproduced": (8, POSSIBLE),
}

MORE = 5.0
"""For each further kind of evidence about the same thing; a second finding on one line is no other kind."""
_WORDS = (SEEN, CONFIRMED, LIKELY, POSSIBLE)


def ranked(clues: Sequence[Clue]) -> tuple[Cause, ...]:
    """The causes, the likeliest first."""
    groups: dict[tuple[str, str], list[Clue]] = {}
    for clue in clues:
        groups.setdefault((clue.kind, clue.about), []).append(clue)
    causes = [_cause(group) for group in groups.values()]
    return tuple(sorted(causes, key=lambda cause: (-cause.points, cause.path, cause.line)))


def _cause(clues: Sequence[Clue]) -> Cause:
    """What the strongest clue says, with the evidence of all."""
    by_strength = sorted(clues, key=lambda clue: -STRENGTHS[clue.strength][0])
    best = by_strength[0]
    points = STRENGTHS[best.strength][0] + MORE * (len({clue.strength for clue in clues}) - 1)
    word = min((STRENGTHS[clue.strength][1] for clue in clues), key=_WORDS.index)
    evidence = tuple(dict.fromkeys(clue.evidence for clue in by_strength if clue.evidence))
    code = next((clue.code for clue in by_strength if clue.code), "")
    return Cause(best.kind, best.title, best.path, best.line, code, word, points, evidence, best.first)
