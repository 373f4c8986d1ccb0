"""From what pydantic says about a document to what a user can act on: file, line, key, and the nearest right word."""

from __future__ import annotations

from datetime import date, time
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from nanlint.settings.models import Options, kebab_case
from nanlint.settings.resolved import SEVERITIES
from nanlint.settings.show import toml_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic_core import ErrorDetails

    from nanlint.settings.document import Document
    from nanlint.settings.toml_lines import Place

_WANTED = {
    "bool_type": "true or false",
    "string_type": "a string",
    "list_type": "a list of strings",
    "dict_type": "a table",
    "model_type": "a table",
    "invalid-json-value": "a string, number, boolean, list or table",
}


def complaints(document: Document, errors: Sequence[ErrorDetails]) -> list[str]:
    """One line for each error, in the order of the file."""
    found = [(_place(error, document.options), error) for error in errors]
    found.sort(key=lambda pair: document.line(pair[0]) or 0)
    return [f"{document.describe(place)}: {_reason(place, error)}" for place, error in found]


def _place(error: ErrorDetails, options: Mapping[str, Any]) -> Place:
    """The error's place in the document; pydantic's own marks on the way (`[key]`, `list`) are left out."""
    place: list[str | int] = []
    inside: Any = options
    for step in error["loc"]:
        try:
            inside = inside[step]
        except (LookupError, TypeError):
            continue
        place.append(step)
    return tuple(place)


def _reason(place: Place, error: ErrorDetails) -> str:
    kind, value = error["type"], error["input"]
    if kind == "extra_forbidden":
        return _unknown_key(str(place[-1]))
    if kind == "literal_error":
        return _unknown_word(value, _words(place))
    if kind == "value_error":
        return str(error["ctx"]["error"])
    wanted = _WANTED.get(kind)
    if wanted is None:
        return error["msg"]
    item = f"item {place[-1] + 1} " if isinstance(place[-1], int) else ""
    return f"{item}must be {wanted}, not {_as_written(value)}{_meant(kind, value)}"


def _unknown_key(key: str) -> str:
    if key == "tool":
        return "no such setting; outside pyproject.toml the settings stand at the top, without [tool.nanlint]"
    known = [kebab_case(name) for name in Options.model_fields]
    near = get_close_matches(key.lower().replace("_", "-"), known, n=1)
    return f'no such setting; did you mean "{near[0]}"?' if near else f"no such setting; there are {', '.join(known)}"


def _words(place: Place) -> Sequence[str]:
    """The words that a setting with a fixed choice of words knows."""
    if place[0] == "rules":
        return SEVERITIES
    return Options.model_json_schema(by_alias=True)["properties"][place[0]]["enum"]  # type: ignore[no-any-return]


def _unknown_word(value: object, words: Sequence[str]) -> str:
    text = f"{_as_written(value)} is not one of {', '.join(words)}"
    near = get_close_matches(value.lower(), words, n=1) if isinstance(value, str) else []
    return f'{text}; did you mean "{near[0]}"?' if near else text


def _as_written(value: object) -> str:
    return value.isoformat() if isinstance(value, date | time) else toml_value(value)


_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def _meant(kind: str, value: object) -> str:
    """The nearest right value, where one is plain."""
    word = str(value).lower()
    if kind == "bool_type" and word in (*_YES, *_NO):
        return f"; did you mean {'true' if word in _YES else 'false'}?"
    if kind == "list_type" and isinstance(value, str):
        return f"; did you mean [{_as_written(value)}]?"
    return ""
