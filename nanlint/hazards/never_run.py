"""Branches that no caller takes: `if measure == "DV"`, where every call in the project passes "JSD", leaves that default, or built the object so."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.listed_nodes import assigned_in
from nanlint.analysis.op_graph import INSTANCE, JOIN, NOTHING, PARAMETER, Value
from nanlint.analysis.project.syntax_names import defaults_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nanlint.analysis.op_graph import Op
    from nanlint.analysis.project.index import Function
    from nanlint.analysis.project.whole import FileInProject

_DEEPEST = 4
_MOST_CALLS = 60


def is_never_run(op: Op, function: Function, file: FileInProject) -> bool:
    """Whether the operation stands in a branch whose condition is decided otherwise by all who call the function."""
    line = getattr(op.node, "lineno", 0)
    for test, holds in _conditions(function.node, line):
        asked = _asked(test)
        passed = _answers(asked.name, function, file) if asked is not None else None
        if asked is not None and passed and all(asked.holds_for(constant) is not holds for constant in passed):
            return True
    return False


def _answers(name: str, function: Function, file: FileInProject) -> list[object] | None:
    """The constants that a parameter, or an attribute of the object, can be; None if one is not known."""
    owner, attribute = function.owner, name.removeprefix("self.")
    if attribute != name and owner is not None:
        if any(attribute in module.sets_of_others for module in file.graph.project.modules):
            return None
        held = file.graph.attribute(owner, attribute, Value(INSTANCE, target=owner), function.node)
        return _constants(held, file, _DEEPEST)
    is_passed = name in function.parameters and name not in assigned_in(function.node)
    return _passed(function, name, file) if is_passed else None


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


class _Asked(NamedTuple):
    """A test of one name, and whether it holds for a constant."""

    name: str
    holds_for: Callable[[object], bool]


def _asked(test: ast.expr) -> _Asked | None:
    """What `name == constant`, `name in (one, other)`, `name > 0`, `name is None`, `name` and `not name` ask for."""
    if _name(test):
        return _Asked(_name(test), bool)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _asked(test.operand)
        return _Asked(inner.name, lambda constant: not inner.holds_for(constant)) if inner is not None else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, right, sign = test.left, test.comparators[0], type(test.ops[0])
    if sign in {ast.Eq, ast.NotEq} and isinstance(left, ast.Constant):
        left, right = right, left
    answers: list[object] = [each.value for each in _elements(right) if isinstance(each, ast.Constant)]
    if not _name(left) or sign not in _TESTS or len(answers) != len(_elements(right)):
        return None
    return _Asked(_name(left), lambda constant: _TESTS[sign](constant, answers))


def _name(node: ast.expr) -> str:
    """`name` or `self.name`; empty for all else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return f"self.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _elements(node: ast.expr) -> Sequence[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]


def _is_more(constant: object, answers: list[object]) -> bool:
    numbers = [each for each in (constant, *answers) if isinstance(each, int | float)]
    return len(numbers) == len(answers) + 1 and numbers[0] > numbers[1]


_TESTS: dict[type[ast.cmpop], Callable[[object, list[object]], bool]] = {
    ast.Eq: lambda constant, answers: constant in answers,
    ast.In: lambda constant, answers: constant in answers,
    ast.Is: lambda constant, answers: constant in answers,
    ast.NotEq: lambda constant, answers: constant not in answers,
    ast.NotIn: lambda constant, answers: constant not in answers,
    ast.IsNot: lambda constant, answers: constant not in answers,
    ast.Gt: _is_more,
}


def _passed(function: Function, name: str, file: FileInProject, depth: int = _DEEPEST) -> list[object] | None:
    """The constants that all callers pass for a parameter, those left aside that nobody names; None if one is not known."""
    if not depth or len(function.calls) > _MOST_CALLS or not file.sees_all_calls(function):
        return None
    found: list[object] = []
    for site in function.calls:
        value = site.arguments.get(name)
        constants = (
            _constants(value, file, depth)
            if value is not None
            else _left_out(function, name)
            if site.is_whole
            else None
        )
        if constants is None:
            return None
        found += constants
    return found


def _left_out(function: Function, name: str) -> list[object] | None:
    """The default of a parameter that a caller does not name, if it is a constant."""
    found = defaults_of(getattr(function.node, "args", None)).get(name)
    return [found.value] if isinstance(found, ast.Constant) else None


def _constants(value: Value, file: FileInProject, depth: int) -> list[object] | None:
    found: list[object] = []
    waiting, seen = [value], {id(value)}
    while waiting:
        current = waiting.pop()
        op = current.op
        if not _is_stated(current) and op is not None and (op.function == JOIN or "stored" in op.operands):
            several = [each for each in op.operands.values() if id(each) not in seen]
            seen.update(map(id, several))
            waiting += several  # of a name that a loop sets, one may be the name itself
            continue
        constants = _constants_of_one(current, file, depth)
        if constants is None:
            return None
        found += constants
    return found


def _is_stated(value: Value) -> bool:
    return value.constant is not NOTHING and not value.assumed


def _constants_of_one(value: Value, file: FileInProject, depth: int) -> list[object] | None:
    op = value.op
    if _is_stated(value):
        return [value.constant]
    if op is None or op.function != PARAMETER or op.scope is None or op.where in assigned_in(op.scope.node):
        return None
    return [] if file.is_named_by_nobody(op.scope) else _passed(op.scope, op.where, file, depth - 1)
