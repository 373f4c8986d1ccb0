"""What a checkpoint is called and what is in it, as far as the function that writes it says."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.project.syntax_names import dotted
from nanlint.analysis.training_loop.runs.roles import role_of
from nanlint.source.syntax.below import given_to, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.training_loop.code import Code
    from nanlint.analysis.training_loop.events import Event

# How many names a path is followed through.
_NAMES = 3


def file_of(save: Event) -> str:
    """What the file of a save is called, seen through names; "" for what comes from elsewhere."""
    node = save.argument("f")
    return spelled_out(node, save.code) if node is not None else ""


def saved_models(save: Event) -> list[str]:
    """The models whose states are written out in what is saved: `model` of `{"model": model.state_dict(), "epoch": 3}`."""
    found: list[str] = []
    saved = save.argument("obj")
    for inner in walk(saved) if saved is not None else ():
        function = inner.func if isinstance(inner, ast.Call) and not inner.args and not inner.keywords else None
        if not isinstance(function, ast.Attribute) or function.attr != "state_dict":
            continue
        text = dotted(function.value)
        if text and text not in found and role_of(function.value, save.code) == "other":
            found.append(text)
    return found


def spelled_out(node: ast.AST, code: Code, names: int = _NAMES) -> str:
    """The text of an expression with what its names are assigned in the function; "" if one of them comes from elsewhere."""
    if names == 0:
        return ""
    texts = [code.text_of(node)]
    for name in _plain_names(node):
        assigned = [spelled_out(value, code, names - 1) for value in code.assigned.get(name, ())]
        if not all(assigned) or not assigned:
            return ""
        texts += assigned
    return " ".join([*texts, *_folders(node, code, names)])


def reads_parameter(node: ast.AST, code: Code, names: int = _NAMES) -> bool:
    """Whether an expression is made of a parameter of its function, seen through names."""
    if names == 0 or not isinstance(code.node, ast.FunctionDef):
        return False
    read = {inner.id for inner in walk(node) if isinstance(inner, ast.Name)} - {"self"}
    return not read.isdisjoint(code.function.names()) or any(
        reads_parameter(value, code, names - 1) for name in read for value in code.assigned.get(name, ())
    )


def _folders(node: ast.AST, code: Code, names: int) -> Iterator[str]:
    """The folder of a path that is joined may come from elsewhere; what is written of it here is told."""
    if not isinstance(node, ast.Call) or not dotted(node.func).endswith(".join"):
        return
    for arg in node.args[:-1]:
        for value in code.assigned.get(arg.id, ()) if isinstance(arg, ast.Name) else ():
            yield spelled_out(value, code, names - 1) or code.text_of(value)


def _plain_names(node: ast.AST) -> Iterator[str]:
    """The names that an expression reads by themselves, not as the owner of an attribute or a method.

    Of a path that is joined, the last part is the file.
    """
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Call):
        given = given_to(node)
        for arg in given[-1:] if dotted(node.func).endswith(".join") else given:
            yield from _plain_names(arg)
    elif isinstance(node, ast.BinOp):
        if not isinstance(node.op, ast.Div):
            yield from _plain_names(node.left)
        yield from _plain_names(node.right)
