"""One config file as it was written: its options, and how to point at a key of it."""

# Paths are strings throughout the settings: pathlib is not imported on a clean run.
# ruff: noqa: PTH119

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nanlint.errors import SettingsError
from nanlint.settings.paths import shown_path
from nanlint.settings.show import toml_key
from nanlint.settings.toml import TomlSyntaxError, decode_toml, parse_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.settings.toml_lines import Place


@dataclass(frozen=True)
class Document:
    """A parsed config file. `table` is where our options are in it: `("tool", "nanlint")` in a pyproject.toml."""

    path: str
    text: str
    whole: Mapping[str, Any]
    table: tuple[str, ...]
    options: Mapping[str, Any]

    @cached_property
    def _lines(self) -> Mapping[Place, int]:
        from nanlint.settings.toml_lines import lines_of  # noqa: PLC0415 - only messages name lines

        return lines_of(self.text, self.whole)

    def line(self, place: Place) -> int | None:
        """The line of an option, None when it can't be told."""
        return self._lines.get((*self.table, *place))

    def where(self, place: Place) -> str:
        """File and line of an option, the file alone when the line can't be told."""
        line = self.line(place)
        return shown_path(self.path) + (f":{line}" if line else "")

    def describe(self, place: Place) -> str:
        """File, line, table and key of an option: `pyproject.toml:14 [tool.nanlint] select`."""
        keys = [step for step in place if isinstance(step, str)]
        table = ".".join(map(toml_key, (*self.table, *keys[:-1])))
        return " ".join(part for part in (self.where(place), f"[{table}]" if table else "", toml_key(keys[-1])) if part)


def read_document(path: str, data: bytes) -> Document | None:
    """The config file `path`, whose bytes are `data`; None for a pyproject.toml without `[tool.nanlint]`."""
    try:
        text = decode_toml(data)
        whole = parse_toml(text)
    except TomlSyntaxError as error:
        raise SettingsError(f"{shown_path(path)}:{error.line}: not valid TOML: {error}") from error
    if os.path.basename(path) != "pyproject.toml":
        return Document(path, text, whole, (), whole)
    tools = whole.get("tool")
    options = tools.get("nanlint") if isinstance(tools, dict) else None
    if options is None:
        return None
    if not isinstance(options, dict):
        place = Document(path, text, whole, ("tool",), whole["tool"]).describe(("nanlint",))
        raise SettingsError(f"{place}: must be a table; write the settings under [tool.nanlint]")
    return Document(path, text, whole, ("tool", "nanlint"), options)
