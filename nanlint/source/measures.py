"""What was measured, by its name: `weights.sum()` and `query.norm()` measure what a model makes, and that is not all 0."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from nanlint.source.below import all_below
from nanlint.source.references import last_word
from nanlint.source.telling_names import COUNTED, GRADIENTS, LEARNED, SIGNALS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MEASURES = frozenset({"sum", "norm", "vector_norm", "std", "var", "mean", "median", "max", "amax"})
# What is measured is the same before them and after them.
_CARRYING = frozenset(
    {
        "view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "contiguous", "clone", "expand", "float",
        "double", "half", "bfloat16", "to", "detach", "expand_as", "type_as", "view_as", "sqrt",
    }
)  # fmt: skip
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_OTHERWISE = GRADIENTS | SIGNALS | COUNTED


def without_views(node: ast.AST, is_library: Callable[[ast.AST], bool]) -> ast.AST:
    """`x.sum()` of `x.sum().view(-1)[0]`."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        inner = node.value if isinstance(node, ast.Subscript) else _subject(node, is_library)
        if inner is None or (isinstance(node, ast.Call) and last_word(node.func) not in _CARRYING):
            break
        node = inner
    return node


def is_measure_of_learned(node: ast.AST, is_library: Callable[[ast.AST], bool]) -> bool:
    """Whether `node` is a sum, a norm or a spread of something that goes by the name of what a model makes."""
    if not isinstance(node, ast.Call) or last_word(node.func) not in MEASURES:
        return False
    subject = _subject(node, is_library)
    return subject is not None and _is_learned(subject)


def _subject(call: ast.Call, is_library: Callable[[ast.AST], bool]) -> ast.AST | None:
    """`x` of `x.sum(0)`, of `torch.sum(x, 0)` and of `torch.linalg.norm(x)`; None of a function by itself."""
    if not isinstance(call.func, ast.Attribute):
        return None
    root: ast.AST = call.func.value
    while isinstance(root, ast.Attribute):
        root = root.value
    if not is_library(root):
        return call.func.value
    return call.args[0] if call.args else None


def _is_learned(node: ast.AST) -> bool:
    words = {word for name in _names(node) for word in words_in(name)}
    return not LEARNED.isdisjoint(words) and _OTHERWISE.isdisjoint(words)


def _names(node: ast.AST) -> Iterable[str]:
    for inner in all_below(node):
        if isinstance(inner, (ast.Name, ast.Attribute)):
            yield last_word(inner)


@lru_cache(maxsize=4096)
def words_in(name: str) -> frozenset[str]:
    """The words of a name: `top_k_weights` has three."""
    return frozenset(word.lower() for word in _WORD.findall(name))
