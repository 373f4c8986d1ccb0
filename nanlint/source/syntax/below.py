"""The nodes of an `ast` below a node: half the time of `ast.iter_child_nodes`, which yields contexts and operators, too."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLAIN = word_set("""
    arg asname attr conversion ctx id is_async kind kwd_attrs level lineno module name op ops rest simple str tag
    type_comment
""")
"""The fields that hold no expression, no statement and no part of one."""

_fields_by_type: dict[type[ast.AST], tuple[str, ...]] = dict.fromkeys(
    (ast.Constant, ast.MatchSingleton, ast.Global, ast.Nonlocal), ()
)


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    names = tuple(name for name in kind._fields if name not in _PLAIN)
    _fields_by_type[kind] = names
    return names


def nodes_below(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below `node`, contexts and operators left out."""
    kind = node.__class__
    below: list[ast.AST] = []
    for name in _fields_by_type[kind] if kind in _fields_by_type else _fields(kind):
        value = getattr(node, name, None)
        if value.__class__ is list:
            below += value if None not in value else [each for each in value if each is not None]
        elif value is not None:
            below.append(value)
    return below


def walk(root: ast.AST) -> list[ast.AST]:
    """`root` and every node below it in the order of `ast.walk`, contexts and operators left out."""
    found = [root]
    for node in found:  # which grows while it is read
        found += nodes_below(node)
    return found


def given_to(call: ast.Call) -> list[ast.expr]:
    """What a call is given, by position and by name."""
    return [*call.args, *(each.value for each in call.keywords)]


def all_below(root: ast.AST) -> Iterator[ast.AST]:
    """`root` and every node below it, in no order."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += nodes_below(node)
