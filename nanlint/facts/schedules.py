"""Settings that are lowered step by step: `self.temperature *= 0.99` in one method, read in another.

Reads the standard library's `ast` of the file's outline, which is there already: no chunk is parsed for it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.source.outline import Chunk

SUBTRACTED, MULTIPLIED = "subtracted", "multiplied"
_FLOORS = frozenset({"max", "maximum", "clamp", "clip", "clamp_", "clamp_min"})
_WAYS: dict[type[ast.AST], str] = {ast.Sub: SUBTRACTED, ast.Mult: MULTIPLIED, ast.Div: MULTIPLIED}


def lowering(name: str, chunks: Iterable[Chunk]) -> str:
    """How `name` (`tau`, `self.tau`) is lowered in one of the chunks without a floor; empty if none does it."""
    found = {way for chunk in chunks for way in _ways(name, chunk)}
    return SUBTRACTED if SUBTRACTED in found else MULTIPLIED if found else ""


def _ways(name: str, chunk: Chunk) -> Iterator[str]:
    if not chunk.mentions((name.rpartition(".")[2],)):
        return
    nodes = list(ast.walk(chunk.node)) if isinstance(chunk.node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    ways = [way for node in nodes if (way := _way(name, node))]
    if ways and not any(_is_floor(name, node) for node in nodes):
        yield from ways


def _way(name: str, node: ast.AST) -> str:
    """`x -= step`, `x = x - step`, `x *= 0.9`, `x = x * 0.9`."""
    if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == name:
        return _WAYS.get(type(node.op), "")
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and ast.unparse(node.targets[0]) == name:
        return _WAYS.get(type(node.value.op), "") if ast.unparse(node.value.left) == name else ""
    return ""


def _is_floor(name: str, node: ast.AST) -> bool:
    """Whether the name is compared with something, or held above something."""
    if isinstance(node, ast.Compare):
        return any(ast.unparse(side) == name for side in (node.left, *node.comparators))
    word = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
    return word in _FLOORS and isinstance(node, ast.Call) and name in ast.unparse(node)
