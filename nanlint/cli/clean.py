"""`nanlint clean`: delete the cache."""

# pathlib is not imported by any command that a hook runs, and the settings' paths are strings.
# ruff: noqa: PTH112, PTH114

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from nanlint.engine.check_paths import Plan, Run
from nanlint.errors import ExitCode, NanlintError
from nanlint.settings.paths import shown_path
from nanlint.source.cache import delete_ours, made_by_us

if TYPE_CHECKING:
    import argparse

EPILOG = """\
examples:
  nanlint clean
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """No options: the cache of the working directory's settings is meant."""
    del parser


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> ExitCode:
    """Delete what earlier runs left behind; a folder that is no cache of ours is not touched."""
    del options, err
    folder = Run(Plan(use_cache=False)).cache_folder
    if not os.path.isdir(folder):
        out.write("No cache to delete.\n")
        return ExitCode.CLEAN
    if os.path.islink(folder) or not made_by_us(folder):
        raise NanlintError(f"{shown_path(folder)} was not made by nanlint; delete it by hand if you mean it")
    try:
        delete_ours(folder)
    except OSError as error:
        raise NanlintError(f"{shown_path(folder)} cannot be deleted: {error.strerror or error}") from None
    out.write(f"Deleted {shown_path(folder)}\n")
    return ExitCode.CLEAN
