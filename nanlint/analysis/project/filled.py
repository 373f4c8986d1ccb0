"""What the code of a file fills, by name: `nn.init.zeros_(self.bias)`, `weight.copy_(x)`, a loop over all parameters."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from nanlint.analysis.listed_nodes import nodes_of
from nanlint.source.syntax.below import all_below, walk
from nanlint.source.syntax.references import last_word
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FILLS = re.compile(
    r"(^|_)(init|initiali[sz]e|initiali[sz]er|fill|reset|xavier|kaiming|glorot|normal|uniform|zeros?|ones|constant|orthogonal|eye|dirac|copy|load|assign)(_|$)"
    r"|[a-z]_$|^(Init|init)"
)
_EVERYTHING = word_set("parameters named_parameters state_dict")
# What only takes a parameter in, or makes it.
_NO_FILL = word_set("register_parameter register_buffer Parameter requires_grad_ super append ParameterList")
_HOLDERS = (ast.Attribute, ast.List, ast.Tuple, ast.Dict)


class Filled:
    """What a file fills: names of parameters, or all that there are."""

    __slots__ = ("everything", "names")

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.everything = False


@lru_cache(maxsize=64)
def filled_by(code: ast.AST) -> Filled:
    """What a piece of code fills, by name."""
    nodes = walk(code)
    filled = Filled()
    kept: dict[str, set[str]] = {}
    optional: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.If):
            optional.update(_optional(node))
        elif isinstance(node, ast.Call):
            if node not in optional:
                _by_call(node, filled)
        elif isinstance(node, ast.Assign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                # `self.weight[0] = 1` and `self.weight.data = x` write into it, `self.weight = x` makes another one.
                if isinstance(target, ast.Subscript) or (isinstance(target, ast.Attribute) and target.attr == "data"):
                    filled.names |= set(_names(target))
                elif isinstance(target, ast.Name) and isinstance(node.value, _HOLDERS):
                    kept.setdefault(target.id, set()).update(_names(node.value))
        elif isinstance(node, ast.For) and any(_is_fill(inner) for inner in all_below(node)):
            filled.names |= set(_names(node.iter))
            filled.everything = filled.everything or not _EVERYTHING.isdisjoint(_names(node.iter))
    # `for weight in weights` fills what was put into `weights`.
    filled.names |= {inner for name in filled.names & kept.keys() for inner in kept[name]}
    return filled


def _optional(node: ast.If) -> Iterator[ast.AST]:
    """The calls of an initialiser that somebody may give, and need not: `if initializer is not None: initializer(self.bias)`."""
    test = node.test
    is_given = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot)
    asked = last_word(test.left if isinstance(test, ast.Compare) and is_given else test)
    for inner in (
        (each for statement in node.body for each in all_below(statement)) if asked and not node.orelse else ()
    ):
        if isinstance(inner, ast.Call) and last_word(inner.func) == asked:
            yield inner


def _by_call(node: ast.Call, filled: Filled) -> None:
    if not _is_fill(node):
        return
    given: Iterable[ast.expr] = (*node.args, *(keyword.value for keyword in node.keywords))
    filled.names |= {name for part in (node.func, *given) for name in _names(part)}
    if any(
        isinstance(inner, ast.Call) and last_word(inner.func) == "getattr"
        for part in given
        for inner in all_below(part)
    ):
        filled.everything = True


def called_for_effect(code: ast.AST) -> Iterator[ast.Call]:
    """The calls whose result nobody uses: what they do, they do to what they are given."""
    for node in nodes_of(code, ast.Expr):
        if isinstance(node.value, ast.Call):
            yield node.value


def fills(call: ast.Call) -> bool:
    """Whether a function fills what it is given, by its name."""
    return _fills(last_word(call.func))


def _is_fill(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and fills(node)


@lru_cache(maxsize=4096)
def _fills(name: str) -> bool:
    return name not in _NO_FILL and _FILLS.search(name if not name.isupper() else name.lower()) is not None


def _names(node: ast.AST) -> Iterator[str]:
    for inner in all_below(node):
        if isinstance(inner, ast.Attribute):
            yield inner.attr
        elif isinstance(inner, ast.Name):
            yield inner.id
        elif (
            isinstance(inner, ast.Subscript)
            and isinstance(inner.slice, ast.Constant)
            and isinstance(inner.slice.value, str)
        ):
            yield inner.slice.value  # `self._parameters["weight"]`
