"""How often each rule fired: the table of `--statistics`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from nanlint.model import Applicability
from nanlint.report.paint import ADDED, FAINT, PLAIN, STRONG, Piece, painter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from nanlint.model import Report

ALL_FIXABLE, SOME_FIXABLE, NOT_FIXABLE = "[*]", "[-]", ""
_LEGENDS = {ALL_FIXABLE: "[*] fixable with --fix", SOME_FIXABLE: "[-] some of them fixable with --fix"}


def render_statistics(report: Report, out: TextIO, *, colour: bool = False) -> None:
    """Write count, code, name and fixable marker per rule, most frequent first; nothing when nothing was found."""
    if not report.findings:
        return
    paint = painter(colour=colour)
    out.writelines(paint(line) + "\n" for line in _table(report))


def _table(report: Report) -> Iterator[list[Piece]]:
    counts = Counter((finding.code, finding.name) for finding in report.findings)
    safe = Counter(
        (finding.code, finding.name)
        for finding in report.findings
        if finding.fix and finding.fix.applicability is Applicability.SAFE
    )
    number_width = len(str(max(counts.values())))
    code_width, name_width = (max(len(rule[column]) for rule in counts) for column in (0, 1))
    markers = {rule: _marker(safe[rule], count) for rule, count in counts.items()}
    for rule, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        code, name = rule
        padded = f"{name:{name_width}}  " if markers[rule] else name
        yield [
            (f"{count:>{number_width}}", STRONG),
            (f"  {code:{code_width}}  {padded}", PLAIN),
            (markers[rule], ADDED),
        ]
    used = [legend for marker, legend in _LEGENDS.items() if marker in markers.values()]
    if used:
        yield [("  ".join(used), FAINT)]


def _marker(safe: int, count: int) -> str:
    if not safe:
        return NOT_FIXABLE
    return ALL_FIXABLE if safe == count else SOME_FIXABLE
