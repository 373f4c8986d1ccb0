"""A chunk as libcst would see it, made from the `ast` that the outline has: no white space and no places.

libcst makes several objects for the white space and punctuation around each one of the code, and checks all of them.
Rules are tried on the sketch first. Where they have something to say, and only there, libcst parses the statements that it
is about, or the chunk if there is something to fix: nothing that is reported, and no fix, comes from a sketch.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import libcst as cst

from nanlint.source.parse import ParsedChunk, is_elsewhere, parse_chunk
from nanlint.source.sketch_expressions import (
    AUGMENTED,
    Unsketchable,
    annotation,
    maker,
    name,
    sketched,
    sketched_if_any,
    sketched_parameters,
)
from nanlint.source.sketched_chunk import Sketch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nanlint.source.outline import Chunk

_NUMBERS = range(1, 1 << 60)


def sketch_chunk(chunk: Chunk, lines: Sequence[str]) -> ParsedChunk:
    """The sketch of `chunk`; what cannot be sketched is parsed."""
    numbered = enumerate(lines[chunk.first_line - 1 : chunk.last_line], chunk.first_line)
    remarked = [(number, line) for number, line in numbered if "#" in line]
    sketcher = _Sketcher(remarked[::-1], chunk.first_line - 1)
    try:
        body = sketcher.chunk(chunk.node)
    except (Unsketchable, RecursionError):
        return parse_chunk(chunk, lines)
    return Sketch(chunk, _module(body), tuple(body), _NUMBERS, lines=lines)


_module = maker(cst.Module, "body")
_line, _indented = maker(cst.SimpleStatementLine, "body", "leading_lines"), maker(cst.IndentedBlock, "body")
_assign, _target = maker(cst.Assign, "targets", "value"), maker(cst.AssignTarget, "target")
_expr, _return = maker(cst.Expr, "value"), maker(cst.Return, "value")
_augmented = maker(cst.AugAssign, "target", "operator", "value")
_empty, _comment = maker(cst.EmptyLine, "comment"), maker(cst.Comment, "value")
_else, _finally = maker(cst.Else, "body"), maker(cst.Finally, "body")
_function = maker(cst.FunctionDef, "name", "params", "body", "decorators", "returns", "asynchronous")
_class = maker(cst.ClassDef, "name", "body", "bases", "keywords", "decorators")
_argument, _decorator = maker(cst.Arg, "value", "keyword"), maker(cst.Decorator, "decorator")
_if, _while = (maker(kind, "test", "body", "orelse") for kind in (cst.If, cst.While))
_for = maker(cst.For, "target", "iter", "body", "orelse", "asynchronous")
_with, _with_item = maker(cst.With, "items", "body", "asynchronous"), maker(cst.WithItem, "item", "asname")
_try = maker(cst.Try, "body", "handlers", "orelse", "finalbody")
_handler, _as_name = maker(cst.ExceptHandler, "body", "type", "name"), maker(cst.AsName, "name")
_raise, _from = maker(cst.Raise, "exc", "cause"), maker(cst.From, "item")
_assert = maker(cst.Assert, "test", "msg")


class _Sketcher:
    """The statements of one chunk. `remarked` are its lines that may hold a comment, the last one first."""

    def __init__(self, remarked: list[tuple[int, str]], before: int) -> None:
        self._remarked = remarked
        self._seen = before
        """The last line whose comment belongs to a statement before."""

    def chunk(self, node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> list[Any]:
        """The statements of a chunk; those that have chunks of their own are left out."""
        if isinstance(node, ast.ClassDef):
            return [self.class_with(node, _at_home(node.body))]
        return list(map(self.statement, _at_home(node.body) if isinstance(node, ast.Module) else [node]))

    def statement(self, node: ast.stmt) -> Any:
        """One statement, with the comments above it, behind it and between its lines."""
        compound = _COMPOUND.get(node.__class__)
        if compound is not None:
            self._seen = node.lineno
            return compound(self, node)
        simple = _SIMPLE.get(node.__class__)
        if simple is None:
            raise Unsketchable
        return _line([simple(node)], self._comments(node.end_lineno or node.lineno) if self._remarked else ())

    def _comments(self, last: int) -> list[Any]:
        found: list[Any] = []
        while self._remarked and self._remarked[-1][0] <= last:
            number, line = self._remarked.pop()
            if number > self._seen:
                found.append(_empty(_comment(line[line.index("#") :].rstrip())))
        self._seen = last
        return found

    def block(self, body: Sequence[ast.stmt]) -> Any:
        """An indented block."""
        return _indented([self.statement(statement) for statement in body])

    def otherwise(self, body: Sequence[ast.stmt]) -> Any:
        """`else`, if there is one."""
        return _else(self.block(body)) if body else None

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
        """A function, or a method."""
        return _function(
            name(node.name),
            sketched_parameters(node.args),
            self.block(node.body),
            _decorators(node),
            annotation(sketched(node.returns)) if node.returns else None,
            cst.Asynchronous() if isinstance(node, ast.AsyncFunctionDef) else None,
        )

    def class_with(self, node: ast.ClassDef, body: Sequence[ast.stmt]) -> Any:
        """A class with these of its statements."""
        return _class(
            name(node.name),
            self.block(body),
            [_argument(sketched(base), None) for base in node.bases],
            [_argument(sketched(word.value), name(word.arg)) for word in node.keywords if word.arg],
            _decorators(node),
        )

    def branches(self, node: ast.If) -> Any:
        """`if`, `elif` and `else`."""
        follows = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        orelse = self.branches(node.orelse[0]) if follows else self.otherwise(node.orelse)  # type: ignore[arg-type]
        return _if(sketched(node.test), self.block(node.body), orelse)

    def loop(self, node: ast.For | ast.AsyncFor) -> Any:
        """`for`."""
        asynchronous = cst.Asynchronous() if isinstance(node, ast.AsyncFor) else None
        return _for(
            sketched(node.target),
            sketched(node.iter),
            self.block(node.body),
            self.otherwise(node.orelse),
            asynchronous,
        )

    def context(self, node: ast.With | ast.AsyncWith) -> Any:
        """`with`."""
        items = [
            _with_item(
                sketched(item.context_expr), _as_name(sketched(item.optional_vars)) if item.optional_vars else None
            )
            for item in node.items
        ]
        return _with(items, self.block(node.body), cst.Asynchronous() if isinstance(node, ast.AsyncWith) else None)

    def attempt(self, node: ast.Try) -> Any:
        """`try` with its handlers."""
        handlers = [
            _handler(
                self.block(handler.body),
                sketched_if_any(handler.type),
                _as_name(name(handler.name)) if handler.name else None,
            )
            for handler in node.handlers
        ]
        finalbody = _finally(self.block(node.finalbody)) if node.finalbody else None
        return _try(self.block(node.body), handlers, self.otherwise(node.orelse), finalbody)


def _at_home(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of a class or module that have no chunk of their own."""
    return [statement for statement in body if not is_elsewhere(statement)]


