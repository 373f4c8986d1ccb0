"""A chunk as libcst would see it, made from the `ast` that the outline has: no white space, no comments, no places.

libcst makes several objects for the white space and punctuation around each one of the code, and checks all of them.
Rules are tried on the sketch first. Where they have something to say, and only there, libcst parses the chunk, and they
say it of that: nothing that is reported, and no fix, comes from a sketch.
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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nanlint.source.outline import Chunk

# Places in a sketch say what comes first, and nothing else.
_NUMBERS = range(1, 1 << 60)


def sketch_chunk(chunk: Chunk, lines: Sequence[str]) -> ParsedChunk:
    """The sketch of `chunk`; what cannot be sketched is parsed."""
    node = chunk.node
    try:
        if isinstance(node, ast.Module):
            body: list[Any] = list(map(_statement, _at_home(node.body)))
        else:
            body = [_class_of(node) if isinstance(node, ast.ClassDef) else _statement(node)]
    except (Unsketchable, RecursionError):
        return parse_chunk(chunk, lines)
    return ParsedChunk(chunk, cst.Module(body), tuple(body), _NUMBERS)


def _at_home(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of a class or module that have no chunk of their own."""
    return [statement for statement in body if not is_elsewhere(statement)]


_line, _indented = maker(cst.SimpleStatementLine, "body"), maker(cst.IndentedBlock, "body")
_assign, _target = maker(cst.Assign, "targets", "value"), maker(cst.AssignTarget, "target")
_expr, _return = maker(cst.Expr, "value"), maker(cst.Return, "value")


def _statement(node: ast.stmt) -> Any:  # noqa: ANN401 - nodes are made by kind, which no checker follows
    compound = _COMPOUND.get(node.__class__)
    if compound is not None:
        return compound(node)
    simple = _SIMPLE.get(node.__class__)
    if simple is None:
        raise Unsketchable
    return _line([simple(node)])


def _block(body: Sequence[ast.stmt]) -> Any:  # noqa: ANN401
    return _indented([_statement(statement) for statement in body])


def _otherwise(body: Sequence[ast.stmt]) -> cst.Else | None:
    return cst.Else(_block(body)) if body else None


def _function_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.FunctionDef:
    return cst.FunctionDef(
        name(node.name),
        sketched_parameters(node.args),
        _block(node.body),
        _decorators(node),
        annotation(sketched(node.returns)) if node.returns else None,
        cst.Asynchronous() if isinstance(node, ast.AsyncFunctionDef) else None,
    )


def _class_of(node: ast.ClassDef) -> cst.ClassDef:
    """A class with the statements of its own chunk."""
    return _class_with(node, _at_home(node.body))


def _class_with(node: ast.ClassDef, body: Sequence[ast.stmt]) -> cst.ClassDef:
    return cst.ClassDef(
        name(node.name),
        _block(body),
        [cst.Arg(sketched(base)) for base in node.bases],
        [cst.Arg(sketched(word.value), name(word.arg)) for word in node.keywords if word.arg],
        _decorators(node),
    )


