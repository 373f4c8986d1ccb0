r"""Lines as Python and editors count them: \n, \r\n and \r end a line, form feeds and U+2028 do not."""

from __future__ import annotations

import io

# Where str.splitlines parts lines that are one to everybody else.
_ODD = ("\f", "\v", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")


def split_lines(text: str) -> list[str]:
    """The lines of `text`, each with its line end; joined they are `text` again."""
    if not any(odd in text for odd in _ODD):
        return text.splitlines(keepends=True)
    return list(io.StringIO(text, newline=""))


def line_end(line: str) -> str:
    r"""The newline that ends `line`: \n, \r\n, \r, or nothing."""
    if line.endswith("\r\n"):
        return "\r\n"
    return line[-1:] if line.endswith(("\n", "\r")) else ""


def without_end(line: str) -> str:
    """`line` without its newline."""
    return line.removesuffix(line_end(line))
