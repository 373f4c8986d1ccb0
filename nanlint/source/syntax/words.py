"""One pass over a chunk's `ast`: the words in it, and what becomes another name for what.

Asked of every line of every file that passes the prefilter's test on bytes: names and numbers, half of all nodes, are dealt with
at once, and a node of another kind has a function if it says something by itself.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nanlint.source.syntax.below import nodes_below
from nanlint.source.syntax.references import CALLED, NO_REFERENCES, SELVES, Rename

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATOR_WORDS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.UAdd: "+",
    ast.USub: "-",
    ast.Invert: "~",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
"""Each operator that the op table knows, by its node type; `not`, `in` and `is` are no operations on tensors."""

SET_BY_INDEX = "[]="
"""The word for `x[index] = value`, which may write into what a mask selects."""

Import = ast.Import | ast.ImportFrom


class Contents:
    """What a chunk holds."""

    __slots__ = ("renames", "words")

    def __init__(self) -> None:
        self.words: set[str] = set()
        """Every name, attribute and operator that occurs in it."""
        self.renames: list[Rename] = []
        """What may become another name for a function or class (`f = torch.log`), with what it then is."""


class Collector:
    """Where words go: the sets of one chunk, as bound methods. `function` is what the chunk is called."""

    __slots__ = ("contents", "function", "note_import", "rename", "word")

    def __init__(self, contents: Contents, function: str, note_import: Callable[[Import], None]) -> None:
        self.contents = contents
        self.function = function
        self.word = contents.words.add
        self.rename = contents.renames.append
        self.note_import = note_import


def collect(root: ast.AST, to: Collector) -> None:
    """Note what is in `root`; the name of a function belongs to the chunk around it."""
    waiting, word = [root], to.word
    while waiting:
        node = waiting.pop()
        kind = node.__class__
        if kind is ast.Name:
            word(node.id)  # type: ignore[attr-defined] # mypy does not narrow by __class__, and isinstance costs twice as much
        elif kind in _FUNCTIONS and node is not root:
            collect(node, Collector(to.contents, node.name, to.note_import))  # type: ignore[attr-defined]
        elif kind is not ast.Constant:
            if kind in _NOTED:
                _NOTED[kind](to, node)
            waiting += reversed(nodes_below(node))


def _attribute(to: Collector, node: ast.Attribute) -> None:
    to.word(node.attr)


def _call(to: Collector, node: ast.Call) -> None:
    if isinstance(node.func, ast.Name) and node.func.id in SELVES:
        to.contents.words.update(CALLED)


def _keyword(to: Collector, node: ast.keyword) -> None:
    if node.arg is not None:
        to.word(node.arg)


def _subscript(to: Collector, node: ast.Subscript) -> None:
    # What a mask is written into by; a number or a text is none.
    if isinstance(node.ctx, ast.Store) and not isinstance(node.slice, ast.Constant):
        to.word(SET_BY_INDEX)


def _operator(to: Collector, node: ast.BinOp | ast.UnaryOp | ast.Compare) -> None:
    for operator in node.ops if isinstance(node, ast.Compare) else (node.op,):
        if operator.__class__ in OPERATOR_WORDS:
            to.word(OPERATOR_WORDS[operator.__class__])


def _augmented(to: Collector, node: ast.AugAssign) -> None:
    operator = OPERATOR_WORDS[node.op.__class__]
    to.contents.words.update((operator, f"{operator}="))


def _assignment(to: Collector, node: ast.Assign) -> None:
    if node.value.__class__ not in NO_REFERENCES:
        to.rename((node.targets, node.value))


def _other_assignment(to: Collector, node: ast.AnnAssign | ast.NamedExpr) -> None:
    if node.value is not None:
        to.rename(((node.target,), node.value))


def _return(to: Collector, node: ast.Return) -> None:
    if node.value is not None and node.value.__class__ not in NO_REFERENCES:
        to.rename((to.function, node.value))


def _import(to: Collector, node: Import) -> None:
    to.note_import(node)


_FUNCTIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef})
_NOTED: dict[type[ast.AST], Callable[[Collector, Any], None]] = {
    **dict.fromkeys((ast.AnnAssign, ast.NamedExpr), _other_assignment),
    ast.Assign: _assignment,
    ast.Attribute: _attribute,
    ast.AugAssign: _augmented,
    **dict.fromkeys((ast.BinOp, ast.UnaryOp, ast.Compare), _operator),
    ast.Call: _call,
    **dict.fromkeys((ast.Import, ast.ImportFrom), _import),
    ast.Return: _return,
    ast.Subscript: _subscript,
    ast.keyword: _keyword,
}
