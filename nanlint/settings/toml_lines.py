"""The line of every key and array element in a TOML text; tomllib keeps none.

A scanner that knows where things begin and end and leaves their meaning to tomllib. It reads texts that tomllib has
accepted. What it found is compared with the parsed document, so a text it misreads gives no lines instead of wrong ones.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

from nanlint.settings.toml import parse_toml

Place = tuple[str | int, ...]
"""The way to a value: keys, and indexes where there are arrays."""

_TRIVIA = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY_PART = re.compile(r"""[ \t]*([A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*""")
_SCALAR = re.compile(
    r'''
      """(?:[^\\]|\\.)*?"{3,5}     # up to two quotes may stand before the closing three
    | \'\'\'.*?'{3,5}
    | "(?:[^"\\\n]|\\.)*"
    | '[^'\n]*'
    | \d{4}-\d\d-\d\d[ ]\d\d:[^,\]}\s\#]*   # the one scalar with a blank inside
    | [^,\]}\s\#]+
    ''',
    re.VERBOSE | re.DOTALL,
)


def lines_of(text: str, document: Mapping[str, Any]) -> dict[Place, int]:
    """Place -> line for everything in `document`, which is `text` parsed; empty when the two do not agree."""
    try:
        offsets = _Scanner(text).scan()
    except _NotUnderstoodError:
        return {}
    if set(offsets) != set(_places(document)):
        return {}
    ends = [match.start() for match in re.finditer("\n", text)]
    return {place: bisect_right(ends, offset - 1) + 1 for place, offset in offsets.items()}


def _places(value: object, place: Place = ()) -> Iterator[Place]:
    """Every place in a parsed document, the document itself left out."""
    if place:
        yield place
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _places(inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(inner, (*place, index))


class _NotUnderstoodError(Exception):
    """The text is not what the scanner expects."""


class _Scanner:
    """One pass over one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._found: dict[Place, int] = {}
        self._tables: dict[Place, int] = {}
        """Arrays of tables and the index of their last one."""

    def scan(self) -> dict[Place, int]:
        """Place -> offset where it is first named."""
        table: Place = ()
        self._skip_trivia()
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._key_and_value(table)
            self._skip_trivia()
        return self._found

    def _header(self) -> Place:
        start = self._at
        brackets = 2 if self._text.startswith("[[", start) else 1
        self._at += brackets
        keys = self._key()
        self._expect("]" * brackets)
        table = self._enter((), keys[:-1], start)
        table = (*table, keys[-1])
        self._found.setdefault(table, start)
        if brackets == 2:
            self._tables[table] = self._tables.get(table, -1) + 1
        if table in self._tables:
            table = (*table, self._tables[table])
            self._found.setdefault(table, start)
        return table

    def _enter(self, table: Place, keys: list[str], offset: int) -> Place:
        """The place of `keys` below `table`, with every step on the way noted; an array of tables means its last."""
        for key in keys:
            table = (*table, key)
            self._found.setdefault(table, offset)
            if table in self._tables:
                table = (*table, self._tables[table])
        return table

    def _key(self) -> list[str]:
        """A key, dotted or not, in its parts."""
        parts = [self._key_part()]
        while self._text.startswith(".", self._at):
            self._at += 1
            parts.append(self._key_part())
        return parts

    def _key_part(self) -> str:
        part = self._match(_KEY_PART).group(1)
        if part[0] == "'":
            return part[1:-1]
        if part[0] == '"':
            return str(parse_toml(f"key = {part}")["key"])
        return part

    def _key_and_value(self, table: Place) -> None:
        start = self._at
        keys = self._key()
        self._expect("=")
        place = (*self._enter(table, keys[:-1], start), keys[-1])
        self._found[place] = start
        self._skip_trivia()
        self._value(place)

    def _value(self, place: Place) -> None:
        opening = self._text[self._at : self._at + 1]
        if opening == "[":
            self._array(place)
        elif opening == "{":
            self._inline_table(place)
        else:
            self._match(_SCALAR)

    def _array(self, place: Place) -> None:
        self._at += 1
        index = 0
        while not self._closed("]"):
            item = (*place, index)
            self._found[item] = self._at
            self._value(item)
            index += 1

    def _inline_table(self, place: Place) -> None:
        self._at += 1
        while not self._closed("}"):
            self._key_and_value(place)

    def _closed(self, bracket: str) -> bool:
        """Go to the next item, or behind the closing bracket; tomllib has seen to it that commas are in order."""
        self._skip_trivia()
        if self._text.startswith(",", self._at):
            self._at += 1
            self._skip_trivia()
        if not self._text.startswith(bracket, self._at):
            return False
        self._at += 1
        return True

    def _skip_trivia(self) -> None:
        self._match(_TRIVIA)

    def _expect(self, token: str) -> None:
        if not self._text.startswith(token, self._at):
            raise _NotUnderstoodError
        self._at += len(token)

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise _NotUnderstoodError
        self._at = match.end()
        return match
