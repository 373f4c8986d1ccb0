"""Where in the source an operation was called: the frames that are the user's, and not torch's or ours."""

from __future__ import annotations

import functools
import linecache
import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from types import CodeType, FrameType

DEPTH = 12
"""Frames that are kept of a stack; the innermost say the most."""

PLUMBING = frozenset({"accelerate", "einops", "lightning", "lightning_fabric", "opt_einsum", "pytorch_lightning"})
"""Packages that call operations on somebody's behalf: their lines are named only if there are no others."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of source and the function it is in."""

    path: str
    line: int
    function: str

    @property
    def source(self) -> str:
        """The line as it is written, without blanks around it; empty if it cannot be read."""
        return linecache.getline(self.path, self.line).strip()

    @property
    def shown(self) -> str:
        """The place as an editor opens it, relative where that is shorter."""
        return f"{shown_path(self.path)}:{self.line}"


def shown_path(path: str) -> str:
    """The path from the working directory on, if it is below it."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return path if relative.startswith("..") else relative


_TORCH = str(Path(torch.__file__).parent) + os.sep
# The command itself, as pip installs it; not the script of somebody who calls `watch`.
_STARTED_BY = sys.argv[0] if sys.argv and Path(sys.argv[0]).stem == "nanlint" else ""
_OURS = str(Path(__file__).parent.parent) + os.sep
_LIBRARY = tuple(str(Path(sysconfig.get_path(name))) + os.sep for name in ("stdlib", "platstdlib"))
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


@functools.lru_cache(maxsize=4096)
def is_foreign(path: str) -> bool:
    """Whether the file belongs to torch, to nanlint or to Python."""
    if path.startswith((_TORCH, _OURS, "<frozen", "<string", "<__array_function__", "<eval_with_key>")):
        return True
    if path == _STARTED_BY:
        return True
    return path.startswith(_LIBRARY) and not any(part in path for part in _PACKAGES)


@functools.lru_cache(maxsize=4096)
def is_installed(path: str) -> bool:
    """Whether the file belongs to an installed package, and not to the user's project."""
    return any(part in path for part in _PACKAGES)


@functools.lru_cache(maxsize=4096)
def _is_plumbing(path: str) -> bool:
    return not PLUMBING.isdisjoint(Path(path).parts)


def calling_places(frame: FrameType | None = None) -> tuple[Place, ...]:
    """The frames that are neither torch's nor ours, the innermost first; plumbing comes last."""
    frame = frame or sys._getframe(1)  # noqa: SLF001 - the one way to see who called
    found: list[tuple[CodeType, int]] = []
    while frame is not None and len(found) < DEPTH:
        if not is_foreign(frame.f_code.co_filename):
            found.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    places = [Place(code.co_filename, line, code.co_name) for code, line in found]
    return tuple(sorted(places, key=lambda place: _is_plumbing(place.path)))
