"""Statements: how control goes through a function, and what each name holds on the way."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nanlint.analysis.interpreter.environment import Env, meet
from nanlint.analysis.interpreter.expressions import DEEPEST
from nanlint.analysis.interpreter.loops import Loops, assigned
from nanlint.analysis.interpreter.parameters import parameters
from nanlint.analysis.interpreter.regions import AUTOCASTS, NO_GRADIENT, SWITCHES, WITH_GRADIENT, autocast_dtype, is_export
from nanlint.analysis.op_graph import ARRAY, CALL, FUNCTION, NONE, NOTHING, NUMBER, REFERENCE, TENSOR, UNKNOWN, Value
from nanlint.analysis.project.index import Function, bindings, dotted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.analysis.project.graph import Graph
    from nanlint.analysis.project.index import CallSite

_ASSERTIONS = frozenset({"_check", "_assert", "check"})
_EXITS = frozenset({"sys.exit", "exit", "quit", "os._exit"})


class Interpreter(Loops):
    """Interprets one function from its first statement to its last."""

    def __init__(self, graph: Graph, function: Function, closure: Env | None = None) -> None:
        self.graph = graph
        self.maker = graph.maker
        self.function = function
        self.env = closure.copy() if closure is not None else Env()
        self.recorded, self.autocast = True, ""
        self.is_generator = False
        self.shared: set[str] = set()
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

    # -- statements -----------------------------------------------------------------------------------------------

    def run_body(self, body: list[ast.stmt]) -> bool:
        """Interpret statements in order; False when control does not reach their end."""
        if self.graph.nesting > DEEPEST:
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
        for target in node.targets:
            self.env.names.pop(dotted(target), None)

    def _return(self, node: ast.Return) -> bool:
        self._returns.append(self.evaluate(node.value) if node.value is not None else self.maker.literal(None, node))
        return False

    def _raise(self, node: ast.Raise) -> bool:
        if node.exc is not None:
            self.evaluate(node.exc)
        return False

    def _assert(self, node: ast.Assert) -> None:
        self.env = self.env.under(self.evaluate(node.test), holds=True)

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
        return True

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
            rest = self.env.under(test, holds=False)
            self.env = self.env.under(test, holds=True)
            recorded, self.recorded = self.recorded, self.recorded and not is_export(test)
            if _decided(test) is not False and self.run_body(node.body):
                ends.append(self.env)
            self.env, self.recorded = rest, recorded
            if _decided(test) is True:
                return self._meet(ends, node)
            if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
                node = node.orelse[0]
                continue
            if self.run_body(node.orelse):
                ends.append(self.env)
            return self._meet(ends, node)

    def _meet(self, ends: list[Env], node: ast.AST) -> bool:
        if ends:
            self.env = meet(ends, self.maker, node, self.function)
        return bool(ends)

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        outer = self.recorded, self.autocast
        for item in node.items:
            value = self.evaluate(item.context_expr)
            self._enter(value, item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        goes_on = self.run_body(node.body)
        self.recorded, self.autocast = outer
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
            self.autocast = autocast_dtype(value)

    def _try(self, node: Any) -> bool:
        before = self.env.copy()
        ends: list[Env] = []
        if self.run_body(node.body) and self.run_body(node.orelse):
            ends.append(self.env)
        # Nobody knows how far the body came.
        for name in {name for each in node.body for name in assigned(each)} & before.names.keys():
            lost = self.maker.unknown(CALL, name, node, self.function)
            before.names[name] = self.maker.join([before.names[name], lost], node, self.function)
        for handler in node.handlers:
            self.env = before.copy()
            if handler.name:
                self.env.names[handler.name] = self.maker.unknown(CALL, handler.name, handler, self.function)
            if self.run_body(handler.body):
                ends.append(self.env)
        goes_on = self._meet(ends, node)
        return self.run_body(node.finalbody) and goes_on

    def _match(self, node: ast.Match) -> bool:
        subject = self.evaluate(node.subject)
        rest, ends = self.env, []
        is_complete = False
        for case in node.cases:
            self.env = rest.copy()
            self._bind_pattern(case.pattern, subject, node.subject)
            if case.guard is not None:
                self.env = self.env.under(self.evaluate(case.guard), holds=True)
            if self.run_body(case.body):
                ends.append(self.env)
            is_complete = is_complete or (case.guard is None and _takes_anything(case.pattern))
        return self._meet(ends if is_complete else [*ends, rest], node)

    def _bind_pattern(self, pattern: ast.pattern, subject: Value, node: ast.expr) -> None:
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
            if pattern.name is not None:
                self.env.names[pattern.name] = subject
            return
        if isinstance(pattern, ast.MatchValue):
            operands = {"input": subject, "other": self.evaluate(pattern.value)}
            self.env = self.env.under(self.maker.make("torch.eq", operands, node, self.function), holds=True)
            return
        for each in ast.walk(pattern):
            name = getattr(each, "name", None) or getattr(each, "rest", None)
            if isinstance(name, str):
                self.env.names[name] = self.maker.unknown(CALL, name, each, self.function)

    # -- definitions ----------------------------------------------------------------------------------------------

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if isinstance(self.function.node, ast.Module):
            return
        self.env.names[node.name] = self.closure(node, f"{self.function.qualname}.{node.name}")

    def _class(self, node: ast.ClassDef) -> None:
        if not isinstance(self.function.node, ast.Module):
            self.env.names[node.name] = self.maker.unknown(CALL, node.name, node, self.function)

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
                if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
                    waiting.extend(ast.iter_child_nodes(node))
        return self._last_stores


def _decided(test: Value) -> bool | None:
    """Whether a condition is written as a constant."""
    return (
        bool(test.constant)
        if test.constant is not NOTHING and not test.assumed and test.kind in {NUMBER, NONE}
        else None
    )


def _takes_anything(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


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
    ast.Match: "_match",
    ast.FunctionDef: "_definition",
    ast.AsyncFunctionDef: "_definition",
    ast.ClassDef: "_class",
}
