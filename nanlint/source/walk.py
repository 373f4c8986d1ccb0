"""A walk over libcst nodes that never enters whitespace, punctuation or comments.

libcst's own visitors touch every whitespace node and cost fifty times as much. The fields worth entering are read
once per node type from libcst's own definitions.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SKIPPED_FIELDS = frozenset(
    {
        "lpar", "rpar", "lbracket", "rbracket", "lbrace", "rbrace", "comma", "semicolon", "colon", "equal", "dot",
        "leading_lines", "lines_after_decorators", "header", "footer", "body_header", "trailing_whitespace",
        "first_colon", "second_colon", "asynchronous", "star", "first_line",
    }
)  # fmt: skip

_PLAIN = frozenset({str, bool})
"""The types of fields that hold no node."""

_fields_by_type: dict[type[cst.CSTNode], tuple[str, ...]] = {}


def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    names = tuple(
        entry.name
        for entry in dataclasses.fields(kind)
        if "whitespace" not in entry.name and entry.name not in _SKIPPED_FIELDS and entry.type not in _PLAIN
    )
    _fields_by_type[kind] = names
    return names


def node_children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes directly below `node`, whitespace and punctuation left out."""
    kind = type(node)
    below: list[cst.CSTNode] = []
    for name in _fields_by_type[kind] if kind in _fields_by_type else _fields(kind):
        value = getattr(node, name)
        if value is None:
            continue
        if value.__class__ is tuple or value.__class__ is list:
            below += value
        elif _is_node(value.__class__):
            below.append(value)
    return below


@cache
def _is_node(kind: type) -> bool:
    # libcst's classes are abstract ones, of which isinstance asks far more.
    return issubclass(kind, cst.CSTNode)


@cache
def is_expression(kind: type[cst.CSTNode]) -> bool:
    """Whether nodes of this type are expressions."""
    return issubclass(kind, cst.BaseExpression)


@cache
def is_statement(kind: type[cst.CSTNode]) -> bool:
    """Whether nodes of this type are statements: lines of their own, or compound ones."""
    return issubclass(kind, cst.BaseStatement)


def walk(root: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """`root` and every node below it, each before what is below it."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        below = node_children(node)
        if below:
            below.reverse()
            stack += below


def ids_around(node: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode]) -> set[int]:
    """The ids of `node` and of every node above it: hashing takes longer, and a block may be of thousands of statements."""
    found: set[int] = set()
    above: cst.CSTNode | None = node
    while above is not None:
        found.add(id(above))
        above = parents.get(above)
    return found
