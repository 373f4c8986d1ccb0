"""The text of an expression by which it is recognised again: without white space and outer parentheses."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import libcst as cst

from nanlint.facts.names import dotted_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_WRITER = cst.Module([])
_SPACE = re.compile(r"\s+")
# Among hundreds of divisions of one function each is compared with all others.
_REMEMBERED = 4096


@lru_cache(_REMEMBERED)
def text_of(node: cst.BaseExpression) -> str:
    """The text of an expression by which it is recognised again: without white space and outer parentheses."""
    dotted = dotted_text(node)
    return dotted if dotted is not None else _bare(node)


def _bare(node: cst.CSTNode) -> str:
    write = _WRITE.get(type(node))
    if write is not None:
        return write(node)
    text = _SPACE.sub("", _WRITER.code_for_node(node))
    return text[1:-1] if getattr(node, "lpar", ()) else text


def _inner(node: cst.CSTNode) -> str:
    text = _bare(node)
    return f"({text})" if getattr(node, "lpar", ()) else text


def _call(node: cst.Call) -> str:
    return f"{_inner(node.func)}({','.join(map(_argument, node.args))})"


def _argument(arg: cst.Arg) -> str:
    return f"{arg.star}{arg.keyword.value}={_inner(arg.value)}" if arg.keyword else f"{arg.star}{_inner(arg.value)}"


def _subscript(node: cst.Subscript) -> str:
    return f"{_inner(node.value)}[{','.join(_index(element.slice) for element in node.slice)}]"


def _index(part: cst.BaseSlice) -> str:
    if isinstance(part, cst.Index):
        return f"{part.star or ''}{_inner(part.value)}"
    if isinstance(part, cst.Slice) and part.step is None:
        return f"{_inner(part.lower) if part.lower else ''}:{_inner(part.upper) if part.upper else ''}"
    return _SPACE.sub("", _WRITER.code_for_node(part))


def _comparison(node: cst.Comparison) -> str:
    targets = [f"{_operator(target.operator)}{_inner(target.comparator)}" for target in node.comparisons]
    return f"{_inner(node.left)}{''.join(targets)}"


def _operator(node: cst.CSTNode) -> str:
    kind = type(node)
    if kind not in _OPERATORS:
        _OPERATORS[kind] = _SPACE.sub("", _WRITER.code_for_node(node))
    return _OPERATORS[kind]


_OPERATORS: dict[type[cst.CSTNode], str] = {}
_WRITE: Mapping[type[cst.CSTNode], Callable[[Any], str]] = {
    cst.Name: lambda node: node.value,
    cst.Integer: lambda node: node.value,
    cst.Float: lambda node: node.value,
    cst.SimpleString: lambda node: _SPACE.sub("", node.value),
    cst.Ellipsis: lambda _: "...",
    cst.Attribute: lambda node: f"{_inner(node.value)}.{node.attr.value}",
    cst.Call: _call,
    cst.Comparison: _comparison,
    cst.Subscript: _subscript,
    cst.BinaryOperation: lambda node: f"{_inner(node.left)}{_operator(node.operator)}{_inner(node.right)}",
    cst.BooleanOperation: lambda node: f"{_inner(node.left)}{_operator(node.operator)}{_inner(node.right)}",
    cst.UnaryOperation: lambda node: f"{_operator(node.operator)}{_inner(node.expression)}",
}
