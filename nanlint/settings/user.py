"""What the user has said outside every repository: `config.toml` in the user's own nanlint folder.

    trusted = ["~/work/my-project"]    # local rules of these folders run without a flag
    cache-dir = "~/.cache/nanlint/all" # one cache for all projects

Only these two keys are read. The file is looked at when one of them is asked for.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH110, PTH111, PTH117, PTH118

from __future__ import annotations

import os
from functools import cache
from typing import Any

from nanlint.errors import SettingsError
from nanlint.sealed import LARGEST_SETTINGS, read_regular, user_folder
from nanlint.settings.project import is_inside

ALLOW_RULES = "NANLINT_ALLOW_LOCAL_RULES"
"""The environment variable that lets the local rules of every repository run; `1` says so."""


def user_cache_folder() -> str:
    """The cache folder that the user's own settings name; empty if they name none."""
    folder = _stated().get("cache-dir", "")
    return os.path.expanduser(folder) if folder else ""


def trusts(folder: str) -> bool:
    """Whether the user lets local rules of `folder` run."""
    if os.environ.get(ALLOW_RULES, "") not in {"", "0"}:
        return True
    return any(is_inside(folder, os.path.expanduser(root)) for root in _stated().get("trusted", ()))


def _stated() -> dict[str, Any]:
    path = os.path.join(user_folder("config"), "config.toml")
    return _read(path) if os.path.exists(path) else {}


@cache
def _read(path: str) -> dict[str, Any]:
    from nanlint.settings.toml import TomlSyntaxError, decode_toml, parse_toml  # noqa: PLC0415 - few users have one

    try:
        values = parse_toml(decode_toml(read_regular(path, largest=LARGEST_SETTINGS)))
    except TomlSyntaxError as error:
        raise SettingsError(f"{path}:{error.line}: not valid TOML: {error}") from error
    except OSError as error:
        raise SettingsError(f"{path}: can't be read: {error.strerror}") from error
    for key, value in values.items():
        if key == "trusted":
            problem = (
                "" if isinstance(value, list) and all(map(_is_full_path, value)) else "must be a list of full paths"
            )
        elif key == "cache-dir":
            problem = "" if _is_full_path(value) else "must be a full path"
        else:
            problem = "is not known here; there are trusted and cache-dir"
        if problem:
            raise SettingsError(f"{path}: {key} {problem}")
    return values


def _is_full_path(value: object) -> bool:
    return isinstance(value, str) and os.path.isabs(os.path.expanduser(value))
