"""TOML to entries: tomllib has the values, the scanner of our own settings the lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanlint.model import Span
from nanlint.settings.toml import TomlSyntaxError, parse_toml
from nanlint.settings.toml_lines import lines_of
from nanlint.source.configs.entries import DEEPEST, MOST_ENTRIES, Document, Entry, children, flattened
from nanlint.source.lines import split_lines, without_end
from nanlint.source.read import UnreadableSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanlint.settings.toml_lines import Place

_BEFORE_COMMENT = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'[^']*'|[^#"'])*""")


def toml_document(text: str) -> Document:
    """The entries of a TOML text; UnreadableSource with the line where it breaks."""
    plain = text.replace("\r\n", "\n")
    try:
        parsed = parse_toml(plain)
    except TomlSyntaxError as error:
        raise UnreadableSource(f"not valid TOML: {error}; it was not checked", error.line) from None
    except RecursionError:
        raise UnreadableSource("nested too deeply to be read; it was not checked") from None
    lines = [without_end(line) for line in split_lines(plain)]
    places = lines_of(plain, parsed)
    return list(_entries(parsed, (), (), _Lines(lines, places)))[:MOST_ENTRIES]


class _Lines:
    """Where the keys of one text stand."""

    def __init__(self, lines: list[str], places: Mapping[Place, int]) -> None:
        self._lines = lines
        self._places = places

    def span_of(self, place: Place) -> Span:
        """The key and what follows it on its line; the first line if the scanner could not tell."""
        number = self._places.get(place, 1)
        line = self._lines[number - 1] if number <= len(self._lines) else ""
        key = re.search(rf"(?<![\w-])[\"']?{re.escape(str(place[-1]))}(?![\w-])", line)
        start = key.start() if key else len(line) - len(line.lstrip())
        return Span(number, start + 1, number, max(start, len(_code(line))) + 1)


def _code(line: str) -> str:
    """The line without the comment at its end."""
    code = _BEFORE_COMMENT.match(line)
    return code[0].rstrip() if code else line


def _entries(value: object, path: tuple[str, ...], place: Place, lines: _Lines) -> Iterator[Entry]:
    for key, inner in children(value):
        below: Place = (*place, int(key) if isinstance(value, list) else key)
        if len(path) > DEEPEST:
            return
        stated = flattened(inner)
        if stated is not None:
            yield Entry((*path, key), stated, lines.span_of(below))
        else:
            yield from _entries(inner, (*path, key), below, lines)