def _decorators(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[cst.Decorator]:
    return [cst.Decorator(sketched(decorator)) for decorator in node.decorator_list]


def _if_of(node: ast.If) -> cst.If:
    follows = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
    orelse = _if_of(node.orelse[0]) if follows else _otherwise(node.orelse)  # type: ignore[arg-type]
    return cst.If(sketched(node.test), _block(node.body), orelse)


def _for_of(node: ast.For | ast.AsyncFor) -> cst.For:
    asynchronous = cst.Asynchronous() if isinstance(node, ast.AsyncFor) else None
    return cst.For(
        sketched(node.target), sketched(node.iter), _block(node.body), _otherwise(node.orelse), asynchronous
    )


def _with_of(node: ast.With | ast.AsyncWith) -> cst.With:
    items = [
        cst.WithItem(
            sketched(item.context_expr), cst.AsName(sketched(item.optional_vars)) if item.optional_vars else None
        )
        for item in node.items
    ]
    return cst.With(items, _block(node.body), cst.Asynchronous() if isinstance(node, ast.AsyncWith) else None)


def _try_of(node: ast.Try) -> cst.Try:
    handlers = [
        cst.ExceptHandler(
            _block(handler.body), sketched_if_any(handler.type), cst.AsName(name(handler.name)) if handler.name else None
        )
        for handler in node.handlers
    ]
    finalbody = cst.Finally(_block(node.finalbody)) if node.finalbody else None
    return cst.Try(_block(node.body), handlers, _otherwise(node.orelse), finalbody)


def _assign_of(node: ast.Assign) -> Any:  # noqa: ANN401
    return _assign([_target(sketched(target)) for target in node.targets], sketched(node.value))


def _annotated_of(node: ast.AnnAssign) -> cst.AnnAssign:
    return cst.AnnAssign(sketched(node.target), annotation(sketched(node.annotation)), sketched_if_any(node.value))


def _expr_of(node: ast.Expr) -> Any:  # noqa: ANN401
    # Nobody reads a docstring here, and some are long.
    return _expr(sketched(ast.Constant("") if isinstance(node.value, ast.Constant) else node.value))


def _raise_of(node: ast.Raise) -> cst.Raise:
    return cst.Raise(sketched_if_any(node.exc), cst.From(sketched(node.cause)) if node.cause else None)


def _del_of(node: ast.Delete) -> cst.Del:
    return cst.Del(sketched(node.targets[0] if len(node.targets) == 1 else ast.Tuple(node.targets, ast.Del())))


def _dotted(text: str) -> Any:  # noqa: ANN401
    first, *rest = text.split(".")
    made: cst.Name | cst.Attribute = name(first)
    for part in rest:
        made = cst.Attribute(made, name(part))
    return made


def _aliases(names: Sequence[ast.alias]) -> list[cst.ImportAlias]:
    return [
        cst.ImportAlias(_dotted(alias.name), cst.AsName(name(alias.asname)) if alias.asname else None)
        for alias in names
    ]


def _import_from(node: ast.ImportFrom) -> cst.ImportFrom:
    names = cst.ImportStar() if node.names[0].name == "*" else _aliases(node.names)
    return cst.ImportFrom(_dotted(node.module) if node.module else None, names, [cst.Dot()] * node.level)


def _names(node: ast.Global | ast.Nonlocal) -> list[cst.NameItem]:
    return [cst.NameItem(name(word)) for word in node.names]


_COMPOUND: Mapping[type[ast.AST], Callable[[Any], cst.BaseCompoundStatement]] = {
    ast.FunctionDef: _function_of,
    ast.AsyncFunctionDef: _function_of,
    ast.ClassDef: lambda node: _class_with(node, node.body),
    ast.If: _if_of,
    ast.For: _for_of,
    ast.AsyncFor: _for_of,
    ast.While: lambda node: cst.While(sketched(node.test), _block(node.body), _otherwise(node.orelse)),
    ast.With: _with_of,
    ast.AsyncWith: _with_of,
    ast.Try: _try_of,
}
_SIMPLE: Mapping[type[ast.AST], Callable[[Any], cst.BaseSmallStatement]] = {
    ast.Assign: _assign_of,
    ast.AnnAssign: _annotated_of,
    ast.AugAssign: lambda node: cst.AugAssign(
        sketched(node.target), AUGMENTED[node.op.__class__], sketched(node.value)  # type: ignore[arg-type]
    ),
    ast.Expr: _expr_of,
    ast.Return: lambda node: _return(sketched_if_any(node.value)),
    ast.Raise: _raise_of,
    ast.Assert: lambda node: cst.Assert(sketched(node.test), sketched_if_any(node.msg)),
    ast.Delete: _del_of,
    ast.Import: lambda node: cst.Import(_aliases(node.names)),
    ast.ImportFrom: _import_from,
    ast.Global: lambda node: cst.Global(_names(node)),
    ast.Nonlocal: lambda node: cst.Nonlocal(_names(node)),
    ast.Pass: lambda _: cst.Pass(),
    ast.Break: lambda _: cst.Break(),
    ast.Continue: lambda _: cst.Continue(),
}
