"""Statements: how control goes through a function, and what each name holds on the way."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nanlint.analysis.interpreter.environment import Env, meet
from nanlint.analysis.interpreter.expressions import DEEPEST
from nanlint.analysis.interpreter.loops import assigned
from nanlint.analysis.interpreter.matching import Matching
from nanlint.analysis.interpreter.parameters import parameters
from nanlint.analysis.interpreter.regions import (
    AUTOCASTS,
    NO_GRADIENT,
    SWITCHES,
    WITH_GRADIENT,
    autocast_device,
    autocast_dtype,
    is_export,
)
from nanlint.analysis.op_graph import ARRAY, CALL, NONE, NOTHING, NUMBER, REFERENCE, TENSOR, UNKNOWN, Value
from nanlint.analysis.project.index import Function, bindings, dotted
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.analysis.project.graph import Graph
    from nanlint.analysis.project.index import CallSite

_ASSERTIONS = word_set("_check _assert check")
_EXITS = word_set("sys.exit exit quit os._exit")


class Interpreter(Matching):
    """Interprets one function from its first statement to its last."""

    def __init__(self, graph: Graph, function: Function, closure: Env | None = None) -> None:
        self.graph = graph
        self.maker = graph.maker
        self.function = function
        self.env = closure.copy() if closure is not None else Env()
        self.recorded, self.autocast = True, ""
        self.is_generator = False
        self.shared: set[str] = set()
        self.walrus_names: set[str] = set()
        self.changes_seen = 0
        self.evaluated_whole = None
        self.sites: list[tuple[Function, CallSite]] = []
        self._returns: list[Value] = []
        self._breaks: list[Env] = []
        self._continues: list[Env] = []
        self._expected = {}
        self._assigned = {}
        self._last_stores: dict[str, tuple[int, int]] | None = None

    def run(self) -> None:
        """Interpret the function; what is found is left in it."""
        node, function = self.function.node, self.function
        if isinstance(node, ast.Lambda):
            self._take_parameters(node.args)
            self._returns.append(self.evaluate(node.body))
        elif isinstance(node, ast.Module):
            self.run_body(node.body)
            function.parameters = self.env.names
        else:
            self._take_parameters(node.args)
            self._decorated(node)
            self.run_body(node.body)
        function.sinks += [("returned", value, node) for value in self._returns]
        is_known = self._returns and not self.is_generator
        function.result = self.maker.join(self._returns, node, function) if is_known else None

    def _take_parameters(self, args: ast.arguments) -> None:
        for name, value in parameters(self.function, args, self.maker, self.evaluate):
            self.env.names[name] = value

    def _decorated(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """`@torch.no_grad()` and `@autocast()` stand for a region around the whole body."""
        is_off = not {"no_grad", "inference_mode"}.isdisjoint(self.function.decorators)
        if is_off or self.graph.project.is_never_recorded(self.function):
            self.recorded = False
        for decorator in node.decorator_list:
            if (
                isinstance(decorator, ast.Call)
                and self.function.decorators[node.decorator_list.index(decorator)] == "autocast"
            ):
                self._enter(self.evaluate(decorator), decorator)
                self.function.autocasts[node] = self.autocast

    # -- statements -----------------------------------------------------------------------------------------------

    def run_body(self, body: list[ast.stmt]) -> bool:
        """Interpret statements in order; False when control does not reach their end."""
        if self.graph.nesting > DEEPEST:
            self.function.is_too_deep = True
            return True
        self.graph.nesting += 1
        goes_on = self._run_each(body)
        self.graph.nesting -= 1
        return goes_on

    def _run_each(self, body: list[ast.stmt]) -> bool:
        for statement in body:
            handler = _STATEMENTS.get(type(statement))
            if handler is not None and getattr(self, handler)(statement) is False:
                return False
        return True

    def _assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.bind(target, value)

    def _annotated_assign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.evaluate(node.value))

    def _augmented(self, node: ast.AugAssign) -> None:
        left, right = self.evaluate(node.target), self.evaluate(node.value)
        in_place = left.kind in {TENSOR, ARRAY}
        value = self.operated(type(node.op), (left, node.target), (right, node.value), node, in_place=in_place)
        if isinstance(node.target, ast.Subscript):
            self.bind(node.target, value)
        elif in_place or left.kind is UNKNOWN:
            self.change(left, value, node.target)
        else:
            self.bind(node.target, value)

    def _delete(self, node: ast.Delete) -> None:
        """A deleted name stands for nothing any more, whatever it means outside of the function."""
        for target in node.targets:
            text = dotted(target)
            if text in self.env.names or isinstance(target, ast.Name):
                self.env.names[text] = self.maker.unknown(CALL, text, target, self.function)

    def _return(self, node: ast.Return) -> bool:
        self._returns.append(self.evaluate(node.value) if node.value is not None else self.maker.literal(None, node))
        return False

    def _raise(self, node: ast.Raise) -> bool:
        if node.exc is not None:
            self.evaluate(node.exc)
        return False

    def _assert(self, node: ast.Assert) -> None:
        self.env = self.where(self.evaluate(node.test), holds=True)

    def _expression(self, node: ast.Expr) -> bool:
        value = node.value
        if isinstance(value, ast.Constant):
            return True
        self.evaluate(value)
        if isinstance(value, ast.Call):
            text = dotted(value.func)
            if text.rpartition(".")[2] in _ASSERTIONS and value.args:
                self.env = self.env.under(self.evaluate(value.args[0]), holds=True)
            return text not in _EXITS
        return not _divides_by_zero(value)

    def _break(self, _: ast.Break) -> bool:
        self._breaks.append(self.env)
        return False

    def _continue(self, _: ast.Continue) -> bool:
        self._continues.append(self.env)
        return False

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for local, meant in bindings(node).items():
            self.env.names[local] = self.graph.imported(meant, self.function.module)

    def _outer_names(self, node: ast.Global | ast.Nonlocal) -> None:
        """A name of the function or file around this one: others may have set it since."""
        self.function.rebinds |= set(node.names)
        for name in node.names:
            self.env.names[name] = self.maker.unknown(CALL, name, node, self.function)

    # -- branches -------------------------------------------------------------------------------------------------

    def _if(self, node: ast.If) -> bool:
        ends: list[Env] = []
        while True:
            test = self.evaluate(node.test)
            rest, self.env = self.where(test, holds=False), self.where(test, holds=True)
            recorded, self.recorded = self.recorded, self.recorded and not is_export(test)
            if _decided(test) is not False and self.run_body(node.body):
                ends.append(self.env)
            self.env, self.recorded = rest, recorded
            if _decided(test) is True:
                return self.paths_meet(ends, node)
            if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
                node = node.orelse[0]
                continue
            if self.run_body(node.orelse):
                ends.append(self.env)
            return self.paths_meet(ends, node)

    def paths_meet(self, ends: list[Env], node: ast.AST) -> bool:
        """Go on with what holds at the end of every path; False if none of them ends here."""
        if ends:
            self.env = meet(ends, self.maker, node, self.function)
        return bool(ends)

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        outer = self.recorded, self.autocast, self.autocast_device
        for item in node.items:
            value = self.evaluate(item.context_expr)
            self._enter(value, item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        self.function.autocasts[node] = self.autocast
        goes_on = self.run_body(node.body)
        self.recorded, self.autocast, self.autocast_device = outer
        return goes_on

    def _enter(self, value: Value, node: ast.expr) -> None:
        """What a region means for gradients and dtypes."""
        op = value.op
        name = value.name if value.kind is REFERENCE else ""
        if op is not None and not name:
            name = op.function if op.function in AUTOCASTS else op.where if isinstance(node, ast.Call) else ""
        if name in NO_GRADIENT:
            self.recorded = False
        elif name in WITH_GRADIENT:
            self.recorded = True
        elif name in SWITCHES and op is not None and op.subject is not None:
            self.recorded = op.subject.constant is not False
        elif name in AUTOCASTS:
            self.autocast, self.autocast_device = autocast_dtype(value), autocast_device(value)

    def _try(self, node: Any) -> bool:
        before = self.env.copy()
        ends: list[Env] = []
        goes_on = self.run_body(node.body)
        touched = {name for name, _ in before.names.items() - self.env.names.items()}
        if goes_on and self.run_body(node.orelse):
            ends.append(self.env)
        # Nobody knows how far the body came.
        for name in sorted(touched | ({name for each in node.body for name in assigned(each)} & before.names.keys())):
            lost = self.maker.unknown(CALL, name, node, self.function)
            before.names[name] = self.maker.join([before.names[name], lost], node, self.function)
        for handler in node.handlers:
            self.env = before.copy()
            if handler.name:
                self.env.names[handler.name] = self.maker.unknown(CALL, handler.name, handler, self.function)
            if self.run_body(handler.body):
                ends.append(self.env)
        goes_on = self.paths_meet(ends, node)
        return self.run_body(node.finalbody) and goes_on


def _divides_by_zero(node: ast.expr) -> bool:
    """`1 / 0` as a statement: an error, on purpose."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
        return False
    return all(isinstance(each, ast.Constant) for each in (node.left, node.right)) and not node.right.value  # type: ignore[attr-defined]


