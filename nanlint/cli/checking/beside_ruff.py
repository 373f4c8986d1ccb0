"""A word of warning where `# noqa: NAN…` is used beside ruff: unless told that the codes are ours, ruff deletes them."""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH111, PTH118, PTH119, PTH120

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from nanlint.settings.paths import shown_path
from nanlint.settings.toml import TomlSyntaxError, decode_toml, parse_toml
from nanlint.source.read import UnreadableSource, read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

# In this order ruff looks for them in each folder.
_CONFIG_NAMES = (".ruff.toml", "ruff.toml", "pyproject.toml")
_PREFIX = "NAN"


def warning(folder: str) -> str:
    """What to tell somebody who uses noqa for our codes in `folder`, an absolute path; nothing if all is well."""
    config = _nearest_config(folder)
    if config is None or _is_told(*config):
        return ""
    path, _ = config
    key = "lint.external" if os.path.basename(path) != "pyproject.toml" else "tool.ruff.lint.external"
    return f'{shown_path(path)}: ruff takes `# noqa: NAN…` for a mistake of yours; add {key} = ["{_PREFIX}"]'


def _nearest_config(folder: str) -> tuple[str, Mapping[str, Any]] | None:
    """The config file that ruff would use for `folder`, and its settings."""
    while True:
        for name in _CONFIG_NAMES:
            path = os.path.join(folder, name)
            settings = _settings_in(path)
            if settings is not None:
                return path, settings
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _settings_in(path: str) -> Mapping[str, Any] | None:
    try:
        whole = parse_toml(decode_toml(read_bytes(path)))
    except (UnreadableSource, TomlSyntaxError):
        return None
    return whole if os.path.basename(path) != "pyproject.toml" else _table(_table(whole, "tool"), "ruff")


def _table(mapping: Mapping[str, Any] | None, key: str) -> Mapping[str, Any] | None:
    value = mapping.get(key) if mapping is not None else None
    return value if isinstance(value, dict) else None


def _is_told(path: str, settings: Mapping[str, Any], passed: tuple[str, ...] = ()) -> bool:
    """Whether these settings, or those that they extend, call our codes external."""
    stated = (_table(settings, "lint") or {}).get("external", settings.get("external"))
    if isinstance(stated, list):
        return any(isinstance(code, str) and _meets_ours(code) for code in stated)
    extend = settings.get("extend")
    if not isinstance(extend, str):
        return False
    base = os.path.normpath(os.path.join(os.path.dirname(path), os.path.expanduser(extend)))
    inherited = _settings_in(base) if base not in passed else None
    return inherited is not None and _is_told(base, inherited, (*passed, base))


def _meets_ours(code: str) -> bool:
    """Whether `code` is one of ours, or a prefix of them."""
    return code.startswith(_PREFIX) or (bool(code) and _PREFIX.startswith(code))
