"""Training loops made repeatable: the script's syntax tree is changed in memory, its lines and its file stay.

    for T in DATA:          for T in DATA:
        BODY          ->        for () in loops.attempts():          once, and once more after a bad step
                                    if loops.is_again(): NAMES = what was kept
                                    else: keep NAMES
                                    try: BODY
                                    except BaseException as error:
                                        if not loops.swallow(error): raise
                                else: continue
                                break                                only where BODY left by its own `break`

The script must not be able to tell: a loop leaves no name behind that it could see or that another loop could share,
and `locals()` is not called, which would bring a dict up to date that the script may have kept.
Only loops that look like training are changed, and none in a generator, whose body is not left in order.
This module knows no torch; what happens at run time is in `nanlint.trace.attempts`.
"""

from __future__ import annotations

import ast
import re
from textwrap import indent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

RUNTIME = "__nanlint_loops__"
_ERROR = "__nanlint_error__"

TRAINING_WORDS = re.compile(r"step|train|backward|update|optimi[sz]e|fit|learn", re.IGNORECASE)

_Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_Comprehension = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def compiled(source: bytes, path: str) -> CodeType:
    """The module's code with its loops made repeatable; as it is where that is beyond us, as with very deep nesting."""
    try:
        return compile(repeatable(source, path), path, "exec", dont_inherit=True)
    except (SyntaxError, RecursionError):
        return compile(source, path, "exec", dont_inherit=True)


def repeatable(source: str | bytes, path: str) -> ast.Module:
    """The module's tree with its training loops made repeatable; SyntaxError as Python itself raises it."""
    tree = ast.parse(source, path)
    _Rewriter().visit(tree)
    return ast.fix_missing_locations(tree)


class _Rewriter(ast.NodeTransformer):
    def visit_For(self, node: ast.For) -> ast.AST:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._loop(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node if _yields(node) else self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def _loop(self, node: ast.For | ast.While) -> ast.AST:
        self.generic_visit(node)
        if _looks_like_training(node):
            node.body = _repeatable_body(node)
        return node


def _yields(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in _own_nodes(function.body))


def _own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every node of a scope, without the scopes inside it."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _Scope):
            waiting.extend(ast.iter_child_nodes(node))


def _looks_like_training(loop: ast.For | ast.While) -> bool:
    return any(
        isinstance(node, ast.Call) and TRAINING_WORDS.search(_last_name(node.func)) for node in _own_nodes(loop.body)
    )


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _repeatable_body(loop: ast.For | ast.While) -> list[ast.stmt]:
    frame = ast.parse(f"while True:\n{indent(_frame(sorted(_bound_names(loop))), '    ')}").body[0]
    assert isinstance(frame, ast.While)  # noqa: S101 - as written above
    for node in ast.walk(frame):
        ast.copy_location(node, loop)
    attempts = frame.body[0]
    assert isinstance(attempts, ast.For)  # noqa: S101 - as written below
    tried = attempts.body[1]
    assert isinstance(tried, ast.Try)  # noqa: S101 - same
    tried.body = loop.body
    return frame.body


def _frame(names: list[str]) -> str:
    """The new body of a loop as text; the old one goes to where `pass` stands under the last `try`."""
    restore = [f"        if {name!r} in {RUNTIME}.kept(): {name} = {RUNTIME}.kept()[{name!r}]" for name in names]
    keep = [
        line
        for name in names
        for line in (
            f"        try: {RUNTIME}.keep({name!r}, {name})",
            "        except NameError: pass",
        )
    ]
    lines = [
        f"for () in {RUNTIME}.attempts():",
        f"    if {RUNTIME}.is_again():",
        *(restore or ["        pass"]),
        "    else:",
        *(keep or ["        pass"]),
        "    try:",
        "        pass",
        f"    except BaseException as {_ERROR}:",
        f"        if not {RUNTIME}.swallow({_ERROR}): raise",
        "else:",
        "    continue",
        "break",
    ]
    return "\n".join(lines)


def _bound_names(loop: ast.For | ast.While) -> set[str]:
    """The names that a turn of the loop gives new values."""
    nodes = list(_own_nodes(loop.body))
    if isinstance(loop, ast.For):
        nodes += ast.walk(loop.target)
    inside = {id(node) for each in nodes for node in _own_targets(each)}
    declared = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    bound = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in inside
    }
    return {name for name in bound - declared if not name.startswith("__")}


def _own_targets(node: ast.AST) -> Iterator[ast.AST]:
    """What a comprehension binds for itself alone."""
    if isinstance(node, _Comprehension):
        for part in node.generators:
            yield from ast.walk(part.target)
