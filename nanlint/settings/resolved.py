"""What we run with: every setting resolved to a plain value, whether a file, the command line or a default said it.

Standard library only, and next to nothing of that: a clean run builds one of these and imports neither pydantic nor
tomllib. What the user may write, and how it is judged, is `nanlint.settings.models`.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH109

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from nanlint.digest import digest_of

SeverityName = Literal["error", "warning", "info"]
SEVERITIES: tuple[str, ...] = get_args(SeverityName)

FormatName = Literal["float16", "bfloat16", "float32", "float64"]
OutputFormat = Literal["full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson"]
OUTPUT_FORMATS: tuple[str, ...] = get_args(OutputFormat)

DEFAULT_INCLUDE = ("*.py", "*.pyi", "*.ipynb", "*.yaml", "*.yml", "*.toml", "*.json")

# ruff's list, plus what we write ourselves (.nanlint_cache), bytecode, and build/, where packaging copies the sources.
DEFAULT_EXCLUDE = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nanlint_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)

COMMAND_LINE = "command line"
"""Stands in `Settings.sources` where otherwise the path of a config file stands."""


class Settings(NamedTuple):
    """The settings of one folder. Paths are absolute; globs are relative to `root` unless they are absolute."""

    root: str = ""
    """The folder of the config file; the working directory where there is none or `--config` named it."""
    config: str = ""
    """The config file, empty when there is none."""
    select: tuple[str, ...] = ()
    """Empty means all default rules."""
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    preview: bool = False
    severity: str = "warning"
    """The mildest severity that is shown."""
    fail_on: str = "info"
    """The mildest shown severity that makes the exit code 1."""
    include: tuple[str, ...] = DEFAULT_INCLUDE
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    per_file_ignores: Mapping[str, tuple[str, ...]] = {}
    rules: Mapping[str, Mapping[str, Any]] = {}
    """Code or name of a rule -> its options as the user wrote them, `severity` among them."""
    confirm: Mapping[str, Mapping[str, Any]] = {}
    """`pkg.mod:Class.forward` -> the arguments with which confirm runs it, as the user wrote them."""
    formats: tuple[str, ...] = ()
    """The float formats that the project runs in; empty for those that its code switches on."""
    local_rules: tuple[str, ...] = ()
    left_out_rules: tuple[str, ...] = ()
    """Folders of local rules that a settings file names and the user has not allowed to run."""
    baseline: str = ""
    cache_dir: str = ""
    """Empty means `.nanlint_cache` below `root`."""
    output_format: str = ""
    """Empty means full on a terminal and concise otherwise."""
    fix: bool = False
    unsafe_fixes: bool = False
    sources: Mapping[str, tuple[str, ...]] = {}
    """Field name -> who stated it, nearest first: config files or `COMMAND_LINE`. Defaults have no entry."""

    def fingerprint(self) -> str:
        """The same text for settings that give the same findings in every file, another text otherwise."""
        said = (
            sorted(self.select),
            sorted(self.extend_select),
            sorted(self.ignore),
            self.preview,
            self.severity,
            _canonical(self.per_file_ignores),
            # Where the globs of per-file-ignores start; without any, the folder changes no finding.
            self.root if self.per_file_ignores else "",
            _canonical(self.rules),
            self.local_rules,
        )
        return digest_of(repr(said).encode("utf-8", "surrogatepass"))

    def ignored_for(self, path: str) -> tuple[str, ...]:
        """The selectors that per-file-ignores switches off in `path`.

        As in ruff, a glob is tried on the path below `root` and on the file's name, `*` crosses folders, and a
        leading `!` turns it into "every file but these".
        """
        if not self.per_file_ignores:
            return ()
        from nanlint.settings.globs import matches_file  # noqa: PLC0415 - few settings have such globs

        absolute, root = os.path.abspath(path), self.root or os.getcwd()
        return tuple(
            selector
            for glob, selectors in self.per_file_ignores.items()
            if matches_file(glob, absolute, root)
            for selector in selectors
        )

    def origin(self, key: str, value: str = "") -> str:
        """Where `key` got `value` from, ready for the front of a message: `pyproject.toml:12 [tool.nanlint] select`.

        A dotted key descends (`rules.NAN401`). The config file is read again, so this is for messages only; the line
        is left out when it can't be told. For the command line it is the option: `--select`.
        """
        from nanlint.settings.origin import origin  # noqa: PLC0415 - only messages need it

        return origin(self.sources, key, value)


def _canonical(mapping: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The mapping without its order, at every depth."""
    return sorted((key, _canonical(value) if isinstance(value, Mapping) else value) for key, value in mapping.items())
