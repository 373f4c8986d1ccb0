"""From a finding to what must be run: the file, how it is imported, and the function around the flagged statement.

Reads the file with `ast` only; what the names stand for at run time, the worker finds out.
"""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import Finding

Json = dict[str, Any]
_Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
PROJECT_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")


@dataclass(frozen=True, slots=True)
class Target:
    """The flagged statement and the definitions around it, outermost first."""

    path: str
    root: str
    """The folder from which `module` can be imported."""
    module: str
    project: str
    """The folder of the whole repository, where hooks and examples are looked for."""
    owners: tuple[tuple[str, str], ...]
    """Pairs of "class" or "def" and a name."""
    first: int
    last: int
    also: tuple[tuple[int, int], ...] = ()
    """Lines of the statements that use the object which the flagged statement makes."""
    documented: str = ""
    """The docstrings of the definitions around the statement."""

    @property
    def name(self) -> str:
        """`pkg.mod:Class.forward`, as the user writes it in settings."""
        return f"{self.module}:{'.'.join(name for _, name in self.owners) or '<module>'}"

    def to_json(self) -> Json:
        """What the worker is told."""
        return {
            "path": self.path,
            "root": self.root,
            "module": self.module,
            "project": self.project,
            "owners": [list(owner) for owner in self.owners],
            "first": self.first,
            "last": self.last,
            "also": [list(stretch) for stretch in self.also],
        }


def target_of(finding: Finding, text: str, path: str) -> Target:
    """The target of a finding in `text`; raises SyntaxError if that is no Python."""
    tree = ast.parse(text)
    owners, statement = _around(tree, finding.span.line)
    first, last = lines_of(statement) if statement is not None else (finding.span.line, finding.span.end_line)
    root, module = import_place(path)
    also = tuple(_uses_of_made(tree, statement)) if statement is not None else ()
    entered = tuple(_entered(tree, owners))
    documented = "\n\n".join(_docstrings(tree, finding.span.line))
    return Target(path, root, module, project_of(path), entered, first, last, also, documented)


def _docstrings(tree: ast.Module, line: int) -> Iterator[str]:
    """What the definitions around a line say of themselves."""
    for node in ast.walk(tree):
        if isinstance(node, _Definition) and node.lineno <= line <= (node.end_lineno or node.lineno):
            yield ast.get_docstring(node) or ""


def _entered(tree: ast.Module, owners: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The owners with `forward` for `__init__`: what a constructor prepares, the forward runs."""
    if len(owners) == 2 and owners[0][0] == "class" and owners[1] == ("def", "__init__"):
        owner = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == owners[0][1])
        if any(isinstance(child, ast.FunctionDef) and child.name == "forward" for child in owner.body):
            return [owners[0], ("def", "forward")]
    return owners


def _uses_of_made(tree: ast.Module, statement: ast.stmt) -> Iterator[tuple[int, int]]:
    """The statements that use what `name = Class(...)` or `self.name = Class(...)` made."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return
    made, target = ast.unparse(statement.value.func).rpartition(".")[2], ast.unparse(statement.targets[0])
    if not made[:1].isupper():
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node is not statement and not isinstance(node, _Definition):
            first, last = lines_of(node)
            inner = (part for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute)))
            if any(ast.unparse(part) == target and isinstance(part.ctx, ast.Load) for part in inner):
                yield first, last


def _around(tree: ast.Module, line: int) -> tuple[list[tuple[str, str]], ast.stmt | None]:
    """The definitions around a line, outermost first, and the innermost statement there."""
    owners: list[tuple[str, str]] = []
    statement: ast.stmt | None = None
    body: list[ast.stmt] = tree.body
    while True:
        found = next(
            (child for child in body if _first_line(child) <= line <= (child.end_lineno or child.lineno)), None
        )
        if found is None:
            return owners, statement
        statement = found
        if isinstance(found, _Definition) and line >= found.lineno:
            owners.append(("class" if isinstance(found, ast.ClassDef) else "def", found.name))
        body = [child for child in _blocks(found) if isinstance(child, ast.stmt)]


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(int(decorator.lineno) for decorator in decorators)])


def _blocks(node: ast.stmt) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.ExceptHandler, ast.match_case)):
            yield from child.body
        else:
            yield child


def lines_of(statement: ast.stmt) -> tuple[int, int]:
    """The lines of a statement; of a compound one, those of its head."""
    body = getattr(statement, "body", None)
    end = statement.end_lineno or statement.lineno
    if isinstance(body, list) and body:
        return statement.lineno, max(statement.lineno, body[0].lineno - 1)
    return statement.lineno, end


def import_place(path: str) -> tuple[str, str]:
    """The folder to import from and the dotted name of the file there."""
    folder, file = os.path.split(os.path.abspath(path))  # noqa: PTH100 - strings travel to the worker
    stem = file.rpartition(".")[0]
    parts = [] if stem == "__init__" else [stem]
    while os.path.isfile(os.path.join(folder, "__init__.py")):  # noqa: PTH113, PTH118 - same
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    return folder, ".".join(parts) or stem


def project_of(path: str) -> str:
    """The nearest folder above with a mark of a project; the file's own folder if there is none."""
    start = folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120 - same
    while folder != os.path.dirname(folder):  # noqa: PTH120 - same
        if any(os.path.exists(os.path.join(folder, mark)) for mark in PROJECT_MARKS):  # noqa: PTH110, PTH118 - same
            return folder
        folder = os.path.dirname(folder)  # noqa: PTH120 - same
    return start
