"""A diagnosis as one HTML page that needs nothing else: curves, frames, chain, batch, histograms, code and fix."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from nanlint.plot.draw import figure
from nanlint.plot.html_page import marked, whole
from nanlint.trace.text import code_lines, headline, shown_stats
from nanlint.trace.words import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.trace.diagnosis import Diagnosis
    from nanlint.trace.measure import Stats
    from nanlint.trace.places import Place
    from nanlint.trace.readings import Reading

Curve = list[tuple[float, float]]
WIDTH, HEIGHT = 460, 170
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 10, 24
"""Of a histogram."""
_QUANTITIES = (
    ("loss", "loss"),
    ("gradient_norm", "gradient norm, before clipping"),
    ("learning_rate", "learning rate"),
    ("scale", "loss scale"),
    ("margin", "margin to the end of the format"),
)
_BY_LAYER = (
    ("ratios", "update over weight, by layer"),
    ("activations", "largest result, by module"),
    ("scalars", "named scalars"),
)


def page(diagnosis: Diagnosis) -> str:
    """The whole page."""
    return whole(f"nanlint: step {diagnosis.step}: {headline(diagnosis)}", "\n".join(_sections(diagnosis)))


def _sections(diagnosis: Diagnosis) -> Iterator[str]:
    rank = f", rank {diagnosis.rank} of {diagnosis.world}" if diagnosis.world > 1 else ""
    yield f"<h1>Step {diagnosis.step}{rank}: {marked(headline(diagnosis))}</h1>"
    yield f'<p><b class="bad">Seen:</b> {marked(diagnosis.symptom)}.</p>'
    if diagnosis.explosion:
        yield f"<p><b>Growth:</b> {marked(diagnosis.explosion)}.</p>"
    if diagnosis.reason:
        yield f"<p><b>Why:</b> {marked(diagnosis.reason)}.</p>"
    yield from _code(diagnosis)
    yield from _fix(diagnosis)
    yield from _curves(diagnosis)
    yield from _chain(diagnosis)
    yield from _frames(diagnosis)
    yield from _batch(diagnosis)
    yield from _inputs(diagnosis)
    yield from _parameters(diagnosis)
    yield from (f"<p>{marked(note)}.</p>" for note in diagnosis.notes)
    yield from _sources(diagnosis)
    yield from _environment(diagnosis)


def _code(diagnosis: Diagnosis) -> Iterator[str]:
    place = diagnosis.place
    if place is None:
        return
    module = f", module <code>{html.escape(diagnosis.module)}</code>" if diagnosis.module else ""
    yield f'<h2 id="code">{html.escape(place.shown)} in <code>{html.escape(place.function)}</code>{module}</h2>'
    yield _excerpt(place)


def _excerpt(place: Place) -> str:
    rows = [html.escape(row) for row in code_lines(place)]
    return "<pre>" + "\n".join(f'<b class="bad">{row}</b>' if "&gt; " in row[:8] else row for row in rows) + "</pre>"


def _frames(diagnosis: Diagnosis) -> Iterator[str]:
    """The calls that led to the operation, the outermost first."""
    if len(diagnosis.places) < 2:
        return
    yield '<h2 id="frames">The calls that led there</h2><table>'
    for place in reversed(diagnosis.places):
        yield (
            f"<tr><td>{_linked(place)}</td><td>{html.escape(place.function)}</td><td><code>{html.escape(place.source)}</code></td></tr>"
        )
    yield "</table>"


def curves_of(history: Sequence[Reading]) -> Iterator[tuple[str, dict[str, Curve]]]:
    """Titles and lines of what was read, for what was read at all."""
    for name, title in _QUANTITIES:
        points = [
            (float(reading.step), float(value)) for reading in history if (value := getattr(reading, name)) is not None
        ]
        if points:
            yield title, {title: points}
    for name, title in _BY_LAYER:
        lines: dict[str, Curve] = {}
        for reading in history:
            for layer, value in getattr(reading, name).items():
                lines.setdefault(layer, []).append((float(reading.step), float(value)))
        if lines:
            yield title, dict(sorted(lines.items(), key=lambda line: -line[1][-1][1]))


def _curves(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.history:
        return
    yield f'<h2 id="curves">Up to the failure</h2><p>{html.escape(diagnosis.optimizer)}</p><div class="curves">'
    for title, lines in curves_of(diagnosis.history):
        yield f"<figure>{figure(title, lines)}</figure>"
    yield "</div>"


def _chain(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.chain:
        return
    yield '<h2 id="chain">From the first bad value to the loss</h2><ol class="chain">'
    for link in diagnosis.chain:
        way = " (backward)" if link.is_backward else ""
        where = f" at {_linked(link.place)}: <code>{html.escape(link.place.source)}</code>" if link.place else ""
        yield f'<li><b>{html.escape(link.operation.strip("_"))}</b>{way} <span class="bad">{link.what}</span>{where}</li>'
    yield "</ol>"


def _linked(place: Place) -> str:
    return f'<a href="#{_anchor(place)}">{html.escape(place.shown)}</a>'


def _anchor(place: Place) -> str:
    """The same for the same line; nothing of a path that could be markup."""
    return "at-" + "".join(letter if letter.isalnum() else "-" for letter in place.shown)


def _sources(diagnosis: Diagnosis) -> Iterator[str]:
    """The lines that the chain and the calls link to."""
    linked = [*(link.place for link in diagnosis.chain), *(diagnosis.places if len(diagnosis.places) > 1 else ())]
    places = {_anchor(place): place for place in linked if place is not None and place.source}
    if places:
        yield '<h2 id="sources">Source</h2>'
    for anchor, place in places.items():
        yield f'<h3 id="{anchor}" class="faint">{html.escape(place.shown)} in {html.escape(place.function)}</h3>{_excerpt(place)}'


def _batch(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.batch:
        return
    yield '<h2 id="batch">The batch</h2><table><tr><th>tensor</th><th>shape</th><th>dtype</th><th>range</th><th>mean</th><th>rows</th></tr>'
    for given in diagnosis.batch:
        stats = given.stats
        span = f"[{number(stats.low)}, {number(stats.high)}]" if stats.low is not None else "no finite value"
        counts = ((stats.nan, "NaN"), (stats.above, "inf"), (stats.below, "-inf"))
        bad = "".join(f', <b class="bad">{count:,} {word}</b>' for count, word in counts if count)
        mean = number(stats.mean) if stats.mean is not None else ""
        yield (
            f"<tr><td>{html.escape(stats.name)}</td><td>{stats.shape}</td><td>{stats.dtype}</td><td>{span}{bad}</td>"
            f"<td>{mean}</td><td>{html.escape(given.rows)}</td></tr>"
        )
    yield "</table>"
    if diagnosis.saved_batch:
        yield f"<p>Saved: <code>torch.load({html.escape(repr(diagnosis.saved_batch))})</code></p>"
    else:
        yield '<p class="faint">nanlint trace --save-batch FILE keeps it.</p>'


def _inputs(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.inputs:
        return
    yield '<h2 id="inputs">What went in</h2><div class="curves">'
    for stats in diagnosis.inputs:
        yield f"<figure>{_histogram(stats)}<figcaption>{html.escape(shown_stats(stats))}</figcaption></figure>"
    yield "</div>"


def _histogram(stats: Stats) -> str:
    return bars(stats.histogram, number(stats.low), number(stats.high)) if stats.histogram else ""


def _parameters(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.parameters:
        return
    yield '<h2 id="parameters">Nearest parameters</h2><table><tr><th>values</th><th>gradient</th></tr>'
    for state in diagnosis.parameters:
        gradient = html.escape(shown_stats(state.gradient)) if state.gradient else "none"
        yield f"<tr><td>{html.escape(shown_stats(state.values))}</td><td>{gradient}</td></tr>"
    yield "</table>"


def _fix(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.code:
        yield f'<h2 id="fix">{html.escape(diagnosis.code)}</h2><p>{marked(diagnosis.message)}.</p>'
    if diagnosis.diff:
        yield "<pre>" + "\n".join(_diff_line(line) for line in diagnosis.diff.rstrip("\n").split("\n")) + "</pre>"
    elif diagnosis.advice:
        yield f"<p>Instead, for example:</p><pre>{html.escape(diagnosis.advice)}</pre>"
    if diagnosis.repro:
        yield f'<p id="repro">Repro: <code>python {html.escape(diagnosis.repro)}</code></p>'


def _diff_line(line: str) -> str:
    tag = {"+": "ins", "-": "del"}.get(line[:1])
    return f"<{tag}>{html.escape(line)}</{tag}>" if tag else html.escape(line)


def _environment(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.environment:
        return
    yield '<h2 id="environment">The run</h2><table>'
    for name, value in diagnosis.environment.items():
        yield f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
    yield "</table>"


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
