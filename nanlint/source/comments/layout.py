r"""Where the comments of a file stand, and which lines belong together.

A stretch is one logical line: a simple statement with all its physical lines, or the header of a compound one (its
body has stretches of its own). One regular expression reads ordinary files five times faster than `tokenize`; where it
is in doubt `tokenize` decides, and text that is no Python at all is read line by line. Lines end at \n, \r\n and \r.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

# A string in one piece, so that neither a "#" nor a bracket in it counts; a quote that begins no string comes alone.
_LEXEME = re.compile(
    r"""
    \n | [()\[\]{}] | \#[^\n]* | \\\n
    | \"{3} [^"\\]* (?: (?: \\. | "(?!"") ) [^"\\]* )* \"{3}
    | '{3} [^'\\]* (?: (?: \\. | '(?!'') ) [^'\\]* )* '{3}
    | " [^"\\\n]* (?: \\. [^"\\\n]* )* "
    | ' [^'\\\n]* (?: \\. [^'\\\n]* )* '
    | ["']
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment from its `#`; `column` counts from 1, and `alone` says that no code stands before it on the line."""

    line: int
    column: int
    text: str
    alone: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """The lines of a file without their ends, its comments, and its stretches as (first line, last line)."""

    lines: list[str]
    comments: list[Comment]
    stretches: list[tuple[int, int]]
    python: bool = True
    """False if the text is no Python, so that stretches are mere lines."""

    def stretch_at(self, line: int) -> tuple[int, int] | None:
        """The stretch that `line` belongs to; None for blank and comment lines between statements."""
        index = bisect_left(self.stretches, line, key=lambda stretch: stretch[1])
        if index < len(self.stretches) and self.stretches[index][0] <= line:
            return self.stretches[index]
        return None

    def stretch_after(self, line: int) -> tuple[int, int] | None:
        """The first stretch below `line`; decorators are one with the header that they stand on."""
        index = bisect_left(self.stretches, line + 1, key=lambda stretch: stretch[0])
        if index == len(self.stretches):
            return None
        first, last = self.stretches[index]
        while index + 1 < len(self.stretches) and self.lines[self.stretches[index][0] - 1].lstrip().startswith("@"):
            index += 1
            last = self.stretches[index][1]
        return first, last


def read_layout(text: str) -> Layout:
    """The layout of `text`, whatever it is: this never fails."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _lexed(text) or _tokenized(text) or _line_by_line(text)


def _lexed(text: str) -> Layout | None:  # noqa: C901 - one loop over one alternation: split, it would only be longer
    """None if there is doubt: unbalanced brackets, a quote without its twin, quotes nested in an f-string."""
    comments: list[Comment] = []
    stretches: list[tuple[int, int]] = []
    line, line_start, depth, first = 1, 0, 0, 0
    code_end = -1  # where the comment of the present line begins
    for match in _LEXEME.finditer(text):
        lexeme, start = match[0], match.start()
        if lexeme == "\n":
            first = first or (line if _is_code(text, line_start, code_end if code_end >= 0 else start) else 0)
            if first and not depth:
                stretches.append((first, line))
                first = 0
            line, line_start, code_end = line + 1, start + 1, -1
            continue
        if lexeme[0] == "#":
            code_end = start
            alone = not _is_code(text, line_start, start)
            comments.append(Comment(line, start - line_start + 1, lexeme, alone))
            continue
        first = first or line
        if lexeme in "([{":
            depth += 1
        elif lexeme in ")]}":
            depth -= 1
        elif lexeme in "\"'" or _may_nest_quotes(text, start, lexeme):
            return None
        elif "\n" in lexeme:
            line, line_start = line + lexeme.count("\n"), match.end() - len(lexeme) + lexeme.rindex("\n") + 1
        if depth < 0:
            return None
    if depth:
        return None
    if first or _is_code(text, line_start, code_end if code_end >= 0 else len(text)):
        stretches.append((first or line, line))
    return Layout(text.split("\n"), comments, stretches)


def _is_code(text: str, start: int, end: int) -> bool:
    return bool(text[start:end].strip())


def _may_nest_quotes(text: str, start: int, string: str) -> bool:
    """Whether an f-string or t-string ends inside a replacement field, as it seems to when quotes are nested."""
    prefixed = "f" in text[max(start - 2, 0) : start].lower() or "t" in text[max(start - 2, 0) : start].lower()
    return prefixed and string.count("{") != string.count("}")


def _tokenized(text: str) -> Layout | None:
    """The layout as Python's own tokenizer sees it; None if it refuses the text."""
    import io  # noqa: PLC0415 - only for files that leave doubt
    import tokenize  # noqa: PLC0415 - as above
    import warnings  # noqa: PLC0415 - as above

    lines = text.split("\n")
    comments: list[Comment] = []
    stretches: list[tuple[int, int]] = []
    silent = {tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    first = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the compiler thinks of the user's literals is not our business
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                line, column = token.start
                if token.type == tokenize.COMMENT:
                    alone = not lines[line - 1][:column].strip()
                    comments.append(Comment(line, column + 1, token.string, alone))
                elif token.type == tokenize.NEWLINE:
                    stretches.append((first or line, line))
                    first = 0
                elif token.type not in silent:
                    first = first or line
    except (tokenize.TokenError, SyntaxError):
        return None
    return Layout(lines, comments, stretches)


def _line_by_line(text: str) -> Layout:
    """Comments wherever a `#` stands outside quotes; every line with code is a stretch of its own."""
    lines = text.split("\n")
    comments = []
    for match in _LEXEME.finditer(text):
        if match[0][0] == "#":
            line = text.count("\n", 0, match.start()) + 1
            before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            comments.append(Comment(line, len(before) + 1, match[0], alone=not before.strip()))
    bare = {comment.line for comment in comments if comment.alone}
    stretches = [(line, line) for line, code in enumerate(lines, 1) if code.strip() and line not in bare]
    return Layout(lines, comments, stretches, python=False)
