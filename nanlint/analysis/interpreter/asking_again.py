"""Whether an expression, written again at another place of its function, would be the same value there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.statements import Interpreter
from nanlint.analysis.op_graph import FUNCTION, Value
from nanlint.analysis.project.index import Function

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable

    from nanlint.analysis.project.graph import Graph


_MOST_WORK = 20_000


def is_same_at(expressions: Iterable[ast.AST], place: ast.AST, function: Function, graph: Graph) -> bool:
    """Whether each of `expressions` of `function` has, where `place` is computed, the value that it has where it stands.

    Each question interprets the function again: of a long one with many, those beyond a bound are answered no, which costs a fix.
    """
    spent = graph.asked_again.get(function, 0) + len(function.ops)
    if spent > _MOST_WORK:
        return False
    graph.asked_again[function] = spent
    asking = _AskingAgain(function, graph, list(expressions), place)
    asking.run()
    return bool(asking.there) and asking.there == asking.here


class _AskingAgain(Interpreter):
    """Interprets a function once more, and computes the expressions a second time at `place`."""

    is_asking_again = True

    def __init__(self, function: Function, graph: Graph, expressions: list[ast.AST], place: ast.AST) -> None:
        super().__init__(graph, Function(function.node, function.module, function.owner, function.qualname))
        self._expressions, self._place = expressions, place
        self.here: dict[ast.AST, object] = {}
        self.there: dict[ast.AST, object] = {}

    def evaluate(self, node: ast.expr) -> Value:
        value = super().evaluate(node)
        if node in self._expressions and node not in self.there:
            self.here[node] = value.key
        if node is self._place:
            self.there = {each: super(_AskingAgain, self).evaluate(each).key for each in self._expressions}  # type: ignore[arg-type]
        return value

    def closure(self, node: object, qualname: str) -> Value:
        """Nobody asks about inner functions here."""
        del node, qualname
        return Value(FUNCTION, None)
