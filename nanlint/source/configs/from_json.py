"""JSON to entries, with the places that the standard library throws away.

As people write it: comments and a comma before a closing bracket are read over, as editors and trainers do.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined] # undocumented, and there since Python 2.6
from typing import TYPE_CHECKING

from nanlint.model import Span
from nanlint.source.configs.entries import DEEPEST, MOST_ENTRIES, Document, Entry, Scalar, as_number
from nanlint.source.read import UnreadableSource

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|\#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[-+\w.]+")
_WORDS: dict[str, Scalar] = {
    "true": True, "false": False, "null": None, "NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"),
}  # fmt: skip


def json_document(text: str) -> Document:
    """The entries of a JSON text; UnreadableSource with the line where it breaks."""
    scanner = _Scanner(text)
    try:
        return scanner.document()
    except _BrokenError as error:
        line = scanner.line_at(error.offset)
        raise UnreadableSource(f"not valid JSON: {error}; it was not checked", line) from None


class _BrokenError(Exception):
    """The text is no JSON from `offset` on."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class _Scanner:
    """One pass over one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._found: list[Entry] = []

    def line_at(self, offset: int) -> int:
        """The line of an offset, counted from 1."""
        return bisect_right(self._ends, offset - 1) + 1

    def document(self) -> Document:
        """Every entry, in reading order."""
        self._value((), None)
        if self._next():
            raise _BrokenError("more text follows the end of the value", self._at)
        return self._found[:MOST_ENTRIES]

    def _next(self) -> str:
        """The first character behind blanks and comments; empty at the end."""
        blank = _BLANK.match(self._text, self._at)
        self._at = blank.end() if blank else self._at
        return self._text[self._at : self._at + 1]

    def _value(self, path: tuple[str, ...], key_at: int | None) -> Scalar | list[Scalar]:
        """Read one value and note what it states; scalars are given back, for the list around them."""
        if len(path) > DEEPEST:
            raise _BrokenError("it is nested too deeply", self._at)
        opening = self._next()
        if opening == "{":
            self._object(path)
            return None
        if opening == "[":
            self._array(path, key_at)
            return None
        value = self._scalar()
        if key_at is not None:
            self._note(path, value, key_at)
        return value

    def _object(self, path: tuple[str, ...]) -> None:
        for _ in self._items("}"):
            key_at = self._at
            key = self._string()
            if self._next() != ":":
                raise _BrokenError(f'no colon behind "{key}"', self._at)
            self._at += 1
            self._value((*path, key), key_at)

    def _array(self, path: tuple[str, ...], key_at: int | None) -> None:
        scalars: list[Scalar] = []
        is_flat = True
        for index in self._items("]"):
            is_flat = is_flat and self._next() not in {"{", "["}
            value = self._value((*path, str(index)), None)
            if is_flat and len(scalars) < MOST_ENTRIES:
                scalars.append(value if not isinstance(value, list) else None)
        if is_flat and key_at is not None:
            self._note(path, tuple(scalars), key_at)

    def _items(self, closing: str) -> Iterator[int]:
        """Stand at one item after the other, up to the closing bracket."""
        opened = self._at
        self._at += 1
        index, has_comma = 0, False
        while (following := self._next()) != closing:
            if following and index and not has_comma:
                raise _BrokenError("a comma is missing before this", self._at)
            if not following:
                raise _BrokenError("the bracket that opens here is never closed", opened)
            yield index
            index += 1
            has_comma = self._next() == ","
            self._at += has_comma
        self._at += 1

    def _string(self) -> str:
        if self._next() != '"':
            raise _BrokenError("a key in double quotes is expected here", self._at)
        try:
            text, self._at = scanstring(self._text, self._at + 1, False)  # noqa: FBT003 - the parameter has no public name
        except JSONDecodeError as error:
            raise _BrokenError(error.msg.lower(), error.pos) from None
        return str(text)

    def _scalar(self) -> Scalar:
        if self._next() == '"':
            return self._string()
        word = _WORD.match(self._text, self._at)
        if word is None:
            raise _BrokenError("a value is expected here", self._at)
        value = _WORDS[word[0]] if word[0] in _WORDS else as_number(word[0])
        if value is None and word[0] != "null":
            raise _BrokenError(f"`{word[0]}` is no value", self._at)
        self._at = word.end()
        return value

    def _note(self, path: tuple[str, ...], value: Scalar | tuple[Scalar, ...], key_at: int) -> None:
        line = self.line_at(key_at)
        start = self._ends[line - 2] + 1 if line > 1 else 0
        stop = self._ends[line - 1] if line <= len(self._ends) else len(self._text)
        end = self._at if self._at <= stop else len(self._text[:stop].rstrip("\r"))
        if len(self._found) < MOST_ENTRIES:
            self._found.append(Entry(path, value, Span(line, key_at - start + 1, line, end - start + 1)))
