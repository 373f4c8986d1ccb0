"""Curves as SVG, readable on a light and a dark page: a panel for each quantity, with a line for each layer of it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from nanlint.plot.axis import Axis, axis_of, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.plot.read_log import Curve

WIDTH, HEIGHT, GAP = 720, 200, 18
NARROW = 480
"""Of a figure in a page, where two stand side by side."""
LEFT, RIGHT, TOP, BOTTOM = 70, 16, 26, 36
LEGEND = 16
"""Height of a row of the legend."""
IN_A_ROW = 2
MOST_LINES = 12
"""Layers that are drawn: those nearest to trouble, as the log has them."""
MOST_POINTS = 2000
"""More than a screen has; of longer curves every n-th point is drawn, and every one that is not finite."""
MARKED = 20
COLOURS = 6
LIGHT = "--ink0:#1f5fd0;--ink1:#b3570b;--ink2:#18794e;--ink3:#8a3ffc;--ink4:#a2185b;--ink5:#4d5b6b;--axis:#888;--grid:#8883;--text:#222;--bad:#c1121f"
DARK = "--ink0:#6cb6ff;--ink1:#f0a35e;--ink2:#57c98a;--ink3:#c4a1ff;--ink4:#ff8fc0;--ink5:#a8b3c2;--text:#ddd;--bad:#ff6b6b"
STYLE = f"""
svg {{ {LIGHT}; background: #fff; font: 12px sans-serif }}
@media (prefers-color-scheme: dark) {{ svg {{ {DARK}; background: #111 }} }}
text {{ fill: var(--text) }} .bad {{ fill: var(--bad) }} .title {{ font-weight: bold }}
"""

_PLAIN = "text { font: 12px sans-serif; fill: var(--text) } .bad { fill: var(--bad) } .title { font-weight: bold }"


def picture(curves: Mapping[str, Curve], *, across: str = "step") -> str:
    """All curves below each other, as a file of its own; `ratios.a` and `ratios.b` share a panel. `across` is what they run over."""
    panels: list[str] = []
    top = 0
    for title, lines in by_quantity(curves).items():
        panel = _panel(title, lines, WIDTH, across)
        panels.append(f'<g transform="translate(0 {top})">{panel.drawn()}</g>')
        top += panel.height + GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}">'
    return f"{head}<style>{STYLE}</style>{''.join(panels)}</svg>\n"


def bitmap(svg: str) -> bytes:
    """A picture as PNG, in its light colours and at twice its size; raises ImportError without resvg."""
    import resvg_py  # noqa: PLC0415 - an extra, for this format alone

    colours = dict(each.split(":") for each in LIGHT.split(";"))
    # resvg knows neither variables nor rules about the reader's screen.
    plain = re.sub(r"<style>.*?</style>", f"<style>{_PLAIN}</style>", svg, flags=re.DOTALL)
    plain = re.sub(r"var\((--\w+)\)", lambda found: colours[found[1]], plain)
    fonts = files("font_roboto") / "files"
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=plain,
            background="#ffffff",
            zoom=2,
            # A machine without a screen often has no fonts.
            skip_system_fonts=True,
            font_dirs=[str(fonts)],
            sans_serif_family="Roboto",
        )
    )


def figure(title: str, lines: Mapping[str, Curve]) -> str:
    """One panel as an element of a page, which has the colours."""
    panel = _panel(title, lines, NARROW)
    size = f'viewBox="0 0 {NARROW} {panel.height}" width="{NARROW}"'
    return f'<svg {size} role="img" aria-label="{escape(title)}">{panel.drawn()}</svg>'


def by_quantity(curves: Mapping[str, Curve]) -> dict[str, dict[str, Curve]]:
    """Curves whose names begin alike, by what they have in common: what was read of each layer."""
    found: dict[str, dict[str, Curve]] = {}
    for name, curve in curves.items():
        outer, _, inner = name.partition(".")
        found.setdefault(outer if inner else name, {})[inner or name] = curve
    return found


def _panel(title: str, lines: Mapping[str, Curve], width: int, across: str = "step") -> _Panel:
    shown = dict(list(lines.items())[:MOST_LINES])
    steps = [step for curve in shown.values() for step, _ in curve]
    values = [value for curve in shown.values() for _, value in curve if math.isfinite(value)]
    # Steps are counted, never spread over a logarithmic scale.
    return _Panel(title, shown, width, Axis(min(steps, default=0.0), max(steps, default=1.0)), axis_of(values), across)


@dataclass(frozen=True)
class _Panel:
    """One quantity over the steps."""

    title: str
    lines: Mapping[str, Curve]
    width: int
    steps: Axis
    values: Axis
    across: str

    @property
    def height(self) -> int:
        """With room for the names of the lines, if there are several."""
        return HEIGHT + (LEGEND * math.ceil(len(self.lines) / IN_A_ROW) if len(self.lines) > 1 else 0)

    def drawn(self) -> str:
        """All of it."""
        scale = " (logarithmic)" if self.values.is_log else ""
        head = f'<text class="title" x="{LEFT}" y="{TOP - 8}">{escape(self.title)}{scale}</text>'
        lines = "".join(self._line(curve, index) for index, curve in enumerate(self.lines.values()))
        names = self._legend() if len(self.lines) > 1 else ""
        return f"{head}{self._axes()}{lines}{self._marks()}{names}"

    def _x(self, step: float) -> float:
        return LEFT + (self.width - LEFT - RIGHT) * self.steps.share(step)

    def _y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * self.values.share(value)

    def _line(self, curve: Curve, index: int) -> str:
        finite = [(step, value) for step, value in curve if math.isfinite(value)]
        places = [(self._x(step), self._y(value)) for step, value in finite[:: max(1, len(finite) // MOST_POINTS)]]
        ink = f"var(--ink{index % COLOURS})"
        if len(places) == 1:
            return f'<circle cx="{places[0][0]:.1f}" cy="{places[0][1]:.1f}" r="3" fill="{ink}"/>'
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        return f'<polyline fill="none" stroke="{ink}" stroke-width="1.5" points="{points}"/>'

    def _marks(self) -> str:
        """A dashed line at each step with a value that is not finite, and what it was at the first."""
        points = [point for curve in self.lines.values() for point in curve]
        bad = sorted({step: value for step, value in reversed(points) if not math.isfinite(value)}.items())
        lines = "".join(
            f'<path d="M{self._x(step):.1f} {TOP} V{HEIGHT - BOTTOM}" stroke="var(--bad)" stroke-dasharray="4 3"/>'
            for step, _ in bad[:MARKED]
        )
        if bad:
            step, value = bad[0]
            lines += f'<text class="bad" x="{self.width - RIGHT}" y="{TOP - 8}" text-anchor="end">{value} at step {step:g}</text>'
        return lines

    def _axes(self) -> str:
        floor, right = HEIGHT - BOTTOM, self.width - RIGHT
        parts = [f'<path d="M{LEFT} {TOP} V{floor} H{right}" fill="none" stroke="var(--axis)"/>']
        for value in self.values.ticks() or [self.values.low]:
            y = self._y(value)
            parts.append(f'<path d="M{LEFT} {y:.1f} H{right}" stroke="var(--grid)"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{written(value)}</text>')
        for step in self.steps.ticks(whole=True):
            x = self._x(step)
            parts.append(f'<path d="M{x:.1f} {floor} v4" stroke="var(--axis)"/>')
            parts.append(f'<text x="{x:.1f}" y="{floor + 17}" text-anchor="middle">{step:g}</text>')
        parts.append(f'<text x="{right}" y="{floor + 32}" text-anchor="end">{escape(self.across)}</text>')
        return "".join(parts)

    def _legend(self) -> str:
        room = (self.width - LEFT - RIGHT) / IN_A_ROW
        parts = []
        for index, name in enumerate(self.lines):
            x, y = LEFT + room * (index % IN_A_ROW), HEIGHT + LEGEND * (index // IN_A_ROW) + 8
            parts.append(f'<path d="M{x:.0f} {y - 4} h14" stroke="var(--ink{index % COLOURS})" stroke-width="3"/>')
            parts.append(f'<text x="{x + 20:.0f}" y="{y}">{escape(_short(name, int(room / 7) - 3))}</text>')
        return "".join(parts)


def _short(name: str, room: int) -> str:
    """The end of a name tells layers apart."""
    return name if len(name) <= room else f"…{name[1 - room :]}"
