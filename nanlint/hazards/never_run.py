"""Branches that no caller takes: `if measure == "DV"`, where every call in the project passes "JSD"."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.listed_nodes import assigned_in
from nanlint.analysis.op_graph import NOTHING, PARAMETER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Op, Value
    from nanlint.analysis.project.index import Function
    from nanlint.analysis.project.whole import FileInProject

_DEEPEST = 4
_MOST_CALLS = 60


def is_never_run(op: Op, function: Function, file: FileInProject) -> bool:
    """Whether the operation stands in a branch whose condition is decided otherwise by all who call the function."""
    line = getattr(op.node, "lineno", 0)
    for test, holds in _conditions(function.node, line):
        name, answers = _asked(test)
        if name not in function.parameters or name in assigned_in(function.node):
            continue
        passed = _passed(function, name, file)
        if passed and all((constant in answers) is not holds for constant in passed):
            return True
    return False


def _conditions(node: ast.AST, line: int) -> Iterator[tuple[ast.expr, bool]]:
    """The conditions under which a line of a function is reached, and whether they hold there."""
    inner: ast.AST | None = node
    while inner is not None:
        node, inner = inner, None
        for field in ("body", "orelse", "finalbody"):
            held = getattr(node, field, ())
            for each in held if isinstance(held, list) else ():
                if each.lineno <= line <= (each.end_lineno or 0):
                    inner = each
                    if isinstance(node, ast.If):
                        yield node.test, field == "body"


def _asked(test: ast.expr) -> tuple[str, list[object]]:
    """The name and the constants of `name == constant`, `name in (one, other)`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return "", []
    left, right = test.left, test.comparators[0]
    if isinstance(test.ops[0], ast.Eq) and isinstance(left, ast.Constant):
        left, right = right, left
    if not isinstance(left, ast.Name):
        return "", []
    if isinstance(test.ops[0], ast.Eq) and isinstance(right, ast.Constant):
        return left.id, [right.value]
    if isinstance(test.ops[0], ast.In) and isinstance(right, ast.Tuple | ast.List | ast.Set):
        constants = [each.value for each in right.elts if isinstance(each, ast.Constant)]
        return (left.id, list(constants)) if len(constants) == len(right.elts) else ("", [])
    return "", []


def _passed(function: Function, name: str, file: FileInProject, depth: int = _DEEPEST) -> list[object] | None:
    """The constants that all callers pass for a parameter, those left aside that nobody names; None if one is not known."""
    if not depth or len(function.calls) > _MOST_CALLS or not file.sees_all_calls(function):
        return None
    found: list[object] = []
    for site in function.calls:
        value = site.arguments.get(name) or (function.parameters.get(name) if site.is_whole else None)
        constants = _constants(value, file, depth) if value is not None else None
        if constants is None:
            return None
        found += constants
    return found


def _constants(value: Value, file: FileInProject, depth: int) -> list[object] | None:
    op = value.op
    if value.constant is not NOTHING and not value.assumed:
        return [value.constant]
    if op is None or op.function != PARAMETER or op.scope is None or op.where in assigned_in(op.scope.node):
        return None
    return [] if file.is_named_by_nobody(op.scope) else _passed(op.scope, op.where, file, depth - 1)