def _decorators(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Any:
    return [_decorator(sketched(decorator)) for decorator in node.decorator_list]


def _assign_of(node: ast.Assign) -> Any:
    return _assign([_target(sketched(target)) for target in node.targets], sketched(node.value))


def _annotated_of(node: ast.AnnAssign) -> cst.AnnAssign:
    return cst.AnnAssign(sketched(node.target), annotation(sketched(node.annotation)), sketched_if_any(node.value))


def _expr_of(node: ast.Expr) -> Any:
    # Nobody reads a docstring here, and some are long.
    return _expr(sketched(ast.Constant("") if isinstance(node.value, ast.Constant) else node.value))


def _raise_of(node: ast.Raise) -> Any:
    return _raise(sketched_if_any(node.exc), _from(sketched(node.cause)) if node.cause else None)


def _del_of(node: ast.Delete) -> cst.Del:
    targets = [sketched(target) for target in node.targets]
    return cst.Del(targets[0] if len(targets) == 1 else cst.Tuple(list(map(cst.Element, targets)), lpar=[], rpar=[]))


def _dotted(text: str) -> Any:
    first, *rest = text.split(".")
    made: cst.Name | cst.Attribute = name(first)
    for part in rest:
        made = cst.Attribute(made, name(part))
    return made


def _aliases(names: Sequence[ast.alias]) -> list[cst.ImportAlias]:
    return [
        cst.ImportAlias(_dotted(alias.name), _as_name(name(alias.asname)) if alias.asname else None) for alias in names
    ]


def _import_from(node: ast.ImportFrom) -> cst.ImportFrom:
    names = cst.ImportStar() if node.names[0].name == "*" else _aliases(node.names)
    return cst.ImportFrom(_dotted(node.module) if node.module else None, names, [cst.Dot()] * node.level)


def _names(node: ast.Global | ast.Nonlocal) -> list[cst.NameItem]:
    return [cst.NameItem(name(word)) for word in node.names]


_COMPOUND: Mapping[type[ast.AST], Callable[[_Sketcher, Any], cst.BaseCompoundStatement]] = {
    ast.FunctionDef: _Sketcher.function,
    ast.AsyncFunctionDef: _Sketcher.function,
    ast.ClassDef: lambda sketcher, node: sketcher.class_with(node, node.body),
    ast.If: _Sketcher.branches,
    ast.For: _Sketcher.loop,
    ast.AsyncFor: _Sketcher.loop,
    ast.While: lambda sketcher, node: _while(
        sketched(node.test), sketcher.block(node.body), sketcher.otherwise(node.orelse)
    ),
    ast.With: _Sketcher.context,
    ast.AsyncWith: _Sketcher.context,
    ast.Try: _Sketcher.attempt,
}
_SIMPLE: Mapping[type[ast.AST], Callable[[Any], cst.BaseSmallStatement]] = {
    ast.Assign: _assign_of,
    ast.AnnAssign: _annotated_of,
    ast.AugAssign: lambda node: _augmented(sketched(node.target), AUGMENTED[node.op.__class__], sketched(node.value)),
    ast.Expr: _expr_of,
    ast.Return: lambda node: _return(sketched_if_any(node.value)),
    ast.Raise: _raise_of,
    ast.Assert: lambda node: _assert(sketched(node.test), sketched_if_any(node.msg)),
    ast.Delete: _del_of,
    ast.Import: lambda node: cst.Import(_aliases(node.names)),
    ast.ImportFrom: _import_from,
    ast.Global: lambda node: cst.Global(_names(node)),
    ast.Nonlocal: lambda node: cst.Nonlocal(_names(node)),
    ast.Pass: lambda _: cst.Pass(),
    ast.Break: lambda _: cst.Break(),
    ast.Continue: lambda _: cst.Continue(),
}
