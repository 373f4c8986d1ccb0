"""Texts parsed, each once while somebody holds its tree, or while there is room: files of a run import the same ones."""

from __future__ import annotations

import ast
import sys
import warnings
from weakref import WeakValueDictionary

_ROOM_TO_PARSE = 4000
# In characters; a tree takes forty times as many bytes.
_ROOM = 5_000_000
_alive: WeakValueDictionary[str, ast.Module] = WeakValueDictionary()
_latest: dict[str, ast.Module] = {}
"""What is held here, the latest asked for last."""


def tree_of(text: str, path: str = "<unknown>") -> ast.Module:
    """A text parsed; raises what `compile` raises on code that is no Python."""
    tree = _latest.pop(text, None) or _alive.get(text)
    if tree is None:
        tree = _alive[text] = _parsed(text, path)
        room = _ROOM - len(text)
        for held in [*reversed(_latest)]:
            room -= len(held)
            if room < 0:
                del _latest[held]
    _latest[text] = tree
    return tree


def _parsed(text: str, path: str) -> ast.Module:
    """A sum of ten thousand terms is nested as deep, and Python refuses to build that tree without room to recurse."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _ROOM_TO_PARSE))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's own, of the user's strings
            return ast.parse(text, path)
    finally:
        sys.setrecursionlimit(limit)
