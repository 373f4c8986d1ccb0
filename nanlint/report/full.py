"""The report for people: a block per finding, a block of errors, the closing line.

Nothing is wrapped to the terminal's width, so a pipe and a terminal get the same text; colours are laid on top of it
and change no character. A clean run imports neither the blocks nor rich.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.report.closing import closing_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import Report


def chunks(report: Report, *, colour: bool = False, closing: bool = True) -> Iterator[str]:
    """Blocks with an empty line after each, then the closing line."""
    if not report.findings and not report.errors:
        if closing:
            yield f"{closing_line(report)}\n"
        return
    from nanlint.report.block import error_block, finding_block  # noqa: PLC0415 - a clean run needs no blocks
    from nanlint.report.paint import STRONG, painter  # noqa: PLC0415 - same

    paint = painter(colour=colour)
    for finding in report.findings:
        yield "".join(f"{paint(line)}\n" for line in finding_block(finding, report)) + "\n"
    if report.errors:
        yield "".join(f"{paint(line)}\n" for line in error_block(report)) + "\n"
    if closing:
        yield paint([(closing_line(report), STRONG)]) + "\n"
