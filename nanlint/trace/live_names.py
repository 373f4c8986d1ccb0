"""The names whose values a turn of a loop may read before it gives them new ones: only these must be given back to run it again.

What a turn writes first, such as `logits` or `loss`, is not kept: it would hold the last turn's tensors through the next backward.
This module knows syntax only.
"""

from __future__ import annotations

import ast
import symtable

_Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
SUPPRESSING = "suppress"
"""A context by this name may leave its body early and go on behind it."""


def names_read_elsewhere(source: str | bytes, path: str) -> set[str]:
    """The names that some function of the module takes from a scope around it: it may read them at any time."""
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    found: set[str] = set()
    waiting = symtable.symtable(text, path, "exec").get_children()
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        found |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_free() or symbol.is_global()}
    return found


def names_to_keep(loop: ast.For | ast.While) -> set[str]:
    """The names that a turn of `loop` may read as it found them."""
    reads = _Reads()
    if isinstance(loop, ast.For):
        # The target is given before the body begins.
        reads.needed |= _names(loop.target, ast.Store)
    else:
        reads.expression(loop.test, set())
    reads.block(loop.body, set())
    return reads.needed


class _Reads:
    """Walks statements in order; `written` is what every way to here has written."""

    def __init__(self) -> None:
        self.needed: set[str] = set()

    def block(self, statements: list[ast.stmt], written: set[str]) -> set[str]:
        for statement in statements:
            written = self.statement(statement, written)
        return written

    def expression(self, node: ast.AST, written: set[str]) -> None:
        self.needed |= _names(node, ast.Load) - written

    def statement(self, node: ast.stmt, written: set[str]) -> set[str]:
        if isinstance(node, ast.If):
            self.expression(node.test, written)
            return self.block(node.body, written) & self.block(node.orelse, written)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return self._with(node, written)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return self._loop(node, written)
        if isinstance(node, ast.Try):
            return self._try(node, written)
        self.expression(node, written)
        if isinstance(node, ast.AugAssign):
            self.needed |= _names(node.target, ast.Store) - written
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)):
            return written | _names(node, ast.Store)
        # What is deleted or matched is as good as read.
        self.needed |= (_names(node, ast.Store) | _names(node, ast.Del)) - written
        return written

    def _with(self, node: ast.With | ast.AsyncWith, written: set[str]) -> set[str]:
        before = written
        for item in node.items:
            self.expression(item.context_expr, written)
            written = written | (_names(item.optional_vars, ast.Store) if item.optional_vars else set())
        after = self.block(node.body, written)
        return before if any(SUPPRESSING in ast.dump(item.context_expr) for item in node.items) else after

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, written: set[str]) -> set[str]:
        if isinstance(node, ast.While):
            self.expression(node.test, written)
            inner = written
        else:
            self.expression(node.iter, written)
            inner = written | _names(node.target, ast.Store)
        self.block(node.body, inner)
        self.block(node.orelse, written)
        return written

    def _try(self, node: ast.Try, written: set[str]) -> set[str]:
        after = self.block(node.orelse, self.block(node.body, written))
        for handler in node.handlers:
            if handler.type is not None:
                self.expression(handler.type, written)
            after &= self.block(handler.body, written | ({handler.name} if handler.name else set()))
        return after | self.block(node.finalbody, written)


def _names(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """The names in `node`; inside functions and classes only those that are read."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Name) and isinstance(each.ctx, context):
            found.add(each.id)
        if context is ast.Load or not isinstance(each, _Scope):
            waiting.extend(ast.iter_child_nodes(each))
    return found
