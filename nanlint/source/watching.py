"""Whether a function may ask if a loss, a gradient or a norm is finite, as far as its words and comparisons tell."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanlint.source.below import all_below
from nanlint.source.kinds import NOT_A_NUMBER
from nanlint.source.references import last_word

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.source.outline import Chunk

_WATCHED = re.compile("loss|grad|norm|backward", re.IGNORECASE)
_ASKING = frozenset({"isnan", "isinf", "isfinite"})
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


def replaces(chunk: Chunk) -> bool:
    """Whether the chunk watches something, and an `if` that may ask whether it is finite sets it to what may be a number."""
    if not watches(chunk):
        return False
    asked = chunk.words & _ASKING
    # Whoever calls it by another name may do anything.
    if not asked:
        return True
    nodes = chunk.contents.nodes
    questions = [node for node in nodes if isinstance(node, ast.Call) and last_word(node.func) in asked]
    things = {last_word(inner) for question in questions for inner in all_below(question)}
    answers = asked | _names_for(asked, nodes)
    return any(
        isinstance(node, ast.If)
        and _mentions(node.test, answers)
        and any(isinstance(each, ast.Assign) and _is_replacement(each, things) for each in node.body)
        for node in nodes
    )


def _names_for(words: set[str], nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are given something with one of `words` in it, and those that are given such a name."""
    given = [node for node in nodes if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value]
    found: set[str] = set()
    while True:
        telling = words | found
        more = {
            last_word(inner)
            for node in given
            if node.value is not None and _mentions(node.value, telling)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            for inner in all_below(target)
        } - {""}
        if more <= found:
            return found
        found |= more


def _mentions(node: ast.AST, words: set[str]) -> bool:
    return any(last_word(inner) in words for inner in all_below(node))


def _is_replacement(node: ast.Assign, things: set[str]) -> bool:
    """`loss = 0.0`, where the question was for the loss; a name for a number may be the number that the loss is."""
    target, value = node.targets[0], node.value
    if isinstance(value, (ast.Name, ast.Attribute)):
        return True
    is_call = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
    is_number = not is_call and not (isinstance(value, ast.Constant) and not isinstance(value.value, (int, float)))
    return is_number and (isinstance(target, ast.Subscript) or last_word(target) in things)


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
