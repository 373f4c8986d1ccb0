"""Functions and classes that are defined inside a function: they see the names around them, as those are when they are called."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

from nanlint.analysis.interpreter.loops import Loops
from nanlint.analysis.op_graph import CALL, FUNCTION, Value
from nanlint.analysis.project.index import Class, Function
from nanlint.source.syntax.below import walk

if TYPE_CHECKING:
    from collections.abc import Mapping

# An inner function that assigns a name does so whenever it is called: behind the last line, for all that is known.
_ANY_TIME = (sys.maxsize, 0)


class InnerDefinitions(Loops):
    """Interprets inner functions where they are defined."""

    _last_stores: dict[str, tuple[int, int]] | None

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """`def` inside a function; those of a file are found by name."""
        if isinstance(self.function.node, ast.Module):
            return
        self.env.names[node.name] = self.closure(node, f"{self.function.qualname}.{node.name}")

    def class_definition(self, node: ast.ClassDef) -> None:
        """`class` inside a function: its methods are interpreted, and what its objects are is not known."""
        if isinstance(self.function.node, ast.Module):
            return
        self.env.names[node.name] = self.maker.unknown(CALL, node.name, node, self.function)
        inner = Class(node, self.function.module, f"{self.function.qualname}.{node.name}")
        for method in inner.methods.values():
            method.parent = self.function
            self.graph.run(method, self.env)

    def closure(self, node: Any, qualname: str) -> Value:
        """A function that is defined inside this one: it sees the names around it, as they are when it is called."""
        inner = Function(node, self.function.module, None, qualname)
        inner.parent = self.function
        around = self.env.copy()
        end = node.end_lineno or 0, node.end_col_offset or 0
        for name, last in self._stores_of_names().items():
            if last > end and name in around.names:
                around.names[name] = self.maker.unknown(CALL, name, node, self.function)
        self.graph.run(inner, around)
        self.shared |= inner.rebinds
        for name in inner.rebinds & self.env.names.keys():
            self.env.names[name] = self.maker.unknown(CALL, name, node, self.function)
        return Value(FUNCTION, None, target=inner)

    def _stores_of_names(self) -> Mapping[str, tuple[int, int]]:
        """Each name that the function assigns, with the last place where it does."""
        if self._last_stores is None:
            self._last_stores = {}
            body = getattr(self.function.node, "body", ())
            waiting: list[ast.AST] = list(body) if isinstance(body, list) else []
            while waiting:
                node = waiting.pop()
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    place = node.lineno, node.col_offset
                    self._last_stores[node.id] = max(place, self._last_stores.get(node.id, place))
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    rebound = (each.names for each in walk(node) if isinstance(each, ast.Nonlocal))
                    self._last_stores |= dict.fromkeys((name for names in rebound for name in names), _ANY_TIME)
                elif not isinstance(node, ast.ClassDef | ast.Lambda):
                    waiting.extend(ast.iter_child_nodes(node))
        return self._last_stores
