"""A diagnosis as one HTML page that needs nothing else: curves, chain, histogram, code and fix."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from nanlint.trace.drawing import bars, curve
from nanlint.trace.text import code_lines, headline, shown_stats
from nanlint.trace.words import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.trace.diagnosis import Diagnosis
    from nanlint.trace.measure import Stats

STYLE = """
:root { color-scheme: light dark; --line: #8884; --bad: #d33; --good: #2a7; --ink: #46c; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
pre { padding: .75rem; border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; font-size: 13px; }
.bad, del { color: var(--bad); text-decoration: none; } .good, ins { color: var(--good); text-decoration: none; }
table { border-collapse: collapse; font-size: 13px; } td, th { padding: .2rem .6rem; border-bottom: 1px solid var(--line);
text-align: left; } td { font-variant-numeric: tabular-nums; }
.curves { display: flex; flex-wrap: wrap; gap: 1rem; } figure { margin: 0; } figcaption { font-size: 13px; opacity: .8; }
ol.chain { list-style: none; padding: 0; border-left: 3px solid var(--bad); } ol.chain li { padding: .2rem .8rem; }
svg { max-width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
""".strip()


def page(diagnosis: Diagnosis) -> str:
    """The whole page."""
    body = "\n".join(_sections(diagnosis))
    title = html.escape(f"step {diagnosis.step}: {headline(diagnosis)}")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>nanlint: {title}</title>\n'
        f"<style>\n{STYLE}\n</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _sections(diagnosis: Diagnosis) -> Iterator[str]:
    rank = f", rank {diagnosis.rank} of {diagnosis.world}" if diagnosis.world > 1 else ""
    yield f"<h1>Step {diagnosis.step}{rank}: {_marked(headline(diagnosis))}</h1>"
    yield f'<p><b class="bad">Seen:</b> {_marked(diagnosis.symptom)}.</p>'
    if diagnosis.reason:
        yield f"<p><b>Why:</b> {_marked(diagnosis.reason)}.</p>"
    yield from _code(diagnosis)
    yield from _curves(diagnosis)
    yield from _chain(diagnosis)
    yield from _inputs(diagnosis)
    yield from _parameters(diagnosis)
    yield from _fix(diagnosis)
    yield from (f"<p>{_marked(note)}.</p>" for note in diagnosis.notes)


def _marked(text: str) -> str:
    """Text for HTML, with `code` in backticks set as code."""
    parts = html.escape(text).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))


def _code(diagnosis: Diagnosis) -> Iterator[str]:
    place = diagnosis.place
    if place is None:
        return
    module = f", module <code>{html.escape(diagnosis.module)}</code>" if diagnosis.module else ""
    yield f'<h2 id="code">{html.escape(place.shown)} in <code>{html.escape(place.function)}</code>{module}</h2>'
    rows = [html.escape(row) for row in code_lines(place)]
    yield "<pre>" + "\n".join(f'<b class="bad">{row}</b>' if "&gt; " in row[:8] else row for row in rows) + "</pre>"
    callers = [f"{caller.shown} in {caller.function}" for caller in diagnosis.places[1:4]]
    if callers:
        yield f"<p>Called from {html.escape(', from '.join(callers))}.</p>"


def _curves(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.history:
        return
    yield f'<h2 id="curves">Up to the failure</h2><p>{html.escape(diagnosis.optimizer)}</p><div class="curves">'
    steps = [reading.step for reading in diagnosis.history]
    for title, values in (
        ("loss", [reading.loss for reading in diagnosis.history]),
        ("gradient norm", [reading.gradient_norm for reading in diagnosis.history]),
        ("learning rate", [reading.learning_rate for reading in diagnosis.history]),
        ("loss scale", [reading.scale for reading in diagnosis.history]),
    ):
        if any(value is not None for value in values):
            yield f"<figure>{curve(steps, values, title)}<figcaption>{title}</figcaption></figure>"
    yield "</div>"


def _chain(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.chain:
        return
    yield '<h2 id="chain">From the first bad value to the loss</h2><ol class="chain">'
    for link in diagnosis.chain:
        way = " (backward)" if link.is_backward else ""
        where = f" at {link.place.shown}: <code>{html.escape(link.place.source)}</code>" if link.place else ""
        yield f'<li><b>{html.escape(link.operation.strip("_"))}</b>{way} <span class="bad">{link.what}</span>{where}</li>'
    yield "</ol>"


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
        yield f'<h2 id="fix">{html.escape(diagnosis.code)}</h2><p>{_marked(diagnosis.message)}.</p>'
    if diagnosis.diff:
        yield "<pre>" + "\n".join(_diff_line(line) for line in diagnosis.diff.rstrip("\n").split("\n")) + "</pre>"
    if diagnosis.repro:
        yield f'<p id="repro">Repro: <code>python {html.escape(diagnosis.repro)}</code></p>'


def _diff_line(line: str) -> str:
    tag = {"+": "ins", "-": "del"}.get(line[:1])
    return f"<{tag}>{html.escape(line)}</{tag}>" if tag else html.escape(line)
