r"""Indentation that Python reads and libcst does not, written plainly.

A form feed moves Python's tokenizer back to the beginning of the line, and a backslash in front of a statement joins
its line to the next one. libcst rejects both in places, and drops some form feeds in others. So it is given the same
lines with the indentation that Python sees in them; how many columns that moves a line is noted.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanlint.source.lines import line_end, split_lines, without_end

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_BLANK = " \t\f"
_ODD = re.compile(r"\f|^[ \t]*\\$", re.MULTILINE)


def indentation(line: str) -> str:
    """What Python takes for the indentation of a line."""
    blank = line[: len(line) - len(line.lstrip(_BLANK))]
    return blank[blank.rfind("\f") + 1 :]


def with_plain_indentation(text: str, numbers: Sequence[int], tree: ast.AST) -> tuple[str, Mapping[int, int]]:
    """The text with blanks alone for indentation, and line of the text -> columns that it stands further left than before.

    `numbers` are the lines of the file that its lines are, as `tree` has them.
    """
    if not _ODD.search(text.replace("\r", "\n")):
        return text, {}
    inside = {line for node in ast.walk(tree) for line in _lines_inside(node)}
    lines, moved = split_lines(text), {}
    joined, waiting = False, ""
    for index, line in enumerate(lines):
        bare, end = without_end(line), line_end(line)
        blank = bare[: len(bare) - len(bare.lstrip(_BLANK))]
        if joined or (index < len(numbers) and numbers[index] in inside):
            pass
        elif bare[len(blank) :] == "\\":
            # The first blanks before a backslash are the indentation of the statement behind it.
            waiting = waiting or indentation(bare)
            lines[index] = end
            continue
        elif "\f" in blank or waiting:
            plain = waiting or indentation(bare)
            moved[index + 1] = len(blank) - len(plain)
            lines[index] = plain + bare[len(blank) :] + end
        joined, waiting = bare.endswith("\\") and bare[len(blank) :][:1] != "#", ""
    return "".join(lines), moved


def _lines_inside(node: ast.AST) -> Iterator[int]:
    """The lines that begin inside a text, whose blanks are its own."""
    if isinstance(node, (ast.Constant, ast.JoinedStr)):
        yield from range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
