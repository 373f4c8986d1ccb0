"""Growth without end: seen in the curves of a run, told while it lasts and in the diagnosis after it.

Works on numbers that were read anyway; knows no torch.
"""

from __future__ import annotations

import math
import statistics
from itertools import pairwise
from typing import TYPE_CHECKING

from nanlint.trace.words import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.trace.readings import Reading

WINDOW = 100
"""Steps that growth is measured against."""
BASELINE = 20
"""Steps without which there is nothing to compare with."""
RECENT = 5
"""Steps that must all be high: one high step is a hard batch."""
WARNED_GROWTH = 10.0
WARNED_SCORE = 6.0
"""Robust standard deviations above the median of the logarithm."""
SUDDEN_GROWTH = 100.0
"""Within SUDDEN_STEPS steps, each higher than the one before, to far above all before: that needs no baseline."""
SUDDEN_STEPS = 4
TOLD_GROWTH = 30.0
"""From which on a diagnosis speaks of an explosion."""
TOLD_RATIO, OWN_SIZE = 0.1, 1.0
"""An update of a tenth of the weight is worth a word; one as large as the weight is an explosion by itself."""
NEAR_THE_END = 2.0
"""Times below the end of the format."""
QUIET_STEPS = 100
"""After a warning the same kind is not told again for so long."""


class Warnings:
    """Reads each step's numbers and says when they leave what they were."""

    def __init__(self) -> None:
        self._told: dict[str, int] = {}

    def of(self, history: Sequence[Reading]) -> list[str]:
        """What is to be said of the last reading."""
        last = history[-1]
        recent, is_due = list(history)[-WINDOW:], last.step % RECENT == 0
        norms, losses = [reading.gradient_norm for reading in recent], [reading.loss for reading in recent]
        found = {
            "gradient norm": _growth_of("gradient norm", norms, is_due=is_due),
            "loss": _growth_of("loss", losses, is_due=is_due),
            "margin": _margin(last),
            "scale": _scale(last),
        }
        told = [kind for kind, text in found.items() if text and self._is_due(kind, last.step)]
        self._told.update(dict.fromkeys(told, last.step))
        if told:
            return [f"step {last.step}: {'; '.join(found[kind] for kind in told)}"]
        return []

    def _is_due(self, kind: str, step: int) -> bool:
        return kind not in self._told or step - self._told[kind] > QUIET_STEPS


def _logarithms(values: Sequence[float | None]) -> list[float]:
    """Of those that have one."""
    return [math.log(value) for value in values if value is not None and math.isfinite(value) and value > 0]


def _growth_of(name: str, values: Sequence[float | None], *, is_due: bool) -> str:
    """What to say of a curve; its sudden growth is looked for at every step, the rest when it is due."""
    tail = _logarithms(values[-SUDDEN_STEPS - 1 :])
    if len(tail) <= SUDDEN_STEPS:
        return ""
    rise = tail[-1] - tail[0]
    if rise <= math.log(SUDDEN_GROWTH) and not is_due:
        return ""
    logs = _logarithms(values)
    if len(logs) < len(values):
        return ""
    is_record = tail[-1] > max(logs[:-SUDDEN_STEPS]) + math.log(WARNED_GROWTH)
    if is_record and rise > math.log(SUDDEN_GROWTH) and all(later > earlier for earlier, later in pairwise(tail)):
        return f"the {name} has grown {number(math.exp(rise))}x in {SUDDEN_STEPS} steps"
    if len(logs) < BASELINE + RECENT:
        return ""
    rise = max(_jump(logs), _climb(logs))
    return f"the {name} has grown {number(math.exp(rise))}x in {len(logs)} steps" if rise else ""


def _jump(logs: Sequence[float]) -> float:
    """How far the last steps are above all that came before; 0 if that is within what was usual."""
    before, after = logs[:-RECENT], logs[-RECENT:]
    median, spread = _middle(before)
    needed = max(math.log(WARNED_GROWTH), WARNED_SCORE * spread, max(before) - median)
    return statistics.median(after) - median if min(after) - median > needed else 0.0


def _climb(logs: Sequence[float]) -> float:
    """How far the values have climbed in a full window, each fifth of it above the one before; 0 if they have not."""
    if len(logs) < WINDOW:
        return 0.0
    fifths = [_middle(logs[start : start + WINDOW // 5]) for start in range(0, WINDOW, WINDOW // 5)]
    rise = fifths[-1][0] - fifths[0][0]
    is_steady = all(later[0] > earlier[0] for earlier, later in pairwise(fifths))
    needed = max(math.log(WARNED_GROWTH), WARNED_SCORE * max(spread for _, spread in fifths[:-1]))
    return rise if is_steady and rise > needed else 0.0


def _middle(values: Sequence[float]) -> tuple[float, float]:
    """The median, and the robust standard deviation around it."""
    median = statistics.median(values)
    return median, 1.4826 * statistics.median(abs(value - median) for value in values)


def _margin(reading: Reading) -> str:
    if reading.margin is None or reading.margin >= NEAR_THE_END or not reading.activations:
        return ""
    name, value = next(iter(reading.activations.items()))
    return f"the results of `{name}` reach {number(value)}, within {number(reading.margin)}x of the end of their format"


def _scale(reading: Reading) -> str:
    return (
        f"the loss scale has fallen to {number(reading.scale)}"
        if reading.scale is not None and reading.scale < 1
        else ""
    )


def growth(history: Sequence[Reading]) -> str:
    """How the run exploded, with numbers; empty if it did not."""
    parts = [
        text
        for name, values in (
            ("loss", [reading.loss for reading in history]),
            ("gradient norm", [reading.gradient_norm for reading in history]),
        )
        if (text := _told_growth(name, values))
    ]
    ratios = next((reading.ratios for reading in reversed(history) if reading.ratios), {})
    name, ratio = next(iter(ratios.items()), ("", 0.0))
    if ratio >= (TOLD_RATIO if parts else OWN_SIZE):
        parts.append(f"one step moves `{name}` by {number(ratio)} times its size (1e-3 is ordinary)")
    return "; ".join(parts)


def _told_growth(name: str, values: Sequence[float | None]) -> str:
    sizes = [abs(value) for value in values if value is not None and math.isfinite(value)]
    if len(sizes) < 2:
        return ""
    tail = max(1, min(3, len(sizes) // 3))
    # What was usual before: the end itself does not count, and neither does a high start that has long gone.
    usual = statistics.median_low(sizes[:-tail][-WINDOW:])
    begun = next((index for index in range(len(sizes) - 1, 0, -1) if sizes[index - 1] <= usual), 1)
    peak = max(sizes[-tail:])
    if usual <= 0 or peak / usual < TOLD_GROWTH:
        return ""
    steps = len(sizes) - begun
    return f"the {name} grew {number(peak / usual)}x in {steps} step{'s' if steps > 1 else ''} ({number(usual)} to {number(peak)})"
