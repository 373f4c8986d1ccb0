"""What a file holds, read with the standard library's `ast`: its chunks, the words they use, its imports.

A chunk is the unit that libcst gets to see: a top-level function, a method, the statements of a class body, or the
statements of the module itself. The outline is cheap and judges nothing; the gate asks it which chunks hold a rule's
words, facts ask it where a helper or a constant is written. Deep nesting ends in RecursionError here, long before
libcst's native parser would overflow its stack.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

MODULE = "<module>"

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)

_OPERATOR_WORDS = {
    ast.Div: "/",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.Mult: "*",
    ast.Sub: "-",
    ast.Add: "+",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}


@dataclass(slots=True)
class Chunk:
    """A stretch of lines that is parsed on its own. `owner` is the class a method belongs to, "" outside classes."""

    name: str
    owner: str
    first_line: int
    last_line: int
    node: ast.AST
    words: set[str] = field(default_factory=set)
    """Every name, attribute and operator that occurs in it."""
    bound: set[str] = field(default_factory=set)
    """Names that it binds itself (parameters, assignments), which therefore hide imports."""
    stored_attributes: set[str] = field(default_factory=set)
    """Attributes that it assigns (`self.x = ...`)."""
    renames: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    """Name or attribute -> words of the function or class it becomes another name for (`f = torch.log`)."""

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
    tree = ast.parse(text, path)
    result = Outline(tree)
    module = Chunk(MODULE, "", 1, max(1, text.count("\n") + 1), tree)
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
        _collect(statement, home, result)


def _enter_function(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str, result: Outline) -> None:
    chunk = Chunk(node.name, owner, _first_line(node), node.end_lineno or node.lineno, node)
    _collect(node, chunk, result)
    # A name defined twice (overloads, property setters, branches) keeps every definition: later ones get a suffix.
    key, count = chunk.qualname, 2
    while key in result.chunks:
        key, count = f"{chunk.qualname}#{count}", count + 1
    result.chunks[key] = chunk


def _enter_class(node: ast.ClassDef, home: Chunk, result: Outline) -> None:
    outer = home.qualname if isinstance(home.node, ast.ClassDef) else ""
    qualname = f"{outer}.{node.name}" if outer else node.name
    result.classes.setdefault(qualname, node)
    body = Chunk(qualname, qualname, _first_line(node), node.end_lineno or node.lineno, node)
    for part in (*node.decorator_list, *node.bases, *node.keywords):
        _collect(part, body, result)
    for statement in node.body:
        _enter(statement, body, result)
    result.chunks.setdefault(qualname, body)


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _collect(node: ast.AST, chunk: Chunk, result: Outline) -> None:
    _Collector(chunk, result).visit(node)


class _Collector:
    """One recursive pass that touches only the fields of each node type which can hold words."""

    __slots__ = ("bind", "renames", "result", "store", "word")

    def __init__(self, chunk: Chunk, result: Outline) -> None:
        self.word = chunk.words.add
        self.bind = chunk.bound.add
        self.store = chunk.stored_attributes.add
        self.renames = chunk.renames
        self.result = result

    def visit(self, node: ast.AST) -> None:
        kind = node.__class__
        if kind is ast.Name:
            self.word(node.id)  # type: ignore[attr-defined]
            if node.ctx.__class__ is not ast.Load:  # type: ignore[attr-defined]
                self.bind(node.id)  # type: ignore[attr-defined]
            return
        if kind is ast.Constant:
            return
        if kind is ast.Attribute:
            self.word(node.attr)  # type: ignore[attr-defined]
            if node.ctx.__class__ is not ast.Load:  # type: ignore[attr-defined]
                self.store(node.attr)  # type: ignore[attr-defined]
        elif kind is ast.arg:
            self.bind(node.arg)  # type: ignore[attr-defined]
        elif kind is ast.Import or kind is ast.ImportFrom:
            _note_import(node, self.result)  # type: ignore[arg-type]
            return
        elif kind is ast.BinOp or kind is ast.AugAssign:
            self.word(_OPERATOR_WORDS.get(node.op.__class__, ""))  # type: ignore[attr-defined]
        elif kind is ast.keyword:
            self.word(node.arg or "")  # type: ignore[attr-defined]
        elif kind is ast.Assign:
            self._note_rename(node)  # type: ignore[arg-type]
        single, several = _CHILD_FIELDS[kind]
        for name in single:
            child = getattr(node, name)
            if child is not None:
                self.visit(child)
        for name in several:
            for child in getattr(node, name):
                if child is not None:
                    self.visit(child)


    def _note_rename(self, node: ast.Assign) -> None:
        """Remember `f = torch.log`, `self.act = nn.Sequential(nn.Linear(2, 2), nn.Sigmoid())` and their like."""
        words = set(_words_called(node.value))
        if not words:
            return
        for target in node.targets:
            name = getattr(target, "id", None) or getattr(target, "attr", None)
            if name:
                self.renames.append((name, frozenset(words)))


def _words_called(value: ast.expr) -> Iterator[str]:
    """The last words of what `value` refers to or constructs: names, attributes, and classes called inside it."""
    if isinstance(value, ast.Name):
        yield value.id
    elif isinstance(value, ast.Attribute):
        yield value.attr
    elif isinstance(value, ast.Lambda):
        yield from _all_words(value.body)
    elif isinstance(value, ast.IfExp):
        yield from _words_called(value.body)
        yield from _words_called(value.orelse)
    elif isinstance(value, ast.Call):
        word = getattr(value.func, "attr", None) or getattr(value.func, "id", "")
        # Classes are capitalised; so are the containers (Sequential, ModuleList) whose arguments are looked into.
        if word[:1].isupper() or word == "partial":
            yield word
            for argument in (*value.args, *(keyword.value for keyword in value.keywords)):
                yield from _words_called(argument)


def _all_words(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        word = getattr(child, "id", None) or getattr(child, "attr", None)
        if word:
            yield word


def _note_import(node: ast.Import | ast.ImportFrom, result: Outline) -> None:
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


# Leaves and fields that hold no words: operators, contexts, positions, plain strings.
_WORDLESS = frozenset({"ctx", "op", "ops", "type_comment", "type_ignores", "kind", "conversion", "lineno", "level"})


def _child_fields(kind: type[ast.AST]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of `kind` that hold one node and those that hold a list of nodes, as the class's own doc states."""
    # ast.Call.__doc__ is "Call(expr func, expr* args, keyword* keywords)".
    signature = (kind.__doc__ or "").partition("(")[2].rstrip(")")
    single, several = [], []
    for part in signature.replace("\n", " ").split(","):
        type_name, _, name = part.strip().partition(" ")
        if name not in kind._fields or name in _WORDLESS or type_name.rstrip("*?") in _LEAF_TYPES:
            continue
        (several if type_name.endswith("*") else single).append(name)
    return tuple(single), tuple(several)


_LEAF_TYPES = frozenset({"identifier", "int", "string", "constant", "expr_context", "boolop", "operator", "unaryop"})


def _node_types() -> Iterator[type[ast.AST]]:
    for entry in vars(ast).values():
        if isinstance(entry, type) and issubclass(entry, ast.AST):
            yield entry


_CHILD_FIELDS = {kind: _child_fields(kind) for kind in _node_types()}
