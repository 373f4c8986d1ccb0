"""Which settings hold for a file: the nearest config file upward, the command line on top.

In one folder `nanlint.toml` comes before `pyproject.toml`; a pyproject.toml without `[tool.nanlint]` is passed by.
A folder is looked at once. A run without a config file imports neither tomllib nor pydantic, nor does a run whose
config files are unchanged since the last one, if it has a folder for memos.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH109, PTH110, PTH113, PTH118, PTH120

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from nanlint.errors import SettingsError, UsageError
from nanlint.sealed import LARGEST_SETTINGS, read_regular
from nanlint.settings.layers import Values, lay_command_line, no_values, placed, settings_of
from nanlint.settings.paths import nearest_name, shown_path
from nanlint.settings.project import CONFIG_NAMES
from nanlint.settings.resolved import COMMAND_LINE, OUTPUT_FORMATS, SEVERITIES, Settings
from nanlint.settings.user import trusts

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULTS = Settings()
_CHOICES = {"severity": SEVERITIES, "fail_on": SEVERITIES, "output_format": ("", *OUTPUT_FORMATS)}


class SettingsFinder:
    """Finds settings for paths. `overrides` has the names of `Settings` fields and stands for the command line.

    With `config`, that file holds for every path and its globs are relative to the working directory, as with ruff's
    `--config`. With `isolated`, no config file is read.
    """

    def __init__(
        self,
        overrides: Mapping[str, object] | None = None,
        *,
        config: str | None = None,
        isolated: bool = False,
        memo_dir: str | None = None,
        allow_local_rules: bool = False,
    ) -> None:
        self.left_out: list[str] = []
        """Settings files whose local rules do not run, because the user has not allowed it."""
        self._allow_local_rules = allow_local_rules
        self._here = os.getcwd()
        self._overrides = _known(overrides or {})
        self._memo_dir = memo_dir
        self._by_folder: dict[str, Settings] = {}
        self._fixed: Settings | None = None
        if config is not None:
            self._fixed = self._named(os.path.abspath(config))
        elif isolated:
            self._fixed = self._without_config()

    def for_path(self, path: str) -> Settings:
        """The settings for a file."""
        return self.for_directory(os.path.dirname(path))

    def for_directory(self, directory: str) -> Settings:
        """The settings for the files of a folder; the same object for all folders with the same config file."""
        settings = self._fixed or self._by_folder.get(directory)
        if settings is None:
            settings = self._by_folder[directory] = self._search(os.path.abspath(directory))
        return settings

    def _search(self, folder: str) -> Settings:
        """Look upward from an absolute folder, and note the answer for every folder on the way."""
        passed: list[str] = []
        settings = self._by_folder.get(folder) or self._stated_in(folder)
        while settings is None:
            passed.append(folder)
            parent = os.path.dirname(folder)
            if parent == folder:
                settings = self._without_config()
                break
            folder = parent
            settings = self._by_folder.get(folder) or self._stated_in(folder)
        self._by_folder.update(dict.fromkeys((*passed, folder), settings))
        return settings

    def _stated_in(self, folder: str) -> Settings | None:
        for name in CONFIG_NAMES:
            path = os.path.join(folder, name)
            data = _content(path)
            # A pyproject.toml that never says our name can't configure us, and most do not.
            if data is None or (name == "pyproject.toml" and b"nanlint" not in data):
                continue
            values = self._values(path, data, folder)
            if values is not None:
                return self._resolved(values, folder, path)
        return None

    def _named(self, path: str) -> Settings:
        """The settings of the file that `--config` names."""
        try:
            data = read_regular(path, largest=LARGEST_SETTINGS)
        except OSError as error:
            near = nearest_name(path)
            hint = f'; did you mean "{near}"?' if near and not os.path.exists(path) else ""
            raise UsageError(f"--config: {shown_path(path)} can't be read: {error.strerror}{hint}") from error
        values = self._values(path, data, self._here)
        if values is None:
            raise UsageError(f"--config: {shown_path(path)} has no [tool.nanlint]")
        return self._resolved(values, self._here, path)

    def _values(self, path: str, data: bytes, root: str) -> Values | None:
        """What the config file states, from the memo if that still holds."""
        if self._memo_dir is None:
            from nanlint.settings.load import load  # noqa: PLC0415 - imports pydantic and tomllib

            return load(path, data, root).values
        from nanlint.settings import memo  # noqa: PLC0415 - runs without a config file need no memo

        file = memo.memo_file(self._memo_dir, path, root)
        holds, values = memo.recall(file, path, data)
        if not holds:
            from nanlint.settings.load import load  # noqa: PLC0415 - imports pydantic and tomllib

            loaded = load(path, data, root)
            memo.remember(file, loaded.files, loaded.values)
            values = loaded.values
        return values

    def _without_config(self) -> Settings:
        return self._resolved(no_values(), self._here, "")

    def _resolved(self, values: Values, root: str, config: str) -> Settings:
        lay_command_line(placed(self._overrides, self._here, root), values)
        settings = settings_of(values, root, config)
        stated_by = settings.sources.get("local_rules", ())
        if not settings.local_rules or self._allow_local_rules or COMMAND_LINE in stated_by or trusts(root):
            return settings
        self.left_out.append(shown_path(stated_by[0]))
        return settings._replace(local_rules=(), left_out_rules=settings.local_rules)


def settings_for(directory: str, overrides: Mapping[str, object] | None = None) -> Settings:
    """The settings for the files of one folder; `SettingsFinder` for many."""
    return SettingsFinder(overrides).for_directory(directory)


def _content(path: str) -> bytes | None:
    """The bytes of a config file, None when there is none."""
    try:
        return read_regular(path, largest=LARGEST_SETTINGS)
    except OSError as error:
        # A folder above us may be closed to us, or a folder may bear the name; neither is a config file.
        if os.path.isfile(path):
            raise SettingsError(f"{shown_path(path)}: can't be read: {error.strerror}") from error
        return None


def _known(overrides: Mapping[str, Any]) -> Mapping[str, Any]:
    """The overrides, once their names and fixed words are known to be right."""
    for name, value in overrides.items():
        if name not in Settings._fields:
            raise UsageError(f"{name}: no such setting; there are {', '.join(Settings._fields)}")
        if isinstance(getattr(_DEFAULTS, name), tuple) and not isinstance(value, list | tuple):
            raise UsageError(f"{name}: must be a list of strings, not {value!r}")
        if value not in _CHOICES.get(name, (value,)):
            raise UsageError(f"{name}: {value!r} is not one of {', '.join(filter(None, _CHOICES[name]))}")
    return overrides
