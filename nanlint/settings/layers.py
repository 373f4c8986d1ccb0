"""Settings are stated in layers: an inherited file, the nearest file, the command line. Here one is laid on the other.

A later layer replaces what an earlier one said, except that `extend_*` lists grow and tables are merged key by key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nanlint.settings.globs import anchored
from nanlint.settings.paths import stated_path
from nanlint.settings.resolved import COMMAND_LINE, Settings
from nanlint.word_sets import word_set

Values = dict[str, Any]
"""Field name of `Settings` -> value, for the fields that some layer states; `sources` is always there."""

_GROWING = word_set("extend_select extend_exclude")
_GLOBS = word_set("include exclude extend_exclude")
_PATHS = word_set("baseline cache_dir")


def no_values() -> Values:
    """Nothing is stated yet."""
    return {"sources": {}}


def placed(layer: Mapping[str, Any], folder: str, root: str) -> Values:
    """A layer stated in `folder` with absolute paths, and globs that mean the same below `root`."""
    values = dict(layer)
    for name in _PATHS & values.keys():
        values[name] = stated_path(values[name], folder)
    for name in _GLOBS & values.keys():
        values[name] = [anchored(glob, folder, root) for glob in values[name]]
    if "local_rules" in values:
        values["local_rules"] = [stated_path(path, folder) for path in values["local_rules"]]
    if "per_file_ignores" in values:
        values["per_file_ignores"] = {
            anchored(glob, folder, root): selectors for glob, selectors in values["per_file_ignores"].items()
        }
    return values


def lay(layer: Mapping[str, Any], values: Values, source: str) -> None:
    """Lay what `source` states on `values`."""
    sources = values["sources"]
    for name, value in layer.items():
        before = values.get(name)
        if before is None or not (name in _GROWING or isinstance(value, Mapping)):
            values[name], sources[name] = value, [source]
            continue
        values[name] = _merged(before, value) if isinstance(value, Mapping) else [*before, *value]
        sources[name] = [source, *sources[name]]


def _merged(before: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Both tables; where both have a key, the later one, or again both if those are tables."""
    merged = dict(before)
    for key, inner in value.items():
        earlier = merged.get(key)
        if isinstance(earlier, Mapping) and isinstance(inner, Mapping):
            merged[key] = _merged(earlier, inner)
        else:
            merged[key] = inner
    return merged


def lay_command_line(options: Mapping[str, Any], values: Values) -> None:
    """Lay the command line on `values`, with ruff's reading of the options that select rules.

    `select` starts afresh: what the config files select, extend and ignore no longer counts. Otherwise `ignore` adds to
    the files' list, and what `extend_select` names is no longer ignored by it.
    """
    if "select" in options:
        for name in ("extend_select", "ignore"):
            values.pop(name, None)
            values["sources"].pop(name, None)
    asked = options.get("extend_select", ())
    kept = [selector for selector in values.get("ignore", ()) if selector not in asked]
    if "ignore" in values:
        values["ignore"] = kept
    lay(options, values, COMMAND_LINE)
    if kept and "ignore" in options:
        values["ignore"] = [*kept, *options["ignore"]]


def settings_of(values: Mapping[str, Any], root: str, config: str) -> Settings:
    """The settings that `values` state, defaults for the rest."""
    plain: Values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    for name in ("per_file_ignores", "sources"):
        if name in plain:
            plain[name] = {key: tuple(inner) for key, inner in plain[name].items()}
    return Settings(root=root, config=config, **plain)
