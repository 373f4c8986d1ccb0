"""What an expression can be another name for: the functions and classes that it refers to, holds or constructs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nanlint.source.syntax.below import given_to, walk
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence


Rename = tuple["str | Sequence[ast.AST]", ast.expr]
"""The targets of an assignment, or the name of a function that returns something, and what it is."""

SELVES = word_set("self cls")
CALLED = word_set("forward __call__")
"""The methods that calling an object calls."""

NO_REFERENCES = frozenset({ast.BinOp, ast.Compare, ast.Constant, ast.JoinedStr, ast.UnaryOp})
"""Expressions that are no function or class, and hold none."""


def renamed(targets: str | Sequence[ast.AST]) -> Iterator[str]:
    """The names of an assignment's targets, attributes by their last word; `f()` for what the function f returns."""
    if isinstance(targets, str):
        yield f"{targets}()"
        return
    for target in targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            yield from renamed(target.elts)
        elif isinstance(target, (ast.Starred, ast.Subscript)):
            yield from renamed((target.value,))
        elif isinstance(target, (ast.Name, ast.Attribute)):
            yield last_word(target)


def references(value: ast.expr) -> Collection[str]:
    """The last words of the functions and classes that `value` can be, hold or construct; `f()` for what f returns."""
    # Nine of ten are one of these.
    kind = value.__class__
    if kind is ast.Name:
        return (value.id,)  # type: ignore[attr-defined] # mypy does not narrow by __class__
    if kind is ast.Attribute:
        return (value.attr,)  # type: ignore[attr-defined]
    if kind is ast.Call:
        word = last_word(value.func)  # type: ignore[attr-defined]
        if not _is_class(word):
            return (f"{word}()",)
    found: set[str] = set()
    _refer(value, found.add)
    return found


def _refer(value: ast.expr, note: Callable[[str], None]) -> None:
    if isinstance(value, ast.Name):
        note(value.id)
    elif isinstance(value, ast.Attribute):
        note(value.attr)
    elif isinstance(value, ast.Call):
        _refer_to_result(value, note)
    elif isinstance(value, ast.Lambda):
        for child in walk(value.body):
            note(last_word(child))
    elif value.__class__ in _HOLDERS:
        for part in _HOLDERS[value.__class__](value):
            _refer(part, note)


def _refer_to_result(call: ast.Call, note: Callable[[str], None]) -> None:
    word = last_word(call.func)
    if word in _DATA:
        return
    # `Normalize(c)` may be a function, too, whatever its name looks like.
    note(f"{word}()")
    if not _is_class(word):
        return
    note(word)
    for argument in given_to(call):
        _refer(argument, note)


def _is_class(word: str) -> bool:
    """Classes are capitalised; so are the containers (Sequential, ModuleList) whose arguments are looked into."""
    return word[:1].isupper() or word == "partial"


def last_word(node: ast.AST) -> str:
    """`log` of `torch.log` and of `log`; "" of what has no name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


# What is made of these is never called.
_DATA = word_set("Parameter UninitializedParameter Buffer Tensor FloatTensor LongTensor BoolTensor")

# What an expression chooses among, or holds.
_HOLDERS: dict[type[ast.expr], Callable[[Any], Iterable[ast.expr]]] = {
    ast.Await: lambda node: (node.value,),
    ast.BoolOp: lambda node: node.values,
    ast.Dict: lambda node: node.values,
    ast.DictComp: lambda node: (node.value,),
    ast.GeneratorExp: lambda node: (node.elt,),
    ast.IfExp: lambda node: (node.body, node.orelse),
    ast.List: lambda node: node.elts,
    ast.ListComp: lambda node: (node.elt,),
    ast.NamedExpr: lambda node: (node.value,),
    ast.Set: lambda node: node.elts,
    ast.Starred: lambda node: (node.value,),
    ast.Subscript: lambda node: (node.value,),
    ast.Tuple: lambda node: node.elts,
}
