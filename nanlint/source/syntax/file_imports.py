"""What a file imports when it runs, and where one more import belongs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.source.syntax.below import walk

if TYPE_CHECKING:
    from collections.abc import Iterable

TORCH = "torch"


def global_imports(body: Iterable[ast.stmt]) -> dict[str, str]:
    """Local name -> full name of what the module itself imports when it runs: not in functions, not for types only."""
    found: dict[str, str] = {}
    for statement in body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                root = alias.name.partition(".")[0]
                found[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            found.update({alias.asname or alias.name: f"{statement.module}.{alias.name}" for alias in statement.names})
        elif isinstance(statement, ast.Try):
            # What a handler imports instead is the same thing under the same name.
            found = {**global_imports(statement.orelse), **found, **global_imports(statement.body)}
        elif isinstance(statement, ast.If) and "TYPE_CHECKING" not in ast.unparse(statement.test):
            found.update(global_imports(statement.body))
    return found


def line_for_import(body: Iterable[ast.stmt]) -> int:
    """The line where one more import belongs: behind those that the module begins with; 0 if there are none."""
    last = 0
    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            last = statement.end_lineno or statement.lineno
        elif last:
            break
    return last + 1 if last else 0


def line_for_torch(tree: ast.Module) -> int:
    """Where `import torch` can stand in a file that uses parts of torch and has that name free; 0 for nowhere."""
    imported = global_imports(tree.body)
    if TORCH in imported or not any(full.startswith("torch.") for full in imported.values()):
        return 0
    is_taken = any(
        (isinstance(node, ast.Name) and node.id == TORCH and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.arg) and node.arg == TORCH)
        or (
            getattr(node, "name", "") == TORCH
            and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        )
        for node in walk(tree)
    )
    return line_for_import(tree.body) if not is_taken else 0
