"""How a function can spell what its file imports."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from nanlint.source.syntax.below import walk

if TYPE_CHECKING:
    from nanlint.analysis.project.index import Function


def spelled_name(full: str, function: Function) -> str | None:
    """How code in a function can spell a full name: `F.log_softmax` after `import torch.nn.functional as F`; None if it can't."""
    for local, meant in function.module.imports.items():
        if meant == full and local not in _bound_in(function.node):
            return local
    parent, _, last = full.rpartition(".")
    spelled = spelled_name(parent, function) if parent else None
    return f"{spelled}.{last}" if spelled else None


@lru_cache(maxsize=16)
def _bound_in(function: ast.AST) -> set[str]:
    """Names that a function binds itself: an import of the file is hidden by them."""
    names = {node.id for node in walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return (
        names | {node.arg for node in walk(function) if isinstance(node, ast.arg)}
        if not isinstance(function, ast.Module)
        else set()
    )
