"""Where a value in the settings was written, told by reading its config file again."""

# Paths are strings throughout the settings: pathlib is not imported on a clean run.
# ruff: noqa: PTH123

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nanlint.errors import SettingsError
from nanlint.settings.document import Document, read_document
from nanlint.settings.paths import shown_path
from nanlint.settings.resolved import COMMAND_LINE

if TYPE_CHECKING:
    from nanlint.settings.toml_lines import Place


def origin(sources: Mapping[str, tuple[str, ...]], key: str, value: str) -> str:
    """File, line and key, or the option of the command line, that gave `key` the value; see `Settings.origin`."""
    name, *inner = key.split(".")
    name = name.replace("_", "-")
    said_by = sources.get(name.replace("-", "_"), ())
    keys: Place = (name, *inner)
    documents = [document for source in said_by if (document := _read_again(source))]
    for document in documents:
        place = next(_places_of(value, _below(document.options, keys), keys), None) if value else keys
        if place is not None and _below(document.options, keys) is not None:
            return document.describe(place)
    if COMMAND_LINE in said_by:
        return f"--{name}"
    return documents[0].describe((name,)) if documents else key


def places_stated(sources: Mapping[str, tuple[str, ...]], field_name: str) -> list[str]:
    """Every place that has a say in a setting, nearest first: `pyproject.toml:12`, or the command line."""
    key = field_name.replace("_", "-")
    return [_place_stated(source, key) for source in sources.get(field_name, ())]


def _place_stated(source: str, key: str) -> str:
    document = _read_again(source)
    if document is not None:
        return document.where((key,))
    return source if source == COMMAND_LINE else shown_path(source)


def _read_again(source: str) -> Document | None:
    """The config file; None for the command line, and for a file that is gone or broken by now."""
    if source == COMMAND_LINE:
        return None
    try:
        with open(source, "rb") as file:
            return read_document(source, file.read())
    except (OSError, SettingsError):
        return None


def _below(options: object, keys: Place) -> Any:
    """What stands under `keys`, None if nothing does."""
    for key in keys:
        options = options.get(key) if isinstance(options, Mapping) else None
    return options


def _places_of(value: str, inside: object, place: Place) -> Iterator[Place]:
    """Every place at or below `place` that is the string `value`, or has it for a key."""
    if isinstance(inside, Mapping):
        for key, inner in inside.items():
            if key == value:
                yield (*place, key)
            yield from _places_of(value, inner, (*place, key))
    elif isinstance(inside, list):
        for index, inner in enumerate(inside):
            yield from _places_of(value, inner, (*place, index))
    elif inside == value:
        yield place
