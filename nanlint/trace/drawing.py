"""Curves and histograms as SVG; knows numbers and nothing of where they come from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 460, 170
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 10, 24
WIDE = 1e3
"""A curve whose values span more than this is drawn on a logarithmic scale."""


def curve(steps: Sequence[int], values: Sequence[float | None], title: str) -> str:
    """A line through the finite values; steps whose value is not finite are marked at the top."""
    points = [(step, value) for step, value in zip(steps, values, strict=True) if value is not None]
    finite = [value for _, value in points if math.isfinite(value)]
    scale = _scale(finite)
    low, high = min(map(scale, finite), default=0.0), max(map(scale, finite), default=1.0)
    first, last = steps[0], steps[-1]

    def x(step: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * ((step - first) / (last - first) if last > first else 0.5)

    def y(value: float) -> float:
        share = (scale(value) - low) / (high - low) if high > low else 0.5
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    line = " ".join(f"{x(step):.1f},{y(value):.1f}" for step, value in points if math.isfinite(value))
    bad = [
        f'<path d="M{x(step):.1f} {TOP} v{HEIGHT - TOP - BOTTOM}" stroke="var(--bad)" stroke-dasharray="4 3"/>'
        f'<text x="{x(step) - 4:.1f}" y="{TOP + 10}" text-anchor="end" class="bad">{value} at {step}</text>'
        for step, value in points
        if not math.isfinite(value)
    ]
    labels = [(HEIGHT - BOTTOM, min(finite, default=None)), (TOP + 8, max(finite, default=None))]
    marks = "".join(
        f'<text x="{LEFT - 6}" y="{place}" text-anchor="end">{value:.3g}</text>'
        for place, value in labels
        if value is not None
    )
    return _svg(
        title,
        f'{_axes(str(first), str(last))}{marks}<polyline fill="none" stroke="var(--ink)" '
        f'stroke-width="2" points="{line}"/>{"".join(bad[:3])}',
    )


def _scale(finite: Sequence[float]) -> _Scale:
    is_wide = bool(finite) and min(finite) > 0 and max(finite) / min(finite) > WIDE
    return _Scale(is_logarithmic=is_wide)


class _Scale:
    def __init__(self, *, is_logarithmic: bool) -> None:
        self._is_logarithmic = is_logarithmic

    def __call__(self, value: float) -> float:
        return math.log10(value) if self._is_logarithmic else value


def bars(counts: Sequence[int], low: str, high: str) -> str:
    """A histogram; the ends of its range are written below."""
    top, room = max(counts), WIDTH - LEFT - RIGHT
    width = room / len(counts)
    boxes = "".join(
        f'<rect x="{LEFT + index * width:.1f}" y="{HEIGHT - BOTTOM - size:.1f}" width="{max(width - 1, 1):.1f}" '
        f'height="{size:.1f}" fill="var(--ink)"/>'
        for index, size in enumerate((HEIGHT - TOP - BOTTOM) * count / top for count in counts)
    )
    label = f'<text x="{LEFT - 6}" y="{TOP + 8}" text-anchor="end">{top:,}</text>'
    return _svg("histogram", f"{_axes(low, high)}{label}{boxes}")


def _axes(first: str, last: str) -> str:
    floor = HEIGHT - BOTTOM
    return (
        f'<path d="M{LEFT} {TOP} V{floor} H{WIDTH - RIGHT}" fill="none" stroke="var(--line)"/>'
        f'<text x="{LEFT}" y="{HEIGHT - 6}">{first}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{last}</text>'
    )


def _svg(title: str, content: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" aria-label="{title}">{content}</svg>'
