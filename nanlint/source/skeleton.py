"""A file cut into its functions by the look of its text, so that those which nobody wants to see need not be parsed.

Nearly all files are laid out alike: functions at the margin, methods four spaces in. Of these the bodies can be cut out
before Python's parser reads the text, lines kept; a `FunctionText` gives the function back when somebody asks for it. What
is laid out otherwise stays in the text.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

# Shorter bodies cost as much to cut out as to parse.
_SHORTEST_BODY = 3
_INDENT = "    "
# Where a statement begins, at the margin or four spaces in: no deeper line, no comment, no end of a bracket.
_START = re.compile(r"\n(?:    )?[^\s#)\]}]")
_FUNCTION = ("def ", "async def ")
_ODD_LAYOUT = ("\f", "\r")
_TAB_INDENT = re.compile(r"\n *\t")
# Imports in a function count for the whole file.
_IMPORTING = re.compile(r"[\n:;]\s*(?:from|import)\b")
# Whatever can be part of a name stays, all else parts words.
_PARTING = bytes(byte if chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(128)) + b" " * 128


class FunctionText:
    """A function at the margin or in a class, as text."""

    __slots__ = ("_words", "body", "end", "first_line", "indent", "line", "text")

    def __init__(self, text: str, indent: str, body: int, end: int) -> None:
        self.text = text
        """From its decorators to its last statement."""
        self.indent = indent
        self.body = body
        """Where in the file its body begins."""
        self.end = end
        self.first_line = self.line = 0
        """Where it begins, decorators included, and the line of its `def`."""
        self._words: frozenset[str] | None = None

    @property
    def words(self) -> frozenset[str]:
        """Every name in it, and every other word."""
        if self._words is None:
            self._words = frozenset(self.text.encode().translate(_PARTING).decode().split())
        return self._words

    def may_mention(self, words: Collection[str]) -> bool:
        """Whether one of `words` may occur in it; an operator always may."""
        return not self.words.isdisjoint(words) or not all(map(str.isidentifier, words))

    def read(self) -> ast.FunctionDef | ast.AsyncFunctionDef:
        """The syntax tree of the whole function, at its place in the file; raises SyntaxError for what is no Python."""
        # `if` needs no name, and its body may stand at any indentation.
        above = "\n" * (self.first_line - 2) + "if 1:\n" if self.indent else "\n" * (self.first_line - 1)
        only = ast.parse(above + self.text).body[0]
        function = only.body[0] if isinstance(only, ast.If) else only
        assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))  # noqa: S101 - it was one before
        return function


class Skeleton:
    """A file as the functions that can be cut out of it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.functions = list(_functions_of(text)) if not any(odd in text for odd in _ODD_LAYOUT) else []

    def without(self, hidden: Iterable[FunctionText]) -> str:
        """The text without the bodies of these functions, which come in reading order; every line stays where it is."""
        parts: list[str] = []
        at = 0
        for function in hidden:
            parts += (
                self._text[at : function.body],
                "\n" * self._text.count("\n", function.body, function.end),
                f"{function.indent}{_INDENT}...",
            )
            at = function.end
        return "".join([*parts, self._text[at:]])


def _functions_of(text: str) -> Iterator[FunctionText]:
    line, counted = 1, 0
    for first, define, following, indent in _stretches(text):
        if not text.startswith(_FUNCTION, define + len(indent)):
            continue
        whole = text[first:following]
        # A line at the margin may stand in a text that goes on.
        if whole.count('"""') % 2 or whole.count("'''") % 2 or not whole.isascii():
            continue
        if ("import" in whole and _IMPORTING.search(whole)) or ("\t" in whole and _TAB_INDENT.search(whole)):
            continue
        whole = _without_last_comments(whole)
        end, body = first + len(whole), _body_of(text, define, indent)
        if text.count("\n", body, end) + 1 >= _SHORTEST_BODY and first <= define < body < end:
            function = FunctionText(whole, indent, body, end)
            line, counted = line + text.count("\n", counted, first), first
            function.first_line = line
            function.line = line + text.count("\n", first, define)
            yield function


def _stretches(text: str) -> Iterator[tuple[int, int, int, str]]:
    """The statements at the margin and in classes there: where each begins, is a `def` or the like, and ends; its indent."""
    starts = [match.start() + 1 for match in _START.finditer(text)]
    if text[:1].strip(" #)]}\n"):
        starts.insert(0, 0)
    in_class = False
    first: int | None = None
    for start, end in zip(starts, _ends(text, starts), strict=True):
        is_inner = text[start] == " "
        if is_inner and not in_class:
            continue
        indent = _INDENT if is_inner else ""
        if text[start + len(indent)] == "@":
            first = start if first is None else first
            continue
        if not is_inner:
            in_class = text.startswith("class ", start)
        yield (start if first is None else first), start, end, indent
        first = None


def _ends(text: str, starts: list[int]) -> list[int]:
    """Where each statement ends: before the next one that is not deeper."""
    ends: list[int] = []
    following = outer = len(text)
    for start in reversed(starts):
        is_inner = text[start] == " "
        ends.append(following if is_inner else outer)
        following = start
        outer = outer if is_inner else start
    return ends[::-1]


def _body_of(text: str, define: int, indent: str) -> int:
    """Where the body begins that belongs to the `def` at `define`; the end of the text if that is not plain to see."""
    last = text.find("\n", define)
    header = text[define:last]
    if header.count("(") != header.count(")"):
        closing = text.find(f"\n{indent})", define)
        last = text.find("\n", closing + 1) if closing >= 0 else -1
    return last + 1 if last >= 0 and text[last - 1] == ":" else len(text)


def _without_last_comments(text: str) -> str:
    """Comments behind the last statement belong to nobody."""
    text = text.rstrip()
    while text[text.rfind("\n") + 1 :].lstrip()[:1] == "#":
        text = text[: text.rfind("\n")].rstrip()
    return text
