"""A file cut into its functions by the look of its text, so that those which nobody asks for need not be parsed.

Nearly all files are laid out alike: functions at the margin, methods four spaces in. Of these the bodies are cut out before
Python's parser reads the text, lines kept; a `HiddenFunction` gives them back when somebody asks. What is laid out
otherwise stays in the text.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

# Shorter bodies cost as much to cut out as to parse.
_SHORTEST_BODY = 3

_INDENT = "    "
# What begins no statement: a blank line, a deeper one, a comment, the end of a bracket.
_NO_START = frozenset({"", " ", "#", ")", "]", "}"})
_FUNCTION = ("def ", "async def ")
_ODD_LAYOUT = ("\t", "\f", "\r")
# Whatever can be part of a name stays, all else parts words.
_PARTING = bytes(byte if chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(128)) + b" " * 128


class _Stretch(NamedTuple):
    """The lines of one statement, by index: where it begins, where it is a `def` or `class`, where the next one begins."""

    first: int
    define: int
    end: int


class HiddenFunction:
    """A function whose body was cut out of the text that was parsed."""

    __slots__ = ("_first", "_indent", "_text", "_words")

    def __init__(self, text: str, first: int, indent: str) -> None:
        self._text = text
        self._first = first
        self._indent = indent
        self._words: frozenset[str] | None = None

    def may_mention(self, words: Collection[str]) -> bool:
        """Whether one of `words` may occur in it; an operator always may."""
        if self._words is None:
            self._words = frozenset(self._text.encode().translate(_PARTING).decode().split())
        return not self._words.isdisjoint(words) or not all(map(str.isidentifier, words))

    def read(self) -> ast.FunctionDef | ast.AsyncFunctionDef:
        """The syntax tree of the whole function, at its place in the file; raises SyntaxError for what is no Python."""
        # `if` needs no name, and its body may stand at any indentation.
        above = "\n" * (self._first - 1) + "if 1:\n" if self._indent else "\n" * self._first
        only = ast.parse(above + self._text).body[0]
        function = only.body[0] if isinstance(only, ast.If) else only
        assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))  # noqa: S101 - it was one before
        return function


class Skeleton:
    """A file without the bodies of functions: its text, and what was cut out by the line of its `def`."""

    def __init__(self, text: str) -> None:
        self.hidden: dict[int, HiddenFunction] = {}
        self._lines = text.split("\n")
        if not any(odd in text for odd in _ODD_LAYOUT):
            for stretch in _stretches(self._lines, range(len(self._lines)), ""):
                if self._lines[stretch.define].startswith("class "):
                    for inner in _stretches(self._lines, range(stretch.define + 1, stretch.end), _INDENT):
                        self._try_to_hide(inner, _INDENT)
                else:
                    self._try_to_hide(stretch, "")
        self.text = "\n".join(self._lines)

    def _try_to_hide(self, stretch: _Stretch, indent: str) -> None:
        """Cut the body out of a function, if that is what the stretch is."""
        lines, (first, define, end) = self._lines, stretch
        if not lines[define].startswith(_FUNCTION, len(indent)):
            return
        body = _body_of(lines, define, end, indent)
        while end > body and lines[end - 1].lstrip(" ")[:1] in {"", "#"}:
            end -= 1
        text = "\n".join(lines[first:end])
        # A line at the margin may stand in a text that goes on, and imports in a function count for the whole file.
        is_whole = text.count('"""') % 2 == text.count("'''") % 2 == 0
        if end - body >= _SHORTEST_BODY and is_whole and text.isascii() and "import" not in text:
            self.hidden[define + 1] = HiddenFunction(text, first, indent)
            lines[body : end - 1] = [""] * (end - 1 - body)
            lines[end - 1] = f"{indent}{_INDENT}..."


def _stretches(lines: Sequence[str], numbers: range, indent: str) -> Iterator[_Stretch]:
    """The statements at one indentation; decorators belong to what they decorate."""
    width = len(indent)
    starts = [
        number
        for number in numbers
        if lines[number][width : width + 1] not in _NO_START and lines[number].startswith(indent)
    ]
    first = None
    for start, end in zip(starts, [*starts[1:], numbers.stop], strict=False):
        first = start if first is None else first
        if not lines[start].startswith("@", width):
            yield _Stretch(first, start, end)
            first = None


def _body_of(lines: Sequence[str], define: int, end: int, indent: str) -> int:
    """The index at which the body begins that belongs to the `def` at index `define`; `end` if that is not plain to see."""
    header = lines[define]
    last = define
    if header.count("(") != header.count(")"):
        closing = f"{indent})"
        last = next((number for number in range(define + 1, end) if lines[number].startswith(closing)), end)
    return last + 1 if last < end and lines[last].endswith(":") else end
