"""The value of one expression in one environment. Each operation that is met is noted in its function."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any

from nanlint.analysis.dtypes import dtype_named
from nanlint.analysis.interpreter.distributions import held_as
from nanlint.analysis.op_graph import (
    ATTRIBUTE,
    CALL,
    CLASS,
    DTYPE,
    INSTANCE,
    NUMBER,
    REFERENCE,
    TENSOR,
    TEXT,
    TUPLE,
    UNKNOWN,
    Op,
    Value,
)
from nanlint.analysis.project.index import Class, Function, dotted
from nanlint.ops.formats import FORMATS
from nanlint.ops.interval import COUNT, point
from nanlint.ops.names import ATTRIBUTES
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nanlint.analysis.interpreter.environment import Env
    from nanlint.analysis.operation_results import Maker
    from nanlint.analysis.project.graph import Graph
    from nanlint.analysis.project.index import CallSite

_DOTTED = {
    f"{module}.{name}": value
    for module in ("math", "numpy", "torch")
    for name, value in {"inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e}.items()
}
_LIMITS = {"min": "min", "max": "max", "eps": "eps", "tiny": "tiny", "smallest_normal": "tiny"}
# Expressions and blocks inside each other, through calls as well: far from where Python gives up, and beyond what people write.
DEEPEST = 200


# They raise for an index below 0.
_INDEXED = torch_names("gather index_select take_along_dim")


class Expressions:
    """Evaluates expressions of one function. `Statements` and `Calls` are the other parts of the interpreter."""

    graph: Graph
    maker: Maker
    function: Function
    env: Env
    recorded: bool
    autocast: str
    autocast_device: str = ""
    is_asking_again: bool = False
    """The function was interpreted before: its calls are known already."""
    is_generator: bool
    sites: list[tuple[Function, CallSite]]
    """Each call of a function of the project, with the function."""
    walrus_names: set[str]
    shared: set[str]
    """Names that an inner function may set at any time."""

    def evaluate(self, node: ast.expr) -> Value:
        """The value of `node` here and now."""
        graph = self.graph
        if graph.nesting > DEEPEST:
            self.function.is_too_deep = True
            return self.maker.unknown(CALL, type(node).__name__, node, self.function)
        graph.nesting += 1
        handler = _HANDLERS.get(type(node))
        value: Value = getattr(self, handler)(node) if handler is not None else self._other(node)
        graph.nesting -= 1
        return self.env.seen(value, self.maker) if self.env.guards else value

    def emit(
        self,
        function: str,
        operands: dict[str, Value],
        node: ast.AST,
        nodes: Mapping[str, ast.AST] | None = None,
        **how: Any,
    ) -> Value:
        """One operation: noted in the function, and what it makes."""
        value = self.maker.make(
            function, operands, node, self.function, recorded=self.recorded, autocast=self.autocast, **how
        )
        op = value.op
        if op is not None:
            op.nodes, op.autocast = nodes or {}, self.autocast_device
            self.function.ops.append(op)
        if function in _INDEXED:
            self.env = self.env.indexed(operands.get("index"))
        return value

    def unknown(self, function: str, where: str, node: ast.AST, operands: Mapping[str, Value] | None = None) -> Value:
        """Something unknown, noted as well, since what it was made of may matter elsewhere."""
        value = self.maker.unknown(function, where, node, self.function, operands)
        if value.op is not None and operands:
            value.detached = not self.recorded or (bool(operands) and all(each.detached for each in operands.values()))
            self.function.ops.append(value.op)
        return value

    def _other(self, node: ast.expr) -> Value:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child)
        return self.unknown(CALL, type(node).__name__, node)

    # -- names ----------------------------------------------------------------------------------------------------

    def _constant(self, node: ast.Constant) -> Value:
        return self.maker.literal(node.value, node)

    def _name(self, node: ast.Name) -> Value:
        if node.id in self.shared:
            return self.unknown(CALL, node.id, node)
        held = self.env.names.get(node.id)
        return held if held is not None else self._outside(self.graph.global_value(self.function.module, node.id), node)

    def _attribute(self, node: ast.Attribute) -> Value:  # noqa: C901, PLR0911 - one way out for each kind of owner
        base = self.evaluate(node.value)
        name = node.attr
        if base.kind is REFERENCE:
            return self.imported(f"{base.name}.{name}", node)
        if name == "shape":
            size = self.maker.make("torch.Tensor.size", {"input": base}, node, self.function)
            return Value(TUPLE, size.op, range=size.range, name="shape", detached=True, key=size.key)
        if name == "ndim":
            return Value(NUMBER, Op(ATTRIBUTE, {"input": base}, node, self.function), range=COUNT, detached=True)
        if base.kind is TUPLE and len(base.parts) == 2 and name in {"values", "indices"}:
            return base.parts[name == "indices"]
        if base.op is not None and base.op.function == "torch.finfo":
            return self._limit(base.op, name, node)
        if name in ATTRIBUTES and base.kind in {TENSOR, UNKNOWN} and (base.kind is TENSOR or name in {"T", "mT"}):
            return self.emit(ATTRIBUTES[name], {"input": base}, node, {"input": node.value})
        text = dotted(node)
        held = self.env.names.get(text) if text else None
        if held is not None:
            return held
        if base.kind in {INSTANCE, CLASS} and isinstance(base.target, Class):
            return self.graph.attribute(base.target, name, base, node)
        if (known := held_as(base, name)) is not None:
            operation, value = known
            return self._along_the_last(operation, value, node) if operation else value
        value = self.unknown(ATTRIBUTE, text or f".{name}", node, {"input": base} if base.kind is UNKNOWN else {})
        value.detached = name == "grad"
        if name == "grad":
            value.kind = TENSOR
        if text:
            # Read again, it is the same, until somebody assigns it or calls something that may.
            self.env.names[text] = value
        return value

    def _along_the_last(self, operation: str, value: Value, node: ast.AST) -> Value:
        """An operation on the last dimension, which no code at hand spells out."""
        last = {"dim": self.maker.literal(-1, node)} if operation != "torch.sigmoid" else {}
        return self.emit(operation, {"input": value, **last}, node)

    def _limit(self, made: Op, name: str, node: ast.AST) -> Value:
        """`torch.finfo(torch.float16).min`: the limit of a known format; that of an unknown one is some number."""
        dtype = made.subject
        form = FORMATS.get(str(dtype.constant)) if dtype is not None and dtype.kind is DTYPE else None
        if form is not None and name in _LIMITS:
            return self.maker.literal(getattr(form, _LIMITS[name]), node)
        value = self.unknown(ATTRIBUTE, f"torch.finfo.{name}", node)
        value.kind = NUMBER
        if name in {"eps", "tiny", "smallest_normal"}:
            value.range = point(1e-7 if name == "eps" else 1e-38)
        return value

    def imported(self, full: str, node: ast.AST) -> Value:
        """`math.inf` is a number, `torch.float16` a dtype, `helpers.norm` a function of the project, anything else something imported."""
        return self._outside(self.graph.imported(full, self.function.module), node)

    def _outside(self, value: Value, node: ast.AST) -> Value:
        """The number or dtype that a name from outside of the project stands for, through whichever file it came; else the value itself."""
        full = value.name if value.kind is REFERENCE else ""
        if full in _DOTTED:
            return self.maker.literal(_DOTTED[full], node)
        dtype = dtype_named(full)
        return Value(DTYPE, Op(ATTRIBUTE, {}, node, self.function), constant=dtype, name=full) if dtype else value

    def _lambda(self, node: ast.Lambda) -> Value:
        return self.closure(node, f"{self.function.qualname}.<lambda>")

    def _walrus(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.env.names[node.target.id] = value
        self.walrus_names.add(node.target.id)
        return value

    def _awaited(self, node: ast.Await) -> Value:
        value = self.evaluate(node.value)
        return value.parts[0] if value.kind is UNKNOWN and len(value.parts) == 1 else value

    def _starred(self, node: ast.Starred) -> Value:
        return self.evaluate(node.value)

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> Value:
        """A generator hands out what it yields; what it is sent, nobody knows."""
        self.is_generator = True
        if node.value is not None:
            self.function.sinks.append(("yielded", self.evaluate(node.value), node))
        return self.unknown(CALL, "yield", node)

    def _text(self, node: ast.JoinedStr) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.function.sinks.append(("written", self.evaluate(part.value), node))
        return Value(TEXT, Op(CALL, {}, node, self.function))

    # -- what the other parts of the interpreter do ----------------------------------------------------------------

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign `value` to a name, an attribute, an element, or to each part of a tuple."""
        raise NotImplementedError

    def closure(self, node: Any, qualname: str) -> Value:
        """A function that is defined inside this one."""
        raise NotImplementedError

    def call(self, node: ast.Call) -> Value:
        """What a call returns."""
        raise NotImplementedError

    def change(self, held: Value, value: Value, target: ast.AST) -> None:
        """What `held` was holds `value` from now on, under every name; what shares its memory holds some of it."""
        raise NotImplementedError

    def replace(self, held: Value, value: Value, target: ast.expr) -> None:
        """The tensor itself is now this, under every name that it has; its views stay."""
        raise NotImplementedError

    def changed_by_call(self, roots: Iterable[Op], node: ast.AST) -> None:
        """A function that was called has changed what lies in this memory in place; nobody knows to what."""
        raise NotImplementedError

    def store(self, name: str, value: Value) -> None:
        """An attribute of the object at hand is set."""
        raise NotImplementedError

    def set_attribute(self, owner: str, name: str, base: Value, value: Value, node: ast.AST) -> None:
        """`owner.name = value`, however it is written."""
        raise NotImplementedError


_HANDLERS: Mapping[type[ast.AST], str] = {
    ast.Constant: "_constant",
    ast.Name: "_name",
    ast.Attribute: "_attribute",
    ast.Call: "call",
    ast.BinOp: "_binary",
    ast.UnaryOp: "_unary",
    ast.Compare: "_compare",
    ast.BoolOp: "_boolean",
    ast.IfExp: "_conditional",
    ast.NamedExpr: "_walrus",
    ast.Tuple: "_sequence",
    ast.List: "_sequence",
    ast.Set: "_sequence",
    ast.Dict: "_dict",
    ast.Subscript: "_subscript",
    ast.ListComp: "_comprehension",
    ast.SetComp: "_comprehension",
    ast.GeneratorExp: "_comprehension",
    ast.DictComp: "_comprehension",
    ast.Lambda: "_lambda",
    ast.Await: "_awaited",
    ast.Starred: "_starred",
    ast.Yield: "_yield",
    ast.YieldFrom: "_yield",
    ast.JoinedStr: "_text",
}
