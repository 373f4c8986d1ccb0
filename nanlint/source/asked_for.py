"""Whether a function asks somewhere if what it divides by is 0, under the one name that this has."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanlint.source.slices import Slices


def is_asked_for(home: str, node: ast.AST, slices: Slices) -> bool:
    """Whether `node` is a name that a statement of the function itself sets, none other does, and a later one compares with 0.

    Nothing is between such a statement and those behind it, no loop and no condition, so that it is one value in all of them.
    """
    if not isinstance(node, ast.Name):
        return False
    statement = next((each for each in slices.statements_of(home) if _sets(each, node.id)), None)
    if statement is None or len(slices.flows_of(home).values[node.id]) > 1 or node.lineno <= statement.lineno:
        return False
    return any(
        isinstance(test, ast.Compare) and test.lineno > statement.lineno and _asks(test, node.id)
        for test in slices.all_nodes_of(home)
    )


def _sets(statement: ast.stmt, name: str) -> bool:
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return False
    target = statement.targets[0]
    return isinstance(target, ast.Name) and target.id == name


def _asks(test: ast.Compare, name: str) -> bool:
    """`name > 0`."""
    number = test.comparators[0]
    is_zero = isinstance(number, ast.Constant) and number.value.__class__ in {int, float} and number.value == 0
    return is_zero and len(test.ops) == 1 and isinstance(test.left, ast.Name) and test.left.id == name
