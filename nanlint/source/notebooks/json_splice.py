"""New cell sources in the JSON text of a notebook, with every other byte where it was.

Parsing and printing the document again would lose what JSON does not say: indentation, escapes, duplicate keys, the
spelling of numbers. So the value is found by its place in the text and only that stretch is exchanged. The text must
be valid JSON of a valid notebook; `nanlint.source.notebooks.notebook` has made sure of that.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Place = tuple[int, int]
"""Where a JSON value starts and ends in the text."""

_DECODER = json.JSONDecoder()


def replace_sources(text: str, sources: Mapping[int, str]) -> str:
    """The document with the sources of some cells, by number, replaced. A list of lines stays one, a string too."""
    parts: list[str] = []
    end = 0
    for number, (start, stop) in enumerate(_source_places(text), start=1):
        if number in sources:
            parts += text[end:start], _literal(text, (start, stop), sources[number])
            end = stop
    return "".join([*parts, text[end:]])


def _source_places(text: str) -> Iterator[Place]:
    """The source value of each cell in order; an empty place for a cell that has none."""
    for cells in _cell_lists(text):
        for cell, _ in _elements(text, cells):
            members = _members(text, cell)
            yield members.get("source") or members.get("input") or (cell, cell)


def _cell_lists(text: str) -> Iterator[int]:
    document = _members(text, _past_space(text, 0))
    if "cells" in document:
        yield document["cells"][0]
        return
    for sheet, _ in _elements(text, document["worksheets"][0]):
        cells = _members(text, sheet).get("cells")
        if cells:
            yield cells[0]


def _literal(text: str, place: Place, source: str) -> str:
    """`source` as JSON in the form of the value that stands at `place`; lines that stay keep their spelling."""
    start, end = place
    # Jupyter writes letters as they are; other tools escape them, and then the document has nothing but ASCII.
    escaped = text.isascii() and "\\u" in text
    if text[start] == '"':
        return json.dumps(source, ensure_ascii=escaped)
    places = _elements(text, start)
    lines = source.splitlines(keepends=True)  # as nbformat splits them
    if not places or not lines:
        return json.dumps(lines, ensure_ascii=escaped)
    spelling = {_DECODER.raw_decode(text, first)[0]: text[first:last] for first, last in places}
    literals = [spelling.get(line) or json.dumps(line, ensure_ascii=escaped) for line in lines]
    opening, closing = text[start : places[0][0]], text[places[-1][1] : end]
    return opening + _separator(text, start, places).join(literals) + closing


def _separator(text: str, start: int, places: list[Place]) -> str:
    """What stands between two lines of the list at `start`, or would if it had two."""
    if len(places) > 1:
        return text[places[0][1] : places[1][0]]
    before_first = text[start + 1 : places[0][0]]
    return "," + (before_first or text[text.rindex(":", 0, start) + 1 : start])


def _members(text: str, at: int) -> dict[str, Place]:
    """Where each value of the object at `at` stands; of equal keys the last counts, as for json.loads."""
    places = {}
    at = _past_space(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _past_space(text, _past_space(text, at) + 1)
        end = _DECODER.raw_decode(text, start)[1]
        places[key] = start, end
        at = _past_comma(text, end)
    return places


def _elements(text: str, at: int) -> list[Place]:
    """Where each element of the list at `at` stands."""
    places = []
    at = _past_space(text, at + 1)
    while text[at] != "]":
        end = _DECODER.raw_decode(text, at)[1]
        places.append((at, end))
        at = _past_comma(text, end)
    return places


def _past_comma(text: str, at: int) -> int:
    at = _past_space(text, at)
    return _past_space(text, at + 1) if text[at] == "," else at


def _past_space(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at
