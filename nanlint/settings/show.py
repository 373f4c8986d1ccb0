"""Settings as text that reads like the TOML a user would write (`--show-settings`), each with where it came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from json import dumps
from typing import TYPE_CHECKING, TextIO

from nanlint.settings.paths import shown_path
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from nanlint.settings.resolved import Settings

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_NO_OPTION = word_set("root config sources left_out_rules")


def toml_key(key: object) -> str:
    """A key as TOML writes it: bare where that is allowed, quoted otherwise."""
    return str(key) if _BARE_KEY.fullmatch(str(key)) else toml_value(str(key))


def toml_value(value: object) -> str:
    """A value as TOML writes it on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml_key(key)} = {toml_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return str(value)


def show_settings(settings: Settings, out: TextIO) -> None:
    """Print every setting with its value, and behind it the file, the command line, or that it is the default."""
    print(f"# config: {shown_path(settings.config) if settings.config else 'none'}", file=out)
    print(f"# root: {settings.root}", file=out)
    tables = []
    for name, value in settings._asdict().items():
        if name in _NO_OPTION:
            continue
        if isinstance(value, Mapping):
            tables.append((name, value))
        else:
            print(f"{_key(name)} = {toml_value(value)}  # {_origin(settings, name)}", file=out)
    for name, table in tables:
        print(f"\n[{_key(name)}]  # {_origin(settings, name)}", file=out)
        for key, value in table.items():
            print(f"{toml_key(key)} = {toml_value(value)}", file=out)


def _key(field_name: str) -> str:
    return field_name.replace("_", "-")


def _origin(settings: Settings, field_name: str) -> str:
    from nanlint.settings.origin import places_stated  # noqa: PLC0415 - reads the config files again

    return ", ".join(places_stated(settings.sources, field_name)) or "default"
