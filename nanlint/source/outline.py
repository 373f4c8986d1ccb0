"""What a file holds, read with the standard library's `ast`: its chunks, the words they use, its imports.

A chunk is the unit that libcst gets to see: a top-level function, a method, the statements of a class body, or the
statements of the module itself. The outline is cheap and judges nothing; the gate asks it which chunks hold a rule's
words, facts ask it where a helper or a constant is written. Deep nesting ends in RecursionError here, long before
libcst's native parser would overflow its stack.
"""

from __future__ import annotations

import ast
import gc
from dataclasses import dataclass, field
from functools import partial

from nanlint.source.words import collect

MODULE = "<module>"

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(slots=True)
class Chunk:
    """A stretch of lines that is parsed on its own. `owner` is the class a method belongs to, "" outside classes."""

    name: str
    owner: str
    first_line: int
    last_line: int
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    words: set[str] = field(default_factory=set)
    """Every name, attribute and operator that occurs in it."""
    bound: set[str] = field(default_factory=set)
    """Names that it binds itself (parameters, assignments), which therefore hide imports."""
    stored_attributes: set[str] = field(default_factory=set)
    """Attributes that it assigns (`self.x = ...`)."""
    renames: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    """Name or attribute -> words of the function or class it becomes another name for (`f = torch.log`).

    A function that returns one is in here as `name()`."""
    nodes: list[ast.AST] = field(default_factory=list)
    """Its operations, and whatever hands a value to a name: what slices are made of."""

    @property
    def qualname(self) -> str:
        """`Class.method`, `function` or `<module>`."""
        return f"{self.owner}.{self.name}" if self.owner and self.owner != self.name else self.name


@dataclass(slots=True)
class Outline:
    """One file: its chunks by qualified name, and what its import statements bind."""

    tree: ast.Module
    chunks: dict[str, Chunk] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    """Local name -> dotted name, wherever in the file the import stands; relative ones keep their dots."""
    stars: list[str] = field(default_factory=list)
    """Modules whose names are all imported by `from m import *`."""


def outline(text: str, path: str = "<string>") -> Outline:
    """Read `text`; raises what `compile` raises on code that is no Python (SyntaxError, ValueError, RecursionError)."""
    # A tree of a hundred thousand nodes has no cycle; the collector would go through it again and again while it grows.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _outline_of(ast.parse(text, path), max(1, text.count("\n") + 1))
    finally:
        if collecting:
            gc.enable()


def _outline_of(tree: ast.Module, last_line: int) -> Outline:
    result = Outline(tree)
    module = Chunk(MODULE, "", 1, last_line, tree)
    for statement in tree.body:
        _enter(statement, module, result)
    result.chunks[MODULE] = module
    return result


def _enter(statement: ast.stmt, home: Chunk, result: Outline) -> None:
    """Give a function or class its own chunks, any other statement to `home`."""
    if isinstance(statement, _Function):
        owner = home.qualname if isinstance(home.node, ast.ClassDef) else ""
        _enter_function(statement, owner, result)
        home.bound.add(statement.name)
    elif isinstance(statement, ast.ClassDef):
        _enter_class(statement, home, result)
        home.bound.add(statement.name)
    else:
        collect(statement, home, partial(_note_import, result))


def _enter_function(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str, result: Outline) -> None:
    chunk = Chunk(node.name, owner, first_line(node), node.end_lineno or node.lineno, node)
    collect(node, chunk, partial(_note_import, result))
    # A name defined twice (overloads, property setters, branches) keeps every definition: later ones get a suffix.
    key, count = chunk.qualname, 2
    while key in result.chunks:
        key, count = f"{chunk.qualname}#{count}", count + 1
    result.chunks[key] = chunk


def _enter_class(node: ast.ClassDef, home: Chunk, result: Outline) -> None:
    outer = home.qualname if isinstance(home.node, ast.ClassDef) else ""
    qualname = f"{outer}.{node.name}" if outer else node.name
    result.classes.setdefault(qualname, node)
    body = Chunk(qualname, qualname, first_line(node), node.end_lineno or node.lineno, node)
    for part in (*node.decorator_list, *node.bases, *node.keywords):
        collect(part, body, partial(_note_import, result))
    for statement in node.body:
        _enter(statement, body, result)
    result.chunks.setdefault(qualname, body)


def first_line(node: ast.stmt) -> int:
    """The line on which `node` begins, decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _note_import(result: Outline, node: ast.Import | ast.ImportFrom) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            local = alias.asname or alias.name.partition(".")[0]
            result.imports.setdefault(local, alias.name if alias.asname else local)
        return
    origin = "." * node.level + (node.module or "")
    for alias in node.names:
        if alias.name == "*":
            result.stars.append(origin)
            continue
        separator = "" if origin.endswith(".") else "."
        dotted = f"{origin}{separator}{alias.name}"
        local = alias.asname or alias.name
        # `try: from torch.amp import autocast / except: from apex import ...`: torch's meaning wins over the fallback.
        if local not in result.imports or dotted.startswith("torch."):
            result.imports[local] = dotted
