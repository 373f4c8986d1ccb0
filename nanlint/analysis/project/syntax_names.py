"""Names in the syntax tree: dotted names, what an import binds, what statements assign."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from nanlint.source.syntax.below import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MIRRORED: Mapping[type[ast.AST], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq,
}  # fmt: skip
"""How `a < b` is written with its sides exchanged."""


def dotted(node: ast.AST) -> str:
    """`a.b.c` of an expression that is just that; empty for any other."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def bindings(statement: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """Each name that the statement binds, with the full name of what it then stands for."""
    if isinstance(statement, ast.Import):
        return {
            alias.asname or alias.name.partition(".")[0]: alias.name if alias.asname else alias.name.partition(".")[0]
            for alias in statement.names
        }
    origin = "." * statement.level + (statement.module or "")
    origin += "" if origin.endswith(".") else "."
    return {alias.asname or alias.name: origin + alias.name for alias in statement.names if alias.name != "*"}


def last_word(node: ast.expr) -> str:
    """`no_grad` of `@torch.no_grad()`."""
    function = node.func if isinstance(node, ast.Call) else node
    return str(getattr(function, "attr", "") or getattr(function, "id", ""))


@lru_cache(maxsize=64)
def names_below(tree: ast.AST) -> frozenset[str]:
    """Every name, attribute and import in a piece of code."""
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found.update(node.name.split("."))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
    return frozenset(found)


def inner_statements(statement: ast.stmt) -> list[ast.stmt]:
    """The statements in the blocks of a statement, those of functions and classes left out."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return []
    found: list[ast.stmt] = []
    for field in ("body", "orelse", "finalbody"):
        found += getattr(statement, field, ())
    for block in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        found += block.body
    return found


def _targets(statement: ast.stmt) -> Iterator[ast.expr]:
    """What a statement assigns, tuples taken apart."""
    waiting: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        waiting = list(statement.targets)
    elif isinstance(statement, ast.AugAssign | ast.AnnAssign | ast.For | ast.AsyncFor):
        waiting = [statement.target]
    elif isinstance(statement, ast.With | ast.AsyncWith):
        waiting = [item.optional_vars for item in statement.items if item.optional_vars is not None]
    while waiting:
        target = waiting.pop()
        if isinstance(target, ast.Tuple | ast.List):
            waiting += target.elts
        else:
            yield target.value if isinstance(target, ast.Starred) else target


def names_assigned(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement itself assigns."""
    return (target.id for target in _targets(statement) if isinstance(target, ast.Name))


def attributes_stored(body: list[ast.stmt], first: str) -> Iterator[str]:
    """The attributes of its object that a method assigns or changes in place."""
    waiting = list(body)
    while waiting:
        statement = waiting.pop()
        targets = list(_targets(statement))
        if (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and isinstance(statement.value.func, ast.Attribute)
        ):
            changed = statement.value.func
            targets += [changed.value] if changed.attr.endswith("_") else []
        for target in targets:
            inner = target
            while isinstance(inner, ast.Subscript) or (
                isinstance(inner, ast.Attribute) and not isinstance(inner.value, ast.Name)
            ):
                inner = inner.value
            if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == first:
                yield inner.attr
        waiting += inner_statements(statement)


def defaults_of(args: ast.arguments | None) -> dict[str, ast.expr]:
    """The parameters of a function that have defaults, with those."""
    if args is None:
        return {}
    positional = zip(reversed([*args.posonlyargs, *args.args]), reversed(args.defaults), strict=False)
    pairs = (*positional, *zip(args.kwonlyargs, args.kw_defaults, strict=True))
    return {each.arg: default for each, default in pairs if default is not None}


def written_argument(node: ast.AST | None, name: str) -> ast.AST | None:
    """Where an argument of a call is written, by its name or its place."""
    if not isinstance(node, ast.Call):
        return None
    named = next((each.value for each in node.keywords if each.arg == name), None)
    return named or (node.args[int(name)] if name.isdigit() and int(name) < len(node.args) else None)
