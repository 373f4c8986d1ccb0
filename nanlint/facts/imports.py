"""What import statements bind, and which of the bound names code anywhere in the file may use."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.names import dotted_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nanlint.source.outline import Outline


def bindings(node: cst.Import | cst.ImportFrom) -> Iterator[tuple[str, str]]:
    """Each name that the statement binds, with the full name of what it then stands for."""
    if isinstance(node.names, cst.ImportStar):
        return
    origin = ""
    if isinstance(node, cst.ImportFrom):
        origin = "." * len(node.relative) + ((dotted_text(node.module) or "") if node.module is not None else "")
        origin += "" if origin.endswith(".") else "."
    for alias in node.names:
        name = dotted_text(alias.name) or ""
        local = alias.evaluated_alias or name.partition(".")[0]
        # `import a.b` binds a; `import a.b as c` binds a.b.
        yield local, origin + (name if alias.evaluated_alias or origin else local)


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


def line_for_torch(imported: Mapping[str, str], outline: Outline) -> int:
    """Where `import torch` can stand in a file that uses parts of torch and has that name free; 0 for nowhere."""
    is_free = "torch" not in imported and not any(chunk.binds("torch") for chunk in outline.chunks.values())
    has_parts = any(dotted.startswith("torch.") for dotted in imported.values())
    return line_for_import(outline.tree.body) if is_free and has_parts else 0
