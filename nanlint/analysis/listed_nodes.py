"""What stands in a function, listed once, since many hazards of it ask: nodes by type, names that are assigned."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TypeVar

from nanlint.source.syntax.below import walk

Node = TypeVar("Node", bound=ast.AST)


@lru_cache(maxsize=32)
def _by_type(tree: ast.AST) -> dict[type[ast.AST], list[ast.AST]]:
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for node in walk(tree):
        found.setdefault(type(node), []).append(node)
    return found


def nodes_of(tree: ast.AST, kind: type[Node]) -> list[Node]:
    """The nodes of one type in a function or file."""
    return _by_type(tree).get(kind, [])  # type: ignore[return-value] # the key is their type


@lru_cache(maxsize=32)
def assigned_in(tree: ast.AST) -> frozenset[str]:
    """The names that a function assigns or deletes."""
    return frozenset(each.id for each in nodes_of(tree, ast.Name) if not isinstance(each.ctx, ast.Load))


@lru_cache(maxsize=32)
def used_once(function: ast.AST) -> list[tuple[ast.Name, ast.expr]]:
    """Each read of a name that a function reads once and assigns once, with what is assigned: as good as written there."""
    values = {
        node.targets[0].id: node.value
        for node in nodes_of(function, ast.Assign)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    }
    names: dict[str, list[ast.Name]] = {}
    for node in nodes_of(function, ast.Name):
        names.setdefault(node.id, []).append(node)
    found = ((names[name], value) for name, value in values.items())
    reads = (([each for each in several if isinstance(each.ctx, ast.Load)], several, value) for several, value in found)
    return [(read[0], value) for read, several, value in reads if len(read) == 1 and len(several) == len(read) + 1]


@lru_cache(maxsize=8)
def ids_in(tree: ast.AST) -> frozenset[int]:
    """The identities of all nodes below one."""
    return frozenset(map(id, walk(tree)))
