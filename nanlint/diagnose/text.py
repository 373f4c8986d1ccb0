"""The answer for people: the likeliest cause with its evidence, what to do first, what to resume from, and what else there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.diagnose.answer import FAILED, INTERRUPTED, Answer, Cause, Resume
from nanlint.report.paint import FAINT, PLAIN, STRONG, Piece
from nanlint.report.wording import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_OTHERS = 6
"""Causes behind the first that are told in a line each; the page and json have all."""
MOST_EVIDENCE = 4
_STYLES = {"seen": "bold red", "confirmed": "bold red", "likely": "bold yellow", "possible": "bold cyan"}
NOTHING = "Nothing was found that explains a NaN."
TRY_A_RUN = 'Let it see the run itself: nanlint diagnose --run "python train.py".'


def report(answer: Answer) -> Iterator[Piece]:
    """The pieces of the report."""
    if answer.is_interrupted:
        yield "Interrupted: this is what is known so far.\n", STRONG
    if answer.causes:
        yield from _first(answer.causes[0])
        yield from _others(answer.causes[1:])
    else:
        yield f"{NOTHING}\n", STRONG
    is_sure = bool(answer.causes) and answer.causes[0].word in {"seen", "confirmed"}
    if not is_sure and any(step.name == "run" and step.state == "skipped" for step in answer.steps):
        yield f"{TRY_A_RUN}\n", PLAIN
    if answer.resume is not None:
        yield from _resume(answer.resume)
    yield from _troubles(answer)


def _first(cause: Cause) -> Iterator[Piece]:
    yield "Most likely cause", STRONG
    yield f" ({cause.word})", _STYLES[cause.word]
    yield "\n", PLAIN
    yield f"  {printable(cause.title)}\n", PLAIN
    if cause.where:
        yield f"  --> {printable(cause.where)}\n", FAINT
    for line in cause.evidence[:MOST_EVIDENCE]:
        yield "  evidence: ", FAINT
        yield f"{one_line(line)}\n", PLAIN
    yield "  first: ", STRONG
    head, *code = cause.first.splitlines() or [""]
    yield f"{one_line(head)}\n", PLAIN
    for line in code:
        yield f"      {printable(line)}\n", PLAIN
    if cause.word in {"likely", "possible"}:
        yield "  This was read and not seen to fail.\n", FAINT


def _others(causes: tuple[Cause, ...]) -> Iterator[Piece]:
    if not causes:
        return
    yield "\nAlso found\n", STRONG
    for number, cause in enumerate(causes[:MOST_OTHERS], 2):
        code = f" [{cause.code}]" if cause.code else ""
        yield f"  {number}. {cause.word}: ", _STYLES[cause.word]
        yield f"{one_line(cause.title)}{code}", PLAIN
        yield f" ({printable(cause.where)})\n" if cause.where else "\n", FAINT
    if len(causes) > MOST_OTHERS:
        yield f"  and {len(causes) - MOST_OTHERS} more (--format json and --report have all)\n", FAINT


def _resume(resume: Resume) -> Iterator[Piece]:
    yield "\nResume from ", STRONG
    yield f"{printable(resume.path)} ({resume.why})\n" if resume.path else f"nothing: {resume.why}\n", PLAIN
    if resume.rate is not None:
        yield "  with learning rate ", STRONG
        yield f"{resume.rate:g}" + (f", {one_line(resume.rate_why)}\n" if resume.rate_why else "\n"), PLAIN


def _troubles(answer: Answer) -> Iterator[Piece]:
    failed = [step for step in answer.steps if step.state in {FAILED, INTERRUPTED}]
    noted = [(step, note) for step in answer.steps for note in step.notes]
    if failed or noted:
        yield "\n", PLAIN
    for step in failed:
        yield f"{step.name} {step.state}: ", "bold yellow"
        yield f"{one_line(step.summary)}\n", PLAIN
    for step, note in noted[:8]:
        yield f"{step.name}: {one_line(note)}\n", FAINT
