"""`nanlint clean`: delete the cache."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from nanlint.engine.check_paths import Plan, Run
from nanlint.errors import ExitCode, NanlintError

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
    from shutil import rmtree  # noqa: PLC0415 - for this command only

    folder = Run(Plan(use_cache=False)).cache_folder
    if not os.path.isdir(folder):
        out.write("No cache to delete.\n")
        return ExitCode.CLEAN
    if not os.path.exists(os.path.join(folder, "CACHEDIR.TAG")):
        raise NanlintError(f"{folder} was not made by nanlint (it has no CACHEDIR.TAG); delete it by hand if you mean it")
    rmtree(folder)
    out.write(f"Deleted {folder}\n")
    return ExitCode.CLEAN
