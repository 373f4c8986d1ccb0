"""Paths as the user sees them, and paths that a config file states."""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH109, PTH110, PTH111, PTH112, PTH118, PTH208

from __future__ import annotations

import os


def shown_path(path: str) -> str:
    """Relative to the working directory when below it, else absolute; forward slashes on every system."""
    absolute, here = os.path.abspath(path), os.getcwd()
    inside = absolute.startswith(here if here.endswith(os.sep) else here + os.sep)
    return with_slashes(os.path.relpath(absolute, here) if inside else absolute)


def with_slashes(path: str) -> str:
    """The path with forward slashes."""
    return path if os.sep == "/" else path.replace(os.sep, "/")


def stated_path(path: str, folder: str) -> str:
    """A path that a file in `folder` states, absolute; empty stays empty."""
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path))) if path else ""


def nearest_name(path: str) -> str:
    """The existing path whose name is nearest to that of `path`, as shown to the user; empty when none is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only messages need it

    folder, name = os.path.split(os.path.abspath(path))
    if not os.path.isdir(folder):
        better = nearest_name(folder) if folder != path else ""
        return f"{better}/{name}" if better and os.path.exists(os.path.join(better, name)) else better
    try:
        near = get_close_matches(name, os.listdir(folder), n=1, cutoff=0.75)
    except OSError:
        return ""
    return shown_path(os.path.join(folder, near[0])) if near else ""