def _decided(test: Value) -> bool | None:
    """Whether a condition is written as a constant."""
    return (
        bool(test.constant)
        if test.constant is not NOTHING and not test.assumed and test.kind in {NUMBER, NONE}
        else None
    )


_STATEMENTS: Mapping[type[ast.AST], str] = {
    ast.Assign: "_assign",
    ast.AnnAssign: "_annotated_assign",
    ast.AugAssign: "_augmented",
    ast.Delete: "_delete",
    ast.Return: "_return",
    ast.Raise: "_raise",
    ast.Assert: "_assert",
    ast.Expr: "_expression",
    ast.Break: "_break",
    ast.Continue: "_continue",
    ast.Import: "_import",
    ast.ImportFrom: "_import",
    ast.Global: "_outer_names",
    ast.Nonlocal: "_outer_names",
    ast.If: "_if",
    ast.For: "for_loop",
    ast.AsyncFor: "for_loop",
    ast.While: "while_loop",
    ast.With: "_with",
    ast.AsyncWith: "_with",
    ast.Try: "_try",
    **({ast.TryStar: "_try"} if hasattr(ast, "TryStar") else {}),
    ast.Match: "match",
    ast.FunctionDef: "definition",
    ast.AsyncFunctionDef: "definition",
    ast.ClassDef: "class_definition",
}
