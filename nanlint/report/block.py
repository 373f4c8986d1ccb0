"""One finding as a block: message, place, code frame with labels, the reason, the code to write, the offered fix, and where to read on."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from nanlint.model import FORMATS, Applicability, Direction
from nanlint.report.closing import unchecked_files
from nanlint.report.frame import Row, change_rows, frame_rows
from nanlint.report.hunks import Hunk, hunks
from nanlint.report.paint import ADDED, FAINT, GUTTER, PLAIN, REMOVED, SEVERITY_STYLES, STRONG, Piece
from nanlint.report.wording import counted, error_place, one_line, place, verdict_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.model import Finding, Fix, Report

Line = list[Piece]

PROSE_WIDTH = 100
SHORT_REASON = 160  # beyond this many characters, further sentences are left to `nanlint explain`

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")
_FIX_WORDS = {Applicability.SAFE: "safe", Applicability.UNSAFE: "unsafe", Applicability.SHOW: "sketch"}
_SIGN_STYLES = {"|": GUTTER, "-": REMOVED, "+": ADDED}


def finding_block(finding: Finding, report: Report) -> Iterator[Line]:
    """The lines of the block; what is not known (source, rule, fix) is left out."""
    source = report.source_lines(finding.path, finding.cell)
    frame = frame_rows(source, finding.span, SEVERITY_STYLES[finding.severity], finding.labels)
    changes = _fix_rows(finding.fix, source) if finding.fix else []
    width = max(len(str(row.number or finding.span.line)) for row in [*frame, *changes, Row(None, "|", ())])
    yield _header(finding)
    yield [(f"{'':{width}}--> ", GUTTER), (place(finding), PLAIN)]
    if frame:
        rows = [Row(None, "|", ()), *frame, Row(None, "|", ())]
        yield from (_laid_out(row, width) for row in rows)
    yield from _note(width, "why", _reason(finding, report))
    yield from _note(width, "breaks", _circumstances(finding))
    yield from _note(width, "help", one_line(finding.help))
    yield from _verdict(finding, width)
    if report.explains_levels:
        from nanlint.report.evidence import level_reasons  # noqa: PLC0415 - few ask

        for line in level_reasons(finding):
            yield from _note(width, "level", line)
    if finding.fix:
        yield from _note(width, f"fix ({_FIX_WORDS[finding.fix.applicability]})", one_line(finding.fix.title))
        yield from (_laid_out(row, width) for row in changes)
    yield _read_on(finding, report, width)


def error_block(report: Report) -> Iterator[Line]:
    """What could not be checked and why, one line each."""
    count = counted(unchecked_files(report), "file")
    yield [("error", "bold red"), (f": {count} could not be fully checked", STRONG)]
    for error in report.errors:
        yield [("  ", PLAIN), (error_place(error), STRONG), (f": {one_line(error.message)}", PLAIN)]


def _header(finding: Finding) -> Line:
    return [
        (finding.severity.value, SEVERITY_STYLES[finding.severity]),
        (f" {finding.code} {finding.name}", STRONG),
        (f": {one_line(finding.message)}", PLAIN),
    ]


def _laid_out(row: Row, width: int) -> Line:
    """`row` behind its gutter, without blanks at the end."""
    number = "" if row.number is None else str(row.number)
    gutter: Line = [(f"{number:>{width}} ", GUTTER), (row.sign, _SIGN_STYLES[row.sign])]
    filled = any(text for text, _style in row.pieces)
    return [*gutter, (" ", PLAIN), *row.pieces] if filled else gutter


def _note(width: int, label: str, text: str) -> Iterator[Line]:
    """`= label: text`, folded with the further lines under the first; nothing for an empty text."""
    head = f"{'':{width}} = "
    folded = textwrap.wrap(text, PROSE_WIDTH, break_long_words=False, break_on_hyphens=False)
    for index, part in enumerate(folded):
        if index == 0:
            yield [(head, GUTTER), (f"{label}: ", STRONG), (part, PLAIN)]
        else:
            yield [(" " * (len(head) + len(label) + 2) + part, PLAIN)]


def _verdict(finding: Finding, width: int) -> Iterator[Line]:
    """What running it showed, where it ran, and the file that shows it again."""
    verdict = finding.verdict
    if verdict is None:
        return
    yield from _note(width, verdict_words(finding), one_line(verdict.reason or ""))
    ran = ", ".join(
        filter(None, [verdict.level and f"{verdict.level} level", verdict.dtype, verdict.device, verdict.how])
    )
    yield from _note(width, "ran", one_line(ran))
    yield from _note(width, "proof", one_line(verdict.repro or ""))


def _reason(finding: Finding, report: Report) -> str:
    """The finding's own reason, else the first sentences of the rule's: always one, more while they are short."""
    if finding.why:
        return one_line(finding.why)
    info = report.rules.get(finding.code)
    paragraph = one_line(info.why.strip().split("\n\n")[0]) if info else ""
    first, *others = _SENTENCE_END.split(paragraph)
    for sentence in others:
        if len(first) + len(sentence) >= SHORT_REASON:
            break
        first = f"{first} {sentence}"
    return first


def _circumstances(finding: Finding) -> str:
    """The pass if it is the backward alone, and the formats if it does not break in all of them."""
    backward = "in the backward pass" if finding.direction is Direction.BACKWARD else ""
    formats = f"in {_listed(finding.dtypes)}" if finding.dtypes and not {*finding.dtypes} >= {*FORMATS} else ""
    return ", ".join(filter(None, (backward, formats)))


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _fix_rows(fix: Fix, source: Sequence[str]) -> list[Row]:
    """The change line by line; without the source only the new text is known."""
    new_text = [Hunk(edit.span.line, (), tuple(edit.text.splitlines())) for edit in fix.edits]
    return list(change_rows(hunks(fix, source) or new_text))


def _read_on(finding: Finding, report: Report, width: int) -> Line:
    info = report.rules.get(finding.code)
    line: Line = [(f"{'':{width}} = ", GUTTER), ("help: ", STRONG), (f"nanlint explain {finding.code}", PLAIN)]
    return [*line, (f"  {info.url}", FAINT)] if info and info.url else line
