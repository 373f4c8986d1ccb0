"""Training loops as people write them: what a batch is taken apart into, and loops that stand in no function."""

from __future__ import annotations

import ast
import builtins
import types
from typing import TYPE_CHECKING, Any

from nanlint.confirm.worker.load import source_text
from nanlint.confirm.worker.slices import compiled, loaded_names, stored_names
from nanlint.confirm.worker.subject import CannotRun, source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Json = dict[str, Any]
TREE = "nanlint_tree"
"""The attribute of a function made here that holds its syntax: it has no lines of its own in a file."""
# What a script has at hand when its loop begins, and what nobody has to stand in for.
_AT_HAND = (int, float, str, bool, type(None), type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)


def loop_at(module: types.ModuleType, target: Json) -> Callable[..., Any]:
    """The outermost loop around the flagged line of a script or notebook, as a function of what it does not define itself."""
    loop = _outermost(ast.parse(source_text(target["path"])).body, target["first"])
    if loop is None:
        raise CannotRun("the flagged line is in no function and in no loop, so there is nothing to drive")
    at_hand = {name for name, value in vars(module).items() if isinstance(value, _AT_HAND)} | set(dir(builtins))
    free = sorted(loaded_names(loop) - stored_names(loop) - at_hand)
    function: Callable[..., Any] = compiled([loop], free, target["path"], module)
    setattr(function, TREE, loop)
    return function


def _outermost(body: Iterable[ast.stmt], line: int) -> ast.stmt | None:
    for statement in body:
        if not statement.lineno <= line <= (statement.end_lineno or statement.lineno):
            continue
        if isinstance(statement, (ast.For, ast.While)):
            return statement
        if isinstance(statement, (ast.If, ast.With, ast.Try)):
            inner = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
            return _outermost(inner, line)
    return None


def parts_of_a_batch(loop: Any, batches: frozenset[str]) -> int:
    """How many things a loop over one of `batches` takes each batch apart into; 1 for a batch as it is."""
    tree = getattr(loop, TREE, None)
    try:
        tree = tree if tree is not None else ast.parse(source_of(loop))
    except SyntaxError:
        return 1
    return max((len(found.elts) for found in _taken_apart(tree, batches)), default=1)


def _taken_apart(tree: ast.AST, batches: frozenset[str]) -> Iterator[ast.Tuple]:
    for loop in ast.walk(tree):
        if not isinstance(loop, ast.For) or not batches & {*loaded_names(loop.iter)}:
            continue
        target = loop.target
        if (
            isinstance(loop.iter, ast.Call)
            and ast.unparse(loop.iter.func) == "enumerate"
            and isinstance(target, ast.Tuple)
        ):
            target = target.elts[-1]
        if isinstance(target, ast.Tuple):
            yield target
        elif isinstance(target, ast.Name):
            yield from _assigned_from(loop, target.id)


def _assigned_from(loop: ast.For, name: str) -> Iterator[ast.Tuple]:
    """`x, y = batch`."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
            yield from (target for target in node.targets if isinstance(target, ast.Tuple))
