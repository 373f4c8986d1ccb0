"""The words that several formats share: where a finding is, and how foreign text is put on one line.

Knows no format and imports nothing, because `concise` on a clean run must cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanlint.model import FileError, Finding

TAB = "    "

# Control characters could drive the reader's terminal, and bidirectional ones could reorder the code on the screen.
_INVISIBLE = [*range(0x20), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
_ESCAPES = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _INVISIBLE} | {ord("\t"): TAB}


def printable(text: str) -> str:
    """`text` with a tab as four spaces and what would move the cursor as an escape; a prefix stays a prefix."""
    return text if text.isascii() and text.isprintable() else text.translate(_ESCAPES)


def one_line(text: str) -> str:
    """`text` on one line, its line breaks turned into single spaces."""
    return printable(" ".join(part.strip() for part in text.splitlines()))


def place(finding: Finding) -> str:
    """`path:line:column`, in a notebook `path:cell 3:line:column`."""
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    return f"{printable(finding.path)}:{cell}{finding.span.line}:{finding.span.column}"


def error_place(error: FileError) -> str:
    """`path:line`, or the path alone when no line is to blame."""
    path = printable(error.path)
    return path if error.line is None else f"{path}:{error.line}"


def message_with_cell(finding: Finding) -> str:
    """The message, in a notebook with cell and line before it.

    For formats whose reader takes a line number as one of the raw file: there the lines of a cell mean nothing.
    """
    if finding.cell is None:
        return finding.message
    return f"cell {finding.cell}, line {finding.span.line}: {finding.message}"


def verdict_words(finding: Finding) -> str:
    """What running it showed, in a few words; empty when it was not run."""
    verdict = finding.verdict
    if verdict is None:
        return ""
    parts = [verdict.plausibility.value if verdict.plausibility else "", _FIX_WORDS[verdict.fix_verified]]
    return ", ".join([verdict.kind.value, *filter(None, parts)])


_FIX_WORDS = {True: "fix verified", False: "the fix does not mend it", None: ""}


def counted(count: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
