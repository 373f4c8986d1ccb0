"""What a file holds, read with the standard library's `ast`: its chunks, the words they use, its imports.

A chunk is the unit that libcst gets to see: a top-level function, a method, the statements of a class body, or the
statements of the module itself. The outline is cheap and judges nothing; the prefilter asks it which chunks hold a
rule's words, facts ask it where a helper or a constant is written. Functions that nobody wants to see are read when they are
asked for. Deep nesting ends in RecursionError here, long before libcst's native parser would overflow its stack.
"""

from __future__ import annotations

import ast
import gc
import sys
from typing import TYPE_CHECKING

from nanlint.source.skeleton import FunctionText, Skeleton
from nanlint.source.words import Collector, Contents, collect

if TYPE_CHECKING:
    from collections.abc import Collection

    Node = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

MODULE = "<module>"

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class Chunk:
    """A stretch of lines that is parsed on its own, the module up to the last line, whichever that is.

    `owner` is the class a method belongs to, "" outside classes.
    """

    __slots__ = ("_contents", "_hidden", "_node", "first_line", "last_line", "name", "owner")

    def __init__(self, node: Node, name: str, owner: str, last_line: int, hidden: FunctionText | None = None) -> None:
        self.name = name
        self.owner = owner
        self.first_line = first_line(node) if isinstance(node, ast.stmt) else 1
        self.last_line = last_line
        self._node = node
        self._hidden = hidden
        self._contents = Contents() if hidden is None else None

    @property
    def qualname(self) -> str:
        """`Class.method`, `function` or `<module>`."""
        return f"{self.owner}.{self.name}" if self.owner and self.owner != self.name else self.name

    @property
    def node(self) -> Node:
        """The syntax tree; of a class or the module, with functions that may lack their bodies."""
        if self._hidden is not None:
            self._node, self._hidden = self._hidden.read(), None
        return self._node

    @property
    def contents(self) -> Contents:
        """The words in it, the names that it binds, and so on."""
        if self._contents is None:
            self._contents = Contents()
            collect(self.node, Collector(self._contents, self.name, lambda _: None))  # what imports is not hidden
        return self._contents

    @property
    def words(self) -> set[str]:
        """Every name, attribute and operator that occurs in it."""
        return self.contents.words

    @property
    def bound(self) -> set[str]:
        """Names that it binds itself (parameters, assignments), which therefore hide imports."""
        return self.contents.bound

    def mentions(self, words: Collection[str]) -> bool:
        """Whether one of `words` occurs in it."""
        return self._may_mention(words) and not self.words.isdisjoint(words)

    def binds(self, name: str) -> bool:
        """Whether it gives this name a meaning of its own, which hides an import."""
        return self._may_mention((name,)) and name in self.contents.bound

    def stores(self, attribute: str) -> bool:
        """Whether it assigns such an attribute (`self.x = ...`)."""
        return self._may_mention((attribute,)) and attribute in self.contents.stored_attributes

    def _may_mention(self, words: Collection[str]) -> bool:
        return self._hidden is None or self._hidden.may_mention(words)


class Outline:
    """One file: its chunks by qualified name, and what its import statements bind."""

    __slots__ = ("chunks", "classes", "imports", "stars", "tree")

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        """The syntax tree; functions in it may lack their bodies if only headers were read."""
        self.chunks: dict[str, Chunk] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.imports: dict[str, str] = {}
        """Local name -> dotted name, wherever in the file the import stands; relative ones keep their dots."""
        self.stars: list[str] = []
        """Modules whose names are all imported by `from m import *`."""


def outline(text: str, path: str = "<string>", *, only_headers: bool = False) -> Outline:
    """Read `text`; raises what `compile` raises on code that is no Python (SyntaxError, ValueError, RecursionError).

    With `only_headers`, most functions are read when somebody asks what is in them, and raise SyntaxError then.
    """
    # A tree of a hundred thousand nodes has no cycle; the collector would go through it again and again while it grows.
    collecting = gc.isenabled()
    gc.disable()
    try:
        if only_headers:
            skeleton = Skeleton(text)
            hidden = {function.line: function for function in skeleton.functions}
            found = _Reading(ast.parse(skeleton.without(skeleton.functions), path), hidden)
            if not found.hidden:
                return found.result
            # What was taken for a function stands in a text, or a text stands between it and its decorators.
        return _Reading(ast.parse(text, path), {}).result
    finally:
        if collecting:
            gc.enable()


class _Reading:
    """The way from a tree to its outline."""

    def __init__(self, tree: ast.Module, hidden: dict[int, FunctionText]) -> None:
        self.hidden = hidden
        """What was cut out and not met yet."""
        self.result = Outline(tree)
        module = Chunk(tree, MODULE, "", sys.maxsize)
        collector = self._collector(module)
        for statement in tree.body:
            self._enter(statement, module, "", collector)
        self.result.chunks[MODULE] = module

    def _collector(self, chunk: Chunk) -> Collector:
        return Collector(chunk.contents, chunk.name, self._note_import)

    def _enter(self, statement: ast.stmt, home: Chunk, owner: str, collector: Collector) -> None:
        """Give a function or class its own chunks, any other statement to `home`; `owner` is the class that this is, if any."""
        if isinstance(statement, _Function):
            self._enter_function(statement, owner)
            home.contents.bound.add(statement.name)
        elif isinstance(statement, ast.ClassDef):
            self._enter_class(statement, owner)
            home.contents.bound.add(statement.name)
        else:
            collect(statement, collector)

    def _enter_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> None:
        hidden = self.hidden.get(node.lineno)
        if hidden is not None and hidden.first_line == first_line(node):
            del self.hidden[node.lineno]
        chunk = Chunk(node, node.name, owner, node.end_lineno or node.lineno, hidden)
        if hidden is None:
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
            self._enter(statement, body, qualname, collector)
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
