"""One rewriting applied to a program, and which of its lines came from which."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

from tests.spellings.tensors import is_tensor, tensor_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Rewriting(ast.NodeTransformer):
    """Changes spellings inside functions; a subclass says which. `changes` counts them."""

    def __init__(self, draw: Callable[[], float]) -> None:
        self.draw, self.changes = draw, 0
        self.names: frozenset[str] = frozenset()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        outer, self.names = self.names, tensor_names(node)
        node.body = [new for statement in node.body for new in _several(self.visit(statement))]
        self.names = outer
        return node

    def is_tensor(self, node: ast.expr) -> bool:
        return is_tensor(node, self.names)

    def changed(self, node: ast.AST, new: ast.AST) -> ast.AST:
        """`new` in the place of `node`."""
        self.changes += 1
        return ast.copy_location(new, node)


def _several(node: ast.AST | list[ast.stmt] | None) -> list[ast.stmt]:
    return node if isinstance(node, list) else [node] if isinstance(node, ast.stmt) else []


def torch_call(
    name: str, *args: ast.expr, keywords: list[ast.keyword] | None = None, module: str = "torch"
) -> ast.Call:
    """`torch.name(args, keywords)`."""
    function = ast.parse(f"{module}.{name}", mode="eval").body
    return ast.Call(func=function, args=list(args), keywords=keywords or [])


def method_call(value: ast.expr, name: str, *args: ast.expr, keywords: list[ast.keyword] | None = None) -> ast.Call:
    """`value.name(args, keywords)`."""
    return ast.Call(
        func=ast.Attribute(value=value, attr=name, ctx=ast.Load()), args=list(args), keywords=keywords or []
    )


def number(node: ast.expr) -> float | None:
    """The number that is written there."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    return None


class Respelled:
    """The functions of a program that a rewriting changes, with all that they name, as they were and in the new spelling.

    Both are printed from the tree, without comments; a line of either leads to the statement of the original it belongs to.
    """

    def __init__(self, text: str, rewritings: Sequence[Rewriting]) -> None:
        old = ast.parse(text)
        new = copy.deepcopy(old)
        for rewriting in rewritings:
            new = ast.fix_missing_locations(rewriting.visit(new))
        kept = _connected(old, _changed(old, new))
        self.before, self.after = Printed(_reduced(old, kept)), Printed(_reduced(new, kept))


class Printed:
    """A program as it is printed from its tree."""

    def __init__(self, tree: ast.Module) -> None:
        self.text = f"{ast.unparse(tree)}\n"
        self._lines: dict[int, int] = {}
        for old, new in zip(_statements(tree), _statements(ast.parse(self.text)), strict=True):
            for line in range(_first_line(new), (new.end_lineno or new.lineno) + 1):
                self._lines[line] = old.lineno

    def origin(self, line: int) -> int:
        """The line of the statement in the original."""
        return self._lines.get(line, 0)


def _definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    return {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def _changed(old: ast.Module, new: ast.Module) -> set[str]:
    """The functions and classes that are not as they were; all of them if anything else is not."""
    before, after = _definitions(old), _definitions(new)
    rest = [ast.unparse(node) for node in old.body if node not in before.values()]
    if rest != [ast.unparse(node) for node in new.body if node not in after.values()]:
        return set(before)
    return {name for name, node in before.items() if ast.unparse(node) != ast.unparse(after[name])}


def _connected(tree: ast.Module, names: set[str]) -> set[str]:
    """These functions and classes, those that name them and those that they name."""
    uses = {
        name: {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        for name, node in _definitions(tree).items()
    }
    while True:
        more = {name for name, used in uses.items() if used & names}
        more |= {name for name in uses if any(name in uses[user] for user in names if user in uses)}
        if more <= names:
            return names
        names = names | more


def _reduced(tree: ast.Module, kept: set[str]) -> ast.Module:
    left_out = [node for name, node in _definitions(tree).items() if name not in kept]
    return ast.Module([node for node in tree.body if node not in left_out], [])


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return int(min([node.lineno, *(decorator.lineno for decorator in decorators)]))


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Every statement, an outer one before what it holds."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt):
            yield node
        yield from _statements(node)


def rewrites(kind: type[Rewriting], text: str) -> bool:
    """Whether this rewriting has anything to do in a program."""
    rewriting = kind(lambda: 0.0)
    rewriting.visit(ast.parse(text))
    return bool(rewriting.changes)
