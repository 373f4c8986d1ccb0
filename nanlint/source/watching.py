"""Whether a function may ask if a loss, a gradient or a norm is finite, as far as its words and comparisons tell."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanlint.source.below import all_below
from nanlint.source.kinds import NOT_A_NUMBER

if TYPE_CHECKING:
    from nanlint.source.outline import Chunk

_WATCHED = re.compile("loss|grad|norm|backward", re.IGNORECASE)
_NANS = frozenset({"nan", "NaN", "NAN", NOT_A_NUMBER})
_ORDERED = (ast.Gt, ast.GtE)
_EQUAL = (ast.Eq, ast.NotEq)
# A limit below it stops healthy losses.
_LIMIT = 1e3


def watches(chunk: Chunk) -> bool:
    """Whether a name or a key of the chunk speaks of a loss, a gradient or a norm."""
    if any(map(_WATCHED.search, chunk.words)):
        return True
    return any(isinstance(node, ast.Constant) and _is_watched(node) for node in all_below(chunk.node))


def compares_limits(chunk: Chunk) -> bool:
    """Whether the chunk compares something with NaN, with itself, or asks whether it is above a number that may be large."""
    has_nan = not _NANS.isdisjoint(chunk.words)
    return any(isinstance(node, ast.Compare) and _is_limit(node, has_nan=has_nan) for node in all_below(chunk.node))


def _is_limit(node: ast.Compare, *, has_nan: bool) -> bool:
    if len(node.ops) != 1:
        return False
    sign, left, right = node.ops[0], node.left, node.comparators[0]
    if isinstance(sign, _EQUAL):
        return has_nan or (left.__class__ is right.__class__ and ast.dump(left) == ast.dump(right))
    if not isinstance(sign, _ORDERED):
        return False
    if isinstance(right, ast.Constant):
        return isinstance(right.value, (int, float)) and right.value >= _LIMIT
    # A name for a number is one that somebody watches a loss by.
    return any(map(_is_watched, all_below(left)))


def _is_watched(node: ast.AST) -> bool:
    word = getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "value", None)
    return isinstance(word, str) and _WATCHED.search(word) is not None
