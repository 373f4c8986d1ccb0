"""One pass over a chunk's `ast`: the words in it, and what becomes another name for what.

Asked of every line of every file that passes the prefilter's test on bytes, so the node types that make up nine tenths of
real code have a function each, and the others are entered field by field. The pass recurses once per nesting level.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nanlint.source.references import CALLED, NO_REFERENCES, SELVES, Rename

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


def collect(node: ast.AST, collector: Collector) -> None:
    """Note what is in `node`; the name of a function belongs to the chunk around it."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        _enter_parts(collector, node)
    else:
        _enter(collector, node)


class Collector:
    """Where words go: the sets of one chunk, as bound methods. `function` is what the chunk is called."""

    __slots__ = ("function", "note_import", "rename", "word")

    def __init__(self, contents: Contents, function: str, note_import: Callable[[Import], None]) -> None:
        self.function = function
        self.word = contents.words.add
        self.rename = contents.renames.append
        self.note_import = note_import


def _enter(to: Collector, node: ast.AST) -> None:
    kind = node.__class__
    if kind is ast.Name:
        to.word(node.id)  # type: ignore[attr-defined] # mypy does not narrow by __class__, and isinstance costs twice as much
    elif kind is not ast.Constant:
        _ENTER.get(kind, _enter_fields)(to, node)


def _enter_fields(to: Collector, node: ast.AST) -> None:
    """Enter every node that a field of `node` holds."""
    for name in node._fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            for child in value:
                if isinstance(child, ast.AST):
                    _enter(to, child)
        elif isinstance(value, ast.AST):
            _enter(to, value)


def _enter_attribute(to: Collector, node: ast.Attribute) -> None:
    to.word(node.attr)
    value = node.value
    if value.__class__ is ast.Name:
        to.word(value.id)
    else:
        _enter(to, value)


def _enter_call(to: Collector, node: ast.Call) -> None:
    function = node.func
    if function.__class__ is ast.Attribute:
        _enter_attribute(to, function)
    else:
        _enter_function_called(to, function)
    for argument in node.args:
        if argument.__class__ is ast.Name:
            to.word(argument.id)
        else:
            _enter(to, argument)
    for keyword in node.keywords:
        _enter_keyword(to, keyword)


def _enter_function_called(to: Collector, node: ast.AST) -> None:
    _enter(to, node)
    if isinstance(node, ast.Name) and node.id in SELVES:
        for method in CALLED:
            to.word(method)


def _enter_keyword(to: Collector, node: ast.keyword) -> None:
    if node.arg is not None:
        to.word(node.arg)
    _enter(to, node.value)


def _enter_subscript(to: Collector, node: ast.Subscript) -> None:
    _enter(to, node.value)
    # What a mask is written into by; a number or a text is none.
    if node.ctx.__class__ is ast.Store and node.slice.__class__ is not ast.Constant:
        to.word(SET_BY_INDEX)
    _enter(to, node.slice)


def _enter_binary(to: Collector, node: ast.BinOp) -> None:
    to.word(OPERATOR_WORDS[node.op.__class__])
    _enter(to, node.left)
    _enter(to, node.right)


def _enter_unary(to: Collector, node: ast.UnaryOp) -> None:
    _enter_operator(to, node.op)
    _enter(to, node.operand)


def _enter_comparison(to: Collector, node: ast.Compare) -> None:
    for operator in node.ops:
        _enter_operator(to, operator)
    _enter(to, node.left)
    for side in node.comparators:
        _enter(to, side)


def _enter_operator(to: Collector, operator: ast.AST) -> None:
    if operator.__class__ in OPERATOR_WORDS:
        to.word(OPERATOR_WORDS[operator.__class__])


def _enter_if(to: Collector, node: ast.If) -> None:
    """An `elif` is an `if` in the `else` of another; a thousand of them are no reason to recurse."""
    while True:
        _enter(to, node.test)
        for statement in node.body:
            _enter(to, statement)
        if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
            break
        node = node.orelse[0]
    for statement in node.orelse:
        _enter(to, statement)


def _enter_assignment(to: Collector, node: ast.Assign) -> None:
    if node.value.__class__ not in NO_REFERENCES:
        to.rename((node.targets, node.value))
    for target in node.targets:
        if target.__class__ is ast.Name:
            to.word(target.id)
        else:
            _enter(to, target)
    _enter(to, node.value)


def _enter_other_assignment(to: Collector, node: ast.AnnAssign | ast.NamedExpr) -> None:
    if node.value is not None:
        to.rename(((node.target,), node.value))
    _enter_fields(to, node)


def _enter_augmented(to: Collector, node: ast.AugAssign) -> None:
    operator = OPERATOR_WORDS[node.op.__class__]
    to.word(operator)
    to.word(f"{operator}=")
    _enter(to, node.target)
    _enter(to, node.value)


def _enter_return(to: Collector, node: ast.Return) -> None:
    if node.value is not None:
        if node.value.__class__ not in NO_REFERENCES:
            to.rename((to.function, node.value))
        _enter(to, node.value)


def _enter_function(to: Collector, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """A function inside the chunk."""
    outer, to.function = to.function, node.name
    _enter_parts(to, node)
    to.function = outer


def _enter_parts(to: Collector, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    for decorator in node.decorator_list:
        _enter(to, decorator)
    _enter_arguments(to, node.args)
    if node.returns is not None:
        _enter(to, node.returns)
    for statement in node.body:
        _enter(to, statement)
    for parameter in getattr(node, "type_params", ()):  # since Python 3.12
        _enter(to, parameter)


def _enter_arguments(to: Collector, node: ast.arguments) -> None:
    for parameter in (*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg):
        if parameter is not None and parameter.annotation is not None:
            _enter(to, parameter.annotation)
    for default in (*node.defaults, *node.kw_defaults):
        if default is not None:
            _enter(to, default)


def _enter_slice(to: Collector, node: ast.Slice) -> None:
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            _enter(to, part)


def _enter_starred(to: Collector, node: ast.Starred) -> None:
    _enter(to, node.value)


def _enter_text(to: Collector, node: ast.JoinedStr) -> None:
    """Of a formatted text, the values."""
    for part in node.values:
        if part.__class__ is not ast.Constant:
            _enter(to, part)


def _enter_tuple(to: Collector, node: ast.Tuple | ast.List) -> None:
    for element in node.elts:
        _enter(to, element)


def _enter_import(to: Collector, node: Import) -> None:
    to.note_import(node)


_ENTER: dict[type[ast.AST], Callable[[Collector, Any], None]] = {
    ast.AnnAssign: _enter_other_assignment,
    ast.Assign: _enter_assignment,
    ast.AsyncFunctionDef: _enter_function,
    ast.Attribute: _enter_attribute,
    ast.AugAssign: _enter_augmented,
    ast.BinOp: _enter_binary,
    ast.Call: _enter_call,
    ast.Compare: _enter_comparison,
    ast.FunctionDef: _enter_function,
    ast.If: _enter_if,
    ast.Import: _enter_import,
    ast.ImportFrom: _enter_import,
    ast.List: _enter_tuple,
    ast.NamedExpr: _enter_other_assignment,
    ast.Return: _enter_return,
    ast.JoinedStr: _enter_text,
    ast.Slice: _enter_slice,
    ast.Starred: _enter_starred,
    ast.Subscript: _enter_subscript,
    ast.Tuple: _enter_tuple,
    ast.UnaryOp: _enter_unary,
    ast.arguments: _enter_arguments,
    ast.keyword: _enter_keyword,
}
