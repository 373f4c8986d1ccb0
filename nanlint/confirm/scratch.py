"""Folders that the user's code may fill as it likes, and how to be rid of them whatever it did."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat


def remove(folder: str) -> None:
    """Remove a folder and all in it: closed folders, links, and folders in each other without end.

    Everything is brought up to the top before it goes, so that neither recursion nor the length of a path is a limit.
    """
    numbers = itertools.count()
    with contextlib.suppress(OSError):
        while names := os.listdir(folder):  # noqa: PTH208 - strings, which are joined below
            for name in names:
                _remove_one(folder, f"{folder}{os.sep}{name}", numbers)
        os.rmdir(folder)  # noqa: PTH106 - a string


def _remove_one(folder: str, path: str, numbers: itertools.count[int]) -> None:
    """Remove a file; of a folder only itself, what was in it is at the top then."""
    if not _opened(path):
        os.unlink(path)  # noqa: PTH108 - a string
        return
    for name in os.listdir(path):  # noqa: PTH208 - a string
        inner = f"{path}{os.sep}{name}"
        _opened(inner)
        os.rename(inner, f"{folder}{os.sep}nanlint-{next(numbers)}-{os.getpid()}")  # noqa: PTH104 - strings
    os.rmdir(path)  # noqa: PTH106 - a string


def _opened(path: str) -> bool:
    """Whether it is a folder, which may be entered and changed from now on."""
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        return False
    os.chmod(path, 0o700)  # noqa: PTH101 - a string; no link, as was asked
    return True
