r"""Lines as Python and editors count them: \n, \r\n and \r end a line, form feeds and U+2028 do not."""

from __future__ import annotations

import io


def split_lines(text: str) -> list[str]:
    """The lines of `text`, each with its line end; joined they are `text` again.

    str.splitlines also splits at form feeds and six other characters, which would shift every later line.
    """
    if "\r" in text:
        return list(io.StringIO(text, newline=""))
    lines = text.split("\n")
    last = lines.pop()
    lines = [line + "\n" for line in lines]
    if last:
        lines.append(last)
    return lines


def line_end(line: str) -> str:
    r"""The newline that ends `line`: \n, \r\n, \r, or nothing."""
    if line.endswith("\r\n"):
        return "\r\n"
    return line[-1:] if line.endswith(("\n", "\r")) else ""


def without_end(line: str) -> str:
    """`line` without its newline."""
    return line.removesuffix(line_end(line))
