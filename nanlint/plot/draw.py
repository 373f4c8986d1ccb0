"""Curves below each other as one SVG, readable on a light and a dark page."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.plot.read_log import Curve

WIDTH, HEIGHT, GAP = 720, 180, 26
LEFT, RIGHT, TOP, BOTTOM = 70, 16, 26, 22
WIDE = 1e3
"""A curve whose values span more than this is drawn on a logarithmic scale."""
MOST_POINTS = 2000
"""More than a screen has; of longer curves every n-th point is drawn, and every one that is not finite."""
MARKED = 20
STYLE = """
svg { --ink: #1f6feb; --line: #888; --text: #222; --bad: #c1121f; background: #fff; font: 12px sans-serif }
@media (prefers-color-scheme: dark) { svg { --ink: #6cb6ff; --text: #ddd; --bad: #ff6b6b; background: #111 } }
text { fill: var(--text) } .bad { fill: var(--bad) } .title { font-weight: bold }
"""


def picture(curves: dict[str, Curve]) -> str:
    """All curves, in the order given."""
    height = len(curves) * (HEIGHT + GAP)
    parts = [
        f'<g transform="translate(0 {index * (HEIGHT + GAP)})">{_panel(name, curve)}</g>'
        for index, (name, curve) in enumerate(curves.items())
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
    return f"{head}<style>{STYLE}</style>{''.join(parts)}</svg>\n"


def _panel(name: str, curve: Curve) -> str:
    finite = [(step, value) for step, value in curve if math.isfinite(value)]
    bad = [(step, value) for step, value in curve if not math.isfinite(value)]
    values = [value for _, value in finite]
    is_log = bool(values) and min(values) > 0 and max(values) / min(values) > WIDE
    place = _Places(curve, [math.log10(value) for value in values] if is_log else values)
    shown = finite[:: max(1, len(finite) // MOST_POINTS)]
    points = " ".join(
        f"{place.x(step):.1f},{place.y(math.log10(value) if is_log else value):.1f}" for step, value in shown
    )
    marks = "".join(
        f'<path d="M{place.x(step):.1f} {TOP} V{HEIGHT - BOTTOM}" stroke="var(--bad)" stroke-dasharray="4 3"/>'
        for step, _ in bad[:MARKED]
    )
    if bad:
        marks += f'<text class="bad" x="{WIDTH - RIGHT}" y="{TOP - 8}" text-anchor="end">{bad[0][1]} at step {bad[0][0]:g}</text>'
    title = f'<text class="title" x="{LEFT}" y="{TOP - 8}">{escape(name)}{" (logarithmic)" if is_log else ""}</text>'
    line = f'<polyline fill="none" stroke="var(--ink)" stroke-width="1.5" points="{points}"/>'
    return f"{title}{_axes(curve, values)}{line}{marks}"


class _Places:
    """Where a step and a value are drawn."""

    def __init__(self, curve: Curve, heights: Sequence[float]) -> None:
        steps = [step for step, _ in curve]
        self._first, self._steps = min(steps), (max(steps) - min(steps)) or 1.0
        self._low = min(heights, default=0.0)
        self._span = (max(heights, default=0.0) - self._low) or 1.0

    def x(self, step: float) -> float:
        """Left to right."""
        return LEFT + (WIDTH - LEFT - RIGHT) * (step - self._first) / self._steps

    def y(self, value: float) -> float:
        """Bottom to top."""
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - self._low) / self._span


def _axes(curve: Curve, values: Sequence[float]) -> str:
    floor = HEIGHT - BOTTOM
    first, last = min(step for step, _ in curve), max(step for step, _ in curve)
    labels = [(floor, min(values, default=None)), (TOP + 8, max(values, default=None))]
    numbers = "".join(
        f'<text x="{LEFT - 6}" y="{y}" text-anchor="end">{value:.3g}</text>' for y, value in labels if value is not None
    )
    return (
        f'<path d="M{LEFT} {TOP} V{floor} H{WIDTH - RIGHT}" fill="none" stroke="var(--line)"/>{numbers}'
        f'<text x="{LEFT}" y="{HEIGHT - 6}">step {first:g}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{last:g}</text>'
    )
