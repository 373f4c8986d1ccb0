"""What a constructor sets, read off without interpreting it: enough to know that an attribute tells nothing.

Most attributes of a model are copied from a config (`self.size = config.size`). Nobody knows their values, and to find
that out, most constructors would have to be parsed and interpreted.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.source.below import all_below

if TYPE_CHECKING:
    from collections.abc import Collection

    from nanlint.source.outline import Chunk


def copied_attributes(constructor: Chunk, own_classes: Collection[str]) -> frozenset[str]:
    """The attributes that are set to something of a parameter (`config.size`) and to nothing else.

    A parameter whose class is of this file may be known, so it is not meant.
    """
    if not isinstance(constructor.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return frozenset()
    given = _unknown_parameters(constructor.node.args, own_classes) - _assigned(constructor)
    copied: set[str] = set()
    others: set[str] = set()
    for target, value in _settings(constructor):
        is_copied = isinstance(value, ast.Attribute) and _root(value) in given
        (copied if is_copied else others).add(target)
    return frozenset(copied - others)


def _unknown_parameters(arguments: ast.arguments, own_classes: Collection[str]) -> set[str]:
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs][1:]
    return {parameter.arg for parameter in parameters if not _names(parameter.annotation) & {*own_classes}}


def _names(annotation: ast.expr | None) -> set[str]:
    if annotation is None:
        return set()
    # A text is an annotation, too.
    texts = (node.value for node in ast.walk(annotation) if isinstance(node, ast.Constant))
    words = {
        word for text in texts if isinstance(text, str) for word in text.replace("[", " ").replace("]", " ").split()
    }
    return words | {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}


def _assigned(constructor: Chunk) -> set[str]:
    """Names that the constructor gives another value."""
    targets: list[ast.AST | None] = []
    for node in constructor.contents.nodes:
        targets += getattr(node, "targets", ())
        targets += (getattr(node, "target", None), getattr(node, "optional_vars", None))
    inner = (node for target in targets if target is not None for node in all_below(target))
    return {node.id for node in inner if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}


def _settings(constructor: Chunk) -> list[tuple[str, ast.expr | None]]:
    """Every attribute that an assignment names, with its value; None where that is a part of something."""
    found: list[tuple[str, ast.expr | None]] = []
    for node in constructor.contents.nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                value = node.value if isinstance(target, ast.Attribute) else None
                found += [(inner.attr, value) for inner in all_below(target) if isinstance(inner, ast.Attribute)]
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and isinstance(node.target, ast.Attribute):
            found.append((node.target.attr, node.value if isinstance(node, ast.AnnAssign) else None))
    return found


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
