"""The answer as one HTML page that needs nothing else: causes with their evidence, what to resume from, curves, steps."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import nanlint
from nanlint.plot.draw import by_quantity, figure
from nanlint.plot.html_page import marked, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.diagnose.answer import Answer, Cause

MOST_FILES = 12
"""Files of one kind that are listed."""


def page(answer: Answer) -> str:
    """The whole page."""
    first = answer.causes[0].title if answer.causes else "nothing was found that explains a NaN"
    return whole(f"nanlint diagnose: {first}", "\n".join(_sections(answer)))


def _sections(answer: Answer) -> Iterator[str]:
    yield f'<p class="faint">nanlint diagnose {html.escape(nanlint.__version__)}, {html.escape(answer.project)}</p>'
    if answer.is_interrupted:
        yield '<p class="bad">Interrupted: this is what was known by then.</p>'
    if not answer.causes:
        yield "<h1>Nothing was found that explains a NaN</h1>"
    for number, cause in enumerate(answer.causes, 1):
        if number == 2:
            yield '<h2 id="others">Also found</h2>'
        yield from _cause(number, cause)
    yield from _resume(answer)
    yield from _curves(answer)
    yield from _steps(answer)
    yield from _inventory(answer)


def _cause(number: int, cause: Cause) -> Iterator[str]:
    code = f" <code>{html.escape(cause.code)}</code>" if cause.code else ""
    if number == 1:
        yield f'<h1 id="cause">{marked(cause.title)}{code}</h1>'
    else:
        yield f"<h3>{number}. {marked(cause.title)}{code}</h3>"
    where = f", <code>{html.escape(cause.where)}</code>" if cause.where else ""
    yield f'<p><b class="bad">{cause.word}</b>{where}</p><ul>'
    yield from (f"<li>{marked(line)}</li>" for line in cause.evidence)
    head, _, code = cause.first.partition("\n")
    yield f"</ul><p><b>What to do:</b> {marked(head)}</p>"
    if code:
        yield f"<pre>{html.escape(code)}</pre>"


def _resume(answer: Answer) -> Iterator[str]:
    resume = answer.resume
    if resume is None:
        return
    what = f"<code>{html.escape(resume.path)}</code>" if resume.path else "nothing"
    yield f'<h2 id="resume">Resume from {what}</h2><p>{marked(resume.why)}</p>'
    if resume.rate is not None:
        yield f"<p>With learning rate <b>{resume.rate:g}</b>: {marked(resume.rate_why)}</p>"


def _curves(answer: Answer) -> Iterator[str]:
    for title, curves in answer.curves.items():
        yield f'<h2 class="run">{html.escape(title)}</h2><div class="curves">'
        yield from (f"<figure>{figure(name, lines)}</figure>" for name, lines in by_quantity(curves).items())
        yield "</div>"


def _steps(answer: Answer) -> Iterator[str]:
    yield '<h2 id="steps">What was looked at</h2><table><tr><th>step</th><th>state</th><th>result</th><th>seconds</th></tr>'
    for step in answer.steps:
        notes = "".join(f"<br>{marked(note)}" for note in step.notes)
        yield f"<tr><td>{step.name}</td><td>{step.state}</td><td>{marked(step.summary)}{notes}</td><td>{step.seconds:.1f}</td></tr>"
    yield "</table>"


def _inventory(answer: Answer) -> Iterator[str]:
    yield '<h2 id="files">Files</h2><table>'
    for kind, paths in answer.inventory.items():
        more = f" and {len(paths) - MOST_FILES} more" if len(paths) > MOST_FILES else ""
        shown = ", ".join(f"<code>{html.escape(path)}</code>" for path in paths[:MOST_FILES])
        yield f"<tr><th>{kind}</th><td>{shown or 'none'}{more}</td></tr>"
    yield "</table>"
