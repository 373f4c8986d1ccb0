"""Training loops made repeatable: the script's syntax tree is changed in memory, its lines and its file stay.

    for T in DATA:          for T in DATA:
        BODY          ->        broke = False
                                kept = {NAME: value}                 what the turn may read before it writes
                                for again in loops.attempts():       once, and once more after a bad step
                                    if again: NAMES = kept
                                    try: BODY                        `break` also sets `broke`
                                    except BaseException as error:
                                        if not loops.swallow(error): raise
                                if broke: break

Only loops that look like training are changed, and none in a generator, whose body is not left in order. Each loop has
names of its own: loops in one function, inside each other or one after the other, know nothing of each other. `next(it)`
asks `loops.next_of(it)`, which hands out the same again in a second run of a turn.
This module knows no torch; what happens at run time is in `nanlint.trace.attempts`.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanlint.trace.live_names import names_read_elsewhere, names_to_keep

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

RUNTIME = "__nanlint_loops__"

TRAINING_WORDS = re.compile(r"step|train|backward|update|optimi[sz]e|fit|learn|^grad$|grad_and_value", re.IGNORECASE)

_Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def compiled(source: bytes, path: str) -> CodeType:
    """The module's code with its loops made repeatable; as it is where that is beyond us, as with very deep nesting."""
    try:
        return compile(repeatable(source, path), path, "exec", dont_inherit=True)
    except (SyntaxError, RecursionError):
        return compile(source, path, "exec", dont_inherit=True)


def repeatable(source: str | bytes, path: str) -> ast.Module:
    """The module's tree with its training loops made repeatable; SyntaxError as Python itself raises it."""
    tree = ast.parse(source, path)
    rewriter = _Rewriter(names_read_elsewhere(source, path))
    rewriter.visit(tree)
    if not _binds_next(tree):
        _Draws().visit(tree)
    return ast.fix_missing_locations(tree)


def _binds_next(tree: ast.AST) -> bool:
    """Whether `next` may be another function than Python's."""
    return any(
        (isinstance(node, ast.Name) and node.id == "next" and not isinstance(node.ctx, ast.Load))
        or "next" in (getattr(node, "arg", ""), getattr(node, "asname", ""), getattr(node, "name", ""))
        for node in ast.walk(tree)
    )


class _Rewriter(ast.NodeTransformer):
    def __init__(self, read_elsewhere: set[str]) -> None:
        self.loops = 0
        self._read_elsewhere = read_elsewhere

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._loop(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node if _yields(node) else self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def _loop(self, node: ast.For | ast.While) -> ast.AST:
        bound = _bound_names(node)
        names = bound & (names_to_keep(node) | self._read_elsewhere)
        self.generic_visit(node)
        if _looks_like_training(node):
            self.loops += 1
            node.body = _repeatable_body(node, sorted(names), self.loops)
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


def _repeatable_body(loop: ast.For | ast.While, names: list[str], number: int) -> list[ast.stmt]:
    breaks = _Breaks(_own("broke", number))
    body = [part for statement in loop.body for part in breaks.rewritten(statement)]
    given = sorted(_bound_in(loop.target)) if isinstance(loop, ast.For) else []
    frame = ast.parse(_frame(names, given, number, breaks=breaks.any)).body
    for statement in frame:
        for node in ast.walk(statement):
            ast.copy_location(node, loop)
    attempts = next(statement for statement in reversed(frame) if isinstance(statement, ast.For))
    tried = attempts.body[1]
    assert isinstance(tried, ast.Try)  # noqa: S101 - as written above
    tried.body = body
    return frame


def _own(word: str, number: int) -> str:
    """A name that only one loop of the file has."""
    return f"__nanlint_{word}_{number}__"


def _frame(names: list[str], given: list[str], number: int, *, breaks: bool) -> str:
    """The new body of a loop as text; the old one goes to where `pass` stands under `try`."""
    kept, again, broke, error = (_own(word, number) for word in ("kept", "again", "broke", "error"))
    restore = [line for name in names for line in _restoring(name, kept)] or ["        pass"]
    # Not `locals()`: its snapshot would hold every other tensor of the function as well.
    keep = [f"try: {kept}[{name!r}] = {name}\nexcept NameError: pass" for name in names]
    batch = ", ".join(f"{name!r}: {kept}.get({name!r})" for name in given)
    lines = [
        f"{kept} = {{}}",
        *keep,
        f"for {again} in {RUNTIME}.attempts({{{batch}}}):",
        f"    if {again}:",
        *restore,
        "    try:",
        "        pass",
        f"    except BaseException as {error}:",
        f"        if not {RUNTIME}.swallow({error}): raise",
    ]
    if breaks:
        lines = [f"{broke} = False", *lines, f"if {broke}: break"]
    return "\n".join(lines)


def _restoring(name: str, kept: str) -> list[str]:
    """Give a name its value back, or none if it had none."""
    return [
        f"        if {name!r} in {kept}: {name} = {kept}[{name!r}]",
        "        else:",
        f"            try: del {name}",
        "            except NameError: pass",
    ]


class _Draws(ast.NodeTransformer):
    """`next(...)` asks us first, but in a generator: what is taken from that is handed out again itself."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "next" and not node.keywords:
            node.func = ast.copy_location(ast.parse(f"{RUNTIME}.next_of", mode="eval").body, node.func)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node if _yields(node) else self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return node


class _Breaks(ast.NodeTransformer):
    """`break` of this loop, and not of those inside, leaves word before it leaves."""

    def __init__(self, flag: str) -> None:
        self.any = False
        self._flag = flag

    def rewritten(self, statement: ast.stmt) -> list[ast.stmt]:
        result = self.visit(statement)
        return result if isinstance(result, list) else [result]

    def visit_Break(self, node: ast.Break) -> list[ast.stmt]:
        self.any = True
        note = ast.parse(f"{self._flag} = True").body[0]
        return [ast.copy_location(note, node), node]

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._inner(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.AST:
        return self._inner(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._inner(node)

    def _inner(self, node: ast.For | ast.AsyncFor | ast.While) -> ast.AST:
        # Its else belongs to us: a break there leaves the outer loop.
        node.orelse = [part for statement in node.orelse for part in self.rewritten(statement)]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node


def _bound_names(loop: ast.For | ast.While) -> set[str]:
    """The names that a turn of the loop gives new values."""
    nodes = list(_own_nodes(loop.body))
    declared = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    given = _bound_in(loop.target) if isinstance(loop, ast.For) else set()
    return {name for name in (bound | given) - declared if not name.startswith("__")}


def _bound_in(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
