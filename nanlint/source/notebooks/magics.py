r"""IPython's own syntax in a notebook cell, put aside for the analysis and put back afterwards.

`%magic`, `!shell`, `help?` and `x = !ls` are no Python. Each such line is replaced by a statement that parses, in the
same place and on as many lines, and is found again by the number in its comment. This module knows lines of text; it
knows neither notebooks nor JSON.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanlint.source.lines import line_end, split_lines, without_end
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Cell magics whose body is Python that runs in the notebook's terms; the body of any other is not for us.
PYTHON_CELL_MAGICS = word_set("""
    capture debug ipytest memit prun pyinstrument python python3 scalene snakeviz time timeit wandb
""")

_NEWLINE = r"(?:\r\n|\r|\n)"
_CELL_MAGIC = re.compile(rf"(?:[ \t]*{_NEWLINE})*%%([^\s?]*)(?!\S*\?)")
# No Python statement starts with one of these.
_ESCAPED = re.compile(r"([ \t]*)[%!?,;/]")
# `pip install torch`, `ls /content`, `rm -rf runs`: IPython takes these words for magics without a percent sign. No Python
# has two names in a row, and nobody divides by a name or subtracts one without a space behind the sign and for nothing.
_AUTOMAGIC = re.compile(
    r"([ \t]*)(?:cat|cd|conda|cp|less|ls|mamba|mkdir|more|mv|pip|rm|rmdir|uv)[ \t]+"
    r"(?:(?!(?:and|for|if|in|is|not|or)\b)[A-Za-z~$]|[./-]+[A-Za-z][^=\r\n]*(?=[\r\n]|\Z)|\.)"
)
# `names = !ls`, `d["key"] = %magic`: the first `=` outside strings and parentheses, then an escape.
_ASSIGNED = re.compile(r"""((?:[^=#'"()\r\n]|'[^'\r\n]*'|"[^"\r\n]*")*=[ \t]*)(?:%\w|!(?!=))""")
# `torch.log?`: a question mark ends no Python line outside strings and comments.
_HELP = re.compile(r"""([ \t]*)[^\s#'"][^#'"\r\n]*\?[ \t]*(?=[\r\n]|\Z)""")
# One physical line, and those that a backslash at its end adds to it.
_CONTINUED_LINE = re.compile(rf"(?:[^\r\n]*\\{_NEWLINE})*[^\r\n]*(?:{_NEWLINE}|\Z)")
# What decides where a logical line ends. Text between the matches does not matter.
_TOKEN = re.compile(
    r"#[^\r\n]*"
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'[^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*'"
    r'|"[^"\\\r\n]*(?:\\(?:\r\n|.)[^"\\\r\n]*)*"'
    rf"|\\{_NEWLINE}|(?P<newline>{_NEWLINE})|(?P<open>[(\[{{])|(?P<close>[)\]}}])",
    re.DOTALL,
)


def cell_magic(source: str) -> str | None:
    """The name of the magic that takes the whole cell, such as "bash" for `%%bash`; None if none does."""
    found = _CELL_MAGIC.match(source)
    return found[1] if found else None


def is_python(source: str) -> bool:
    """Whether the cell's body is Python, perhaps under a magic that runs it as such."""
    magic = cell_magic(source)
    return magic is None or magic in PYTHON_CELL_MAGICS


def mask(source: str, label: str) -> tuple[str, dict[str, str]]:
    """The cell with its magics replaced, and for each replacement (without indentation) the line it stands for.

    `label` must not occur in `source`. The line count stays, and so do all other lines.
    """
    originals: dict[str, str] = {}
    parts: list[str] = []
    end = 0
    for start, stop, prefix in _magics(source):
        parts.append(source[end:start])
        end = stop
        for line in split_lines(source[start:stop]):
            stand_in = f"{prefix}# {label} {len(originals) + 1}"
            originals[stand_in.lstrip(" \t")] = without_end(line)
            parts.append(stand_in + line_end(line))
            prefix = ""  # noqa: PLW2901 - lines that a backslash adds become comments
    parts.append(source[end:])
    return "".join(parts), originals


def unmask(masked: str, originals: Mapping[str, str]) -> str | None:
    """The inverse of `mask`, also after edits between the magics; None if a magic was touched, moved or lost."""
    waiting = iter(originals.items())
    stand_in, original = next(waiting, (None, ""))
    lines: list[str] = []
    for line in split_lines(masked):
        bare = line.strip()
        if bare in originals:
            if bare != stand_in:
                return None
            lines.append(_reindented(original, line, bare) + line_end(line))
            stand_in, original = next(waiting, (None, ""))
        else:
            lines.append(line)
    return "".join(lines) if stand_in is None else None


def _magics(source: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and Python stand-in of each magic, where a statement could start: never inside strings or brackets."""
    at = 0
    while at < len(source):
        prefix = _stand_in(source, at)
        if prefix is None:
            at = _end_of_logical_line(source, at)
        else:
            start = at
            at = _end_of_continued_line(source, at)
            yield start, at, prefix


def _stand_in(source: str, at: int) -> str | None:
    """The code that replaces the magic on the line at `at`; None if that line is Python."""
    if found := _ESCAPED.match(source, at) or _HELP.match(source, at) or _AUTOMAGIC.match(source, at):
        return f"{found[1]}pass  "
    if found := _ASSIGNED.match(source, at):
        return f"{found[1]}get_ipython()  "
    return None


def _end_of_continued_line(source: str, at: int) -> int:
    line = _CONTINUED_LINE.match(source, at)
    return line.end() if line else len(source)


def _end_of_logical_line(source: str, at: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(source, at):
        if token.lastgroup == "open":
            depth += 1
        elif token.lastgroup == "close":
            depth = max(depth - 1, 0)
        elif token.lastgroup == "newline" and depth == 0:
            return token.end()
    return len(source)


def _reindented(original: str, line: str, bare: str) -> str:
    """`original` with the indentation that its stand-in has now."""
    if bare.startswith("#"):
        return original
    return line[: line.index(bare)] + original.lstrip(" \t")
