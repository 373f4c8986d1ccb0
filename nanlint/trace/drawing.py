"""Histograms as SVG; knows numbers and nothing of where they come from. Curves are drawn by `nanlint.plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 460, 170
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 10, 24


def bars(counts: Sequence[int], low: str, high: str) -> str:
    """A histogram; the ends of its range are written below."""
    top, room = max(counts), WIDTH - LEFT - RIGHT
    width = room / len(counts)
    boxes = "".join(
        f'<rect x="{LEFT + index * width:.1f}" y="{HEIGHT - BOTTOM - size:.1f}" width="{max(width - 1, 1):.1f}" '
        f'height="{size:.1f}" fill="var(--ink0)"/>'
        for index, size in enumerate((HEIGHT - TOP - BOTTOM) * count / top for count in counts)
    )
    floor = HEIGHT - BOTTOM
    axes = (
        f'<path d="M{LEFT} {TOP} V{floor} H{WIDTH - RIGHT}" fill="none" stroke="var(--axis)"/>'
        f'<text x="{LEFT}" y="{HEIGHT - 6}">{low}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{high}</text>'
        f'<text x="{LEFT - 6}" y="{TOP + 8}" text-anchor="end">{top:,}</text>'
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" aria-label="histogram">{axes}{boxes}</svg>'
