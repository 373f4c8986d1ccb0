"""From a config file to the values it states, through every file it extends. Imports tomllib and pydantic.

All that is wrong in the chain of files is said at once, one line each.
"""

# Paths are strings throughout the settings: pathlib is not imported on a clean run.
# ruff: noqa: PTH120

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from nanlint.errors import SettingsError
from nanlint.sealed import LARGEST_SETTINGS, read_regular
from nanlint.settings.complain import complaints
from nanlint.settings.document import Document, read_document
from nanlint.settings.layers import Values, lay, no_values, placed
from nanlint.settings.models import Options
from nanlint.settings.paths import nearest_name, shown_path, stated_path
from nanlint.settings.project import is_inside, project_root

if TYPE_CHECKING:
    from collections.abc import Mapping


class Loaded(NamedTuple):
    """What a config file states, and the bytes of every file that had a say."""

    values: Values | None
    """None for a pyproject.toml without `[tool.nanlint]`."""
    files: Mapping[str, bytes]


def load(path: str, data: bytes, root: str) -> Loaded:
    """The values that the config file `path`, whose bytes are `data`, states for files below `root`."""
    chain = _Chain(path, data)
    if chain.problems:
        raise SettingsError("\n".join(chain.problems))
    if not chain.layers:
        return Loaded(None, chain.files)
    values = no_values()
    for source, layer in reversed(chain.layers):
        lay(placed(layer, os.path.dirname(source), root), values, source)
    return Loaded(values, chain.files)


class _Chain:
    """A config file and what it inherits from, nearest first."""

    def __init__(self, path: str, data: bytes) -> None:
        self.files = {path: data}
        self.layers: list[tuple[str, Mapping[str, Any]]] = []
        self.problems: list[str] = []
        self._project = project_root(os.path.dirname(path))
        document = self._read(path, data)
        while document is not None:
            self.layers.append((document.path, self._stated(document)))
            document = self._extended(document)

    def _read(self, path: str, data: bytes) -> Document | None:
        try:
            return read_document(path, data)
        except SettingsError as error:
            self.problems.append(str(error))
            return None

    def _stated(self, document: Document) -> Mapping[str, Any]:
        """What the file itself states, judged by the models."""
        try:
            options = Options.model_validate(document.options)
        except ValidationError as error:
            self.problems += complaints(document, error.errors(include_url=False))
            return {}
        for key in ("baseline", "cache-dir"):
            self._require_inside(document, key)
        return options.model_dump(exclude_unset=True, exclude={"extend"})

    def _require_inside(self, document: Document, key: str) -> bool:
        """Whether the path under `key` stays in the project; a problem is noted if not."""
        path = stated_path(document.options.get(key, ""), os.path.dirname(document.path))
        if not path or is_inside(path, self._project):
            return True
        other = "" if key == "extend" else f"; to use it all the same, say --{key} on the command line"
        outside = f"{shown_path(path)} is outside the project ({shown_path(self._project)})"
        self.problems.append(f"{document.describe((key,))}: {outside}{other}")
        return False

    def _extended(self, document: Document) -> Document | None:
        """The file that `extend` names."""
        extend = document.options.get("extend")
        if not isinstance(extend, str) or not extend:
            return None
        if not self._require_inside(document, "extend"):
            return None
        path = stated_path(extend, os.path.dirname(document.path))
        problem = self._circle(path) or self._unreadable(path)
        before = len(self.problems)
        base = None if problem else self._read(path, self.files[path])
        if base is None and len(self.problems) == before:
            problem = problem or f"{shown_path(path)} has no [tool.nanlint]"
            self.problems.append(f"{document.describe(('extend',))}: {problem}")
        return base

    def _circle(self, path: str) -> str:
        if path not in self.files:
            return ""
        chain = [*self.files, path]
        return "goes in a circle: " + " -> ".join(map(shown_path, chain[chain.index(path) :]))

    def _unreadable(self, path: str) -> str:
        """Read the file; what is wrong if that fails."""
        try:
            self.files[path] = read_regular(path, largest=LARGEST_SETTINGS)
        except FileNotFoundError:
            near = nearest_name(path)
            return f"{shown_path(path)} does not exist" + (f'; did you mean "{near}"?' if near else "")
        except OSError as error:
            return f"{shown_path(path)} can't be read: {error.strerror}"
        return ""
