"""Paths as the user sees them, and paths that a config file states."""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH109, PTH110, PTH111, PTH112, PTH118, PTH122, PTH208

from __future__ import annotations

import os


def shown_path(path: str) -> str:
    """Relative to the working directory when below it, else absolute; forward slashes on every system."""
    absolute, here = os.path.abspath(path), os.path.join(os.getcwd(), "")
    if os.path.join(absolute, "") == here:
        return "."
    return with_slashes(absolute.removeprefix(here))


def with_slashes(path: str) -> str:
    """The path with forward slashes."""
    return path if os.sep == "/" else path.replace(os.sep, "/")


def stated_path(path: str, folder: str) -> str:
    """A path that a file in `folder` states, absolute; empty stays empty."""
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path))) if path else ""


def nearest_name(path: str) -> str:
    """The existing path whose name is nearest to that of `path`, as shown to the user; empty when none is near."""
    folder, name = os.path.split(os.path.abspath(path))
    if not os.path.isdir(folder):
        better = nearest_name(folder)
        inside = os.path.join(better, name)
        return with_slashes(inside) if better and os.path.exists(inside) else better
    try:
        near = _nearest(name, sorted(os.listdir(folder)))
    except OSError:
        return ""
    return shown_path(os.path.join(folder, near)) if near else ""


def _nearest(name: str, names: list[str]) -> str:
    """The name whose stem is nearest; suffixes are too alike to count before that."""
    from difflib import get_close_matches  # noqa: PLC0415 - only messages need it

    stems = {other: os.path.splitext(other)[0] for other in names}
    near = get_close_matches(os.path.splitext(name)[0], set(stems.values()))
    best = get_close_matches(name, [other for other in names if stems[other] in near], n=1, cutoff=0)
    return best[0] if best else ""
