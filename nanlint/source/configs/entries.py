"""The settings that a config file states, each with its key, its value and its place.

YAML, TOML and JSON come out alike: documents of entries. Nothing is constructed and nothing resolved: an interpolation
or a custom tag is the text that it is. What a setting means is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import Span

Scalar = str | int | float | bool | None
Stated = Scalar | tuple[Scalar, ...]
"""What a key is set to: a scalar, or a list of scalars."""

# A document with more settings than this is data; what comes behind is not read.
MOST_ENTRIES = 20_000
# Deeper than any config, and far from Python's own limit.
DEEPEST = 60

_CONSTANTS: dict[str, Scalar] = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("", "~", "null", "none"), None),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One key with what it is set to. `path` are the keys that lead to it, itself the last; list indexes are digits."""

    path: tuple[str, ...]
    value: Stated
    span: Span
    """From the key to the end of its value, or of its line if the value goes on below."""


Document = list[Entry]


def read_documents(text: str, path: str) -> list[Document]:
    """The documents of a config file, as its suffix says that it is to be read; UnreadableSource where it is broken."""
    suffix = path[path.rfind(".") :].lower()
    if suffix == ".toml":
        from nanlint.source.configs.from_toml import toml_document  # noqa: PLC0415 - a run meets few of these files

        return [toml_document(text)]
    if suffix == ".json":
        from nanlint.source.configs.from_json import json_document  # noqa: PLC0415 - as above

        return [json_document(text)]
    from nanlint.source.configs.from_yaml import yaml_documents  # noqa: PLC0415 - as above, and it imports yaml

    return yaml_documents(text)


def plain_scalar(text: str) -> Scalar:
    """What a word without quotes means in YAML, with numbers such as 1e-5 and 1_000 read as people mean them."""
    folded = text.lower()
    if folded in _CONSTANTS:
        return _CONSTANTS[folded]
    number = as_number(text)
    return text if number is None else number


def as_number(text: str) -> int | float | None:
    """The number that `text` is, however it is spelled; None for anything else."""
    head = text[:1]
    if not (head.isdigit() or head in {"+", "-", "."}):
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        # `.inf` and `.nan` are YAML's own spellings.
        return float(text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan").replace(".Inf", "inf"))
    except ValueError:
        return None


def flattened(value: object) -> Stated:
    """A list as a tuple of its scalars, if it holds nothing else; anything but that and a scalar is None."""
    if isinstance(value, list):
        scalars = [item for item in value if item is None or isinstance(item, str | int | float)]
        return tuple(scalars) if len(scalars) == len(value) else None
    return value if isinstance(value, str | int | float) else None


def children(value: object) -> Iterator[tuple[str, object]]:
    """The keys below a parsed table or list, with their values."""
    if isinstance(value, dict):
        yield from ((str(key), inner) for key, inner in value.items())
    elif isinstance(value, list):
        yield from ((str(index), inner) for index, inner in enumerate(value) if isinstance(inner, dict | list))
