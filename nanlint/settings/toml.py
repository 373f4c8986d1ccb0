"""Reading TOML: the parser (tomllib, or tomli before Python 3.11) and what its complaints mean to a user."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class TomlSyntaxError(Exception):
    """The text is no TOML; `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def parse_toml(text: str) -> dict[str, Any]:
    """The document; TomlSyntaxError where it breaks."""
    try:
        tomllib = import_module("tomllib")
    except ModuleNotFoundError:
        tomllib = import_module("tomli")  # Python 3.10
    try:
        document: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _located(str(error), text) from error
    except RecursionError as error:
        raise TomlSyntaxError(1, "brackets are nested too deeply to be read") from error
    return document


def decode_toml(data: bytes) -> str:
    """The text of a TOML file, which must be UTF-8; line ends become plain, as tomllib makes them."""
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TomlSyntaxError(line, f"byte 0x{data[error.start]:02x} is not UTF-8") from error


def _located(message: str, text: str) -> TomlSyntaxError:
    position = _POSITION.search(message)
    if position is None or position.group(1) is None:
        line = text.rstrip().count("\n") + 1
        return TomlSyntaxError(line, _POSITION.sub(" at the end of the file", message))
    return TomlSyntaxError(int(position.group(1)), _POSITION.sub(f" in column {position.group(2)}", message))
