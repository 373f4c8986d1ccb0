"""What a file holds, read with the standard library's `ast`: its chunks, the words they use, its imports.

A chunk is a top-level function, a method, the statements of a class body, or the statements of the module itself. The outline is cheap
and judges nothing; the prefilter asks it which chunks hold a rule's words.
"""

from __future__ import annotations

import ast
import gc
import sys
from typing import TYPE_CHECKING

from nanlint.source.syntax.trees import tree_of
from nanlint.source.syntax.words import Collector, Contents, collect

if TYPE_CHECKING:
    from collections.abc import Collection

    Node = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

MODULE = "<module>"

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class Chunk:
    """A stretch of lines, of the module up to the last line, whichever that is.

    `owner` is the class a method belongs to, "" outside classes.
    """

    __slots__ = ("contents", "first_line", "last_line", "name", "node", "owner")

    def __init__(self, node: Node, name: str, owner: str, last_line: int) -> None:
        self.name = name
        self.owner = owner
        self.first_line = first_line(node) if isinstance(node, ast.stmt) else 1
        self.last_line = last_line
        self.node = node
        self.contents = Contents()

    @property
    def qualname(self) -> str:
        """`Class.method`, `function` or `<module>`."""
        return f"{self.owner}.{self.name}" if self.owner and self.owner != self.name else self.name

    @property
    def words(self) -> set[str]:
        """Every name, attribute and operator that occurs in it."""
        return self.contents.words

    def mentions(self, words: Collection[str]) -> bool:
        """Whether one of `words` occurs in it."""
        return not self.words.isdisjoint(words)


class Outline:
    """One file: its chunks by qualified name, and what its import statements bind."""

    __slots__ = ("chunks", "classes", "imports", "stars", "tree")

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.chunks: dict[str, Chunk] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.imports: dict[str, str] = {}
        """Local name -> dotted name, wherever in the file the import stands; relative ones keep their dots."""
        self.stars: list[str] = []
        """Modules whose names are all imported by `from m import *`."""


def outline(text: str, path: str = "<string>") -> Outline:
    """Read `text`; raises what `compile` raises on code that is no Python (SyntaxError, ValueError, RecursionError)."""
    # A tree of a hundred thousand nodes has no cycle; the collector would go through it again and again while it grows.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return outline_of(tree_of(text, path))
    finally:
        if collecting:
            gc.enable()


def outline_of(tree: ast.Module) -> Outline:
    """The outline of a file that was parsed."""
    return _Reading(tree).result


class _Reading:
    """The way from a tree to its outline."""

    def __init__(self, tree: ast.Module) -> None:
        self.result = Outline(tree)
        module = Chunk(tree, MODULE, "", sys.maxsize)
        collector = self._collector(module)
        for statement in tree.body:
            self._enter(statement, "", collector)
        self.result.chunks[MODULE] = module

    def _collector(self, chunk: Chunk) -> Collector:
        return Collector(chunk.contents, chunk.name, self._note_import)

    def _enter(self, statement: ast.stmt, owner: str, collector: Collector) -> None:
        """Give a function or class its own chunks, any other statement to `collector`; `owner` is the class that this is, if any."""
        if isinstance(statement, _Function):
            self._enter_function(statement, owner)
        elif isinstance(statement, ast.ClassDef):
            self._enter_class(statement, owner)
        else:
            collect(statement, collector)

    def _enter_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> None:
        chunk = Chunk(node, node.name, owner, node.end_lineno or node.lineno)
        collect(node, self._collector(chunk))
        # A name defined twice (overloads, property setters, branches) keeps every definition: later ones get a suffix.
        key, count = chunk.qualname, 2
        while key in self.result.chunks:
            key, count = f"{chunk.qualname}#{count}", count + 1
        self.result.chunks[key] = chunk

    def _enter_class(self, node: ast.ClassDef, outer: str) -> None:
        qualname = f"{outer}.{node.name}" if outer else node.name
        self.result.classes.setdefault(qualname, node)
        body = Chunk(node, qualname, qualname, node.end_lineno or node.lineno)
        collector = self._collector(body)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            collect(part, collector)
        for statement in node.body:
            self._enter(statement, qualname, collector)
        self.result.chunks.setdefault(qualname, body)

    def _note_import(self, node: ast.Import | ast.ImportFrom) -> None:
        imports = self.result.imports
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.partition(".")[0]
                imports.setdefault(local, alias.name if alias.asname else local)
            return
        origin = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.result.stars.append(origin)
                continue
            separator = "" if origin.endswith(".") else "."
            dotted = f"{origin}{separator}{alias.name}" if alias.name != "torch" else "torch"
            local = alias.asname or alias.name
            # `try: from torch.amp import autocast / except: from apex import ...`: torch's meaning wins over the fallback.
            if local not in imports or dotted.startswith("torch."):
                imports[local] = dotted


def first_line(node: ast.stmt) -> int:
    """The line on which `node` begins, decorators included."""
    decorators: list[ast.expr] | None = getattr(node, "decorator_list", None)
    return decorators[0].lineno if decorators else node.lineno
