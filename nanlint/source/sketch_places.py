"""Which node of `ast` a node of a sketch was made of: that one has a place in the file, and libcst need not look for it.

Both trees are gone down side by side. Where the two are not alike, or libcst's node has another place (a tuple begins behind its
bracket), nothing is known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import libcst as cst

from nanlint.source.walk import ids_around

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    _Pairs = Iterator[tuple[Any, Any]]

_ALIKE = frozenset(
    {
        ast.Attribute, ast.AugAssign, ast.BinOp, ast.Call, ast.Compare, ast.Constant, ast.IfExp, ast.List, ast.Name,
        ast.Subscript, ast.UnaryOp,
    }
)  # fmt: skip
"""The nodes that have the same place in both trees."""


def written_as(
    node: cst.CSTNode, whole: cst.CSTNode, tree: ast.AST, parents: Mapping[cst.CSTNode, cst.CSTNode]
) -> ast.AST | None:
    """What `node`, a part of `whole` that was made of `tree`, was made of."""
    around = ids_around(node, parents)
    ours: Any = whole
    theirs: Any = tree
    while ours is not node:
        below = _BELOW.get(theirs.__class__)
        found = next((pair for pair in below(ours, theirs) if id(pair[0]) in around), None) if below else None
        if found is None:
            return None
        ours, theirs = found
    made: ast.AST = theirs
    return made if type(made) in _ALIKE else None


def _statements(block: Any, body: Sequence[ast.stmt]) -> _Pairs:
    for ours, theirs in zip(block.body.body, body, strict=True):
        yield (ours.body[0] if type(ours) is cst.SimpleStatementLine else ours), theirs


def _branches(ours: Any, theirs: Any) -> _Pairs:
    yield ours.test, theirs.test
    yield from _statements(ours, theirs.body)
    if type(ours.orelse) is cst.If:
        yield ours.orelse, theirs.orelse[0]
    elif ours.orelse is not None:
        yield from _statements(ours.orelse, theirs.orelse)


def _loop(ours: Any, theirs: Any) -> _Pairs:
    yield ours.iter, theirs.iter
    yield from _statements(ours, theirs.body)


def _context(ours: Any, theirs: Any) -> _Pairs:
    for item, written in zip(ours.items, theirs.items, strict=True):
        yield item.item, written.context_expr
    yield from _statements(ours, theirs.body)


def _attempt(ours: Any, theirs: Any) -> _Pairs:
    yield from _statements(ours, theirs.body)
    for handler, written in zip(ours.handlers, theirs.handlers, strict=True):
        yield from _statements(handler, written.body)


def _assigned(ours: Any, theirs: Any) -> _Pairs:
    yield ours.value, theirs.value
    for target, written in zip(ours.targets, theirs.targets, strict=True):
        yield target.target, written


def _call(ours: Any, theirs: Any) -> _Pairs:
    yield ours.func, theirs.func
    for arg, written in zip(ours.args, (*theirs.args, *theirs.keywords), strict=True):
        yield arg.value, (written.value if isinstance(written, (ast.Starred, ast.keyword)) else written)


def _comparison(ours: Any, theirs: Any) -> _Pairs:
    yield ours.left, theirs.left
    for target, written in zip(ours.comparisons, theirs.comparators, strict=True):
        yield target.comparator, written


def _boolean(ours: Any, theirs: Any) -> _Pairs:
    for written in reversed(theirs.values[1:]):
        yield ours.right, written
        ours = ours.left
    yield ours, theirs.values[0]


def _subscript(ours: Any, theirs: Any) -> _Pairs:
    yield ours.value, theirs.value
    if len(ours.slice) == 1 and type(ours.slice[0].slice) is cst.Index:
        yield ours.slice[0].slice.value, theirs.slice


def _elements(ours: Any, theirs: Any) -> _Pairs:
    for element, written in zip(ours.elements, theirs.elts, strict=True):
        yield element.value, (written.value if isinstance(written, ast.Starred) else written)


def _same(*names: str) -> Callable[[Any, Any], _Pairs]:
    """The parts that are called alike in both trees."""
    return lambda ours, theirs: ((getattr(ours, name), getattr(theirs, name)) for name in names)


_BELOW: Mapping[type[ast.AST], Callable[[Any, Any], _Pairs]] = {
    ast.FunctionDef: lambda ours, theirs: _statements(ours, theirs.body),
    ast.AsyncFunctionDef: lambda ours, theirs: _statements(ours, theirs.body),
    ast.If: _branches,
    ast.While: _branches,
    ast.For: _loop,
    ast.With: _context,
    ast.Try: _attempt,
    ast.Assign: _assigned,
    ast.AnnAssign: _same("value"),
    ast.AugAssign: _same("target", "value"),
    ast.Expr: _same("value"),
    ast.Return: _same("value"),
    ast.Assert: _same("test"),
    ast.Attribute: _same("value"),
    ast.BinOp: _same("left", "right"),
    ast.BoolOp: _boolean,
    ast.Call: _call,
    ast.Compare: _comparison,
    ast.GeneratorExp: _same("elt"),
    ast.IfExp: _same("test", "body", "orelse"),
    ast.List: _elements,
    ast.ListComp: _same("elt"),
    ast.Subscript: _subscript,
    ast.Tuple: _elements,
    ast.UnaryOp: lambda ours, theirs: iter([(ours.expression, theirs.operand)]),
}
