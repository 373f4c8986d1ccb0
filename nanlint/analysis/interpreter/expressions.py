"""The value of one expression in one environment. Each operation that is met is noted in its function."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any

from nanlint.analysis.dtypes import dtype_named
from nanlint.analysis.interpreter.conditions import AND, IS_NONE, NOT, OR
from nanlint.analysis.interpreter.environment import Env
from nanlint.analysis.make import SIZE, SUBSCRIPT
from nanlint.analysis.op_graph import (
    ARRAY,
    ATTRIBUTE,
    CALL,
    CLASS,
    DICT,
    DTYPE,
    ELEMENT,
    FUNCTION,
    INSTANCE,
    LAYER,
    NONE,
    NOTHING,
    NUMBER,
    PARAMETER,
    REFERENCE,
    TENSOR,
    TEXT,
    TUPLE,
    UNKNOWN,
    Op,
    Value,
)
from nanlint.analysis.project.index import Class, Function, Module, dotted
from nanlint.ops.formats import FORMATS
from nanlint.ops.interval import COUNT, TRUTH, point
from nanlint.ops.names import ATTRIBUTES, OPERATORS
from nanlint.ops.signatures import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.analysis.make import Maker
    from nanlint.analysis.project.graph import Graph

_SIGNS: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
    ast.GtE: ">=",
}  # fmt: skip
_DOTTED = {
    f"{module}.{name}": value
    for module in ("math", "numpy", "torch")
    for name, value in {"inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e}.items()
}
_LIMITS = {"min": "min", "max": "max", "eps": "eps", "tiny": "tiny", "smallest_normal": "tiny"}
# 10 ** 10 ** 10 in somebody's source must not keep us busy.
_LARGEST_EXPONENT = 400


# They raise for an index below 0.
_INDEXED = frozenset({"torch.gather", "torch.index_select", "torch.take_along_dim"})


class Expressions:
    """Evaluates expressions of one function. `Statements` and `Calls` are the other parts of the interpreter."""

    graph: Graph
    maker: Maker
    function: Function
    env: Env
    recorded: bool
    autocast: str

    def evaluate(self, node: ast.expr) -> Value:
        """The value of `node` here and now."""
        handler = _HANDLERS.get(type(node))
        value = handler(self, node) if handler is not None else self._other(node)
        return self.env.seen(value, self.maker) if self.env.guards else value

    def emit(self, function: str, operands: dict[str, Value], node: ast.AST, nodes: Mapping[str, ast.AST] | None = None, **how: Any) -> Value:
        """One operation: noted in the function, and what it makes."""
        value = self.maker.make(function, operands, node, self.function, recorded=self.recorded, autocast=self.autocast, **how)
        op = value.op
        if op is not None:
            op.nodes = nodes or {}
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
        held = self.env.names.get(node.id)
        return held if held is not None else self.graph.global_value(self.function.module, node.id)

    def _attribute(self, node: ast.Attribute) -> Value:
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
        value = self.unknown(ATTRIBUTE, text or f".{name}", node, {"input": base} if base.kind is UNKNOWN else {})
        value.detached = name == "grad"
        if name == "grad":
            value.kind = TENSOR
        if text:
            # Read again, it is the same, until somebody assigns it or calls something that may.
            self.env.names[text] = value
        return value

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
        if full in _DOTTED:
            return self.maker.literal(_DOTTED[full], node)
        dtype = dtype_named(full)
        if dtype:
            return Value(DTYPE, Op(ATTRIBUTE, {}, node, self.function), constant=dtype, name=full)
        return self.graph.imported(full, self.function.module)

    # -- operators ------------------------------------------------------------------------------------------------

    def _binary(self, node: ast.BinOp) -> Value:
        chain = [node]
        while type(left := chain[-1].left) is ast.BinOp:
            chain.append(left)
        value = self.evaluate(chain[-1].left)
        for inner in reversed(chain):
            right = self.evaluate(inner.right)
            value = self.operated(type(inner.op), value, right, inner, inner.left, inner.right)
            if self.env.guards:
                value = self.env.seen(value, self.maker)
        return value

    def operated(  # noqa: PLR0913 - an operator has two sides, each a value and a place
        self, sign: type[ast.AST], left: Value, right: Value, node: ast.AST, left_node: ast.AST, right_node: ast.AST, *, in_place: bool = False
    ) -> Value:
        """What `left sign right` is."""
        function = OPERATORS.get(_SIGNS.get(sign, ""))
        if function is None:
            return self.unknown(CALL, "operator", node, {"input": left, "other": right})
        if left.kind is TEXT or (left.kind is TUPLE and left.name != "shape" and sign in {ast.Add, ast.Mult}):
            return self._joined_sequences(left, right, node)
        if function == "torch.pow" and left.number is not None and abs(right.number or 0) > _LARGEST_EXPONENT:
            return Value(NUMBER, Op(CALL, {}, node, self.function), detached=True)
        first, second = PARAMETERS[function][:2]
        return self.emit(
            function,
            {first.name: left, second.name: right},
            node,
            {first.name: left_node, second.name: right_node},
            operator=True,
            in_place=in_place,
        )

    def _joined_sequences(self, left: Value, right: Value, node: ast.AST) -> Value:
        op = Op(CALL, {"input": left, "other": right}, node, self.function)
        self.function.ops.append(op)
        if left.kind is TEXT:
            return Value(TEXT, op)
        known = right.kind is TUPLE and left.parts and right.parts
        return Value(TUPLE, op, parts=(*left.parts, *right.parts) if known else ())

    def _unary(self, node: ast.UnaryOp) -> Value:
        inner = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            op = Op(NOT, {"input": inner}, node, self.function)
            return Value(NUMBER, op, range=TRUTH, dtype="bool", detached=True)
        if isinstance(node.op, ast.USub) and isinstance(inner.constant, int | float):
            return self.maker.literal(-inner.constant, node, assumed=inner.assumed)
        if isinstance(node.op, ast.UAdd):
            return inner
        function = "torch.neg" if isinstance(node.op, ast.USub) else "torch.bitwise_not"
        value = self.emit(function, {"input": inner}, node, {"input": node.operand}, operator=True)
        return value

    def _compare(self, node: ast.Compare) -> Value:
        left, left_node = self.evaluate(node.left), node.left
        results = []
        for sign, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(right_node)
            if isinstance(sign, ast.Is | ast.IsNot | ast.In | ast.NotIn):
                op = Op(IS_NONE, {"input": left, "other": right}, node, self.function)
                results.append(Value(NUMBER, op, range=TRUTH, dtype="bool", detached=True))
            else:
                function = OPERATORS[_SIGNS[type(sign)]]
                value = self.emit(function, {"input": left, "other": right}, node, {"input": left_node, "other": right_node}, operator=True)
                value.range, value.dtype, value.detached = TRUTH, "bool", True
                results.append(value)
            left, left_node = right, right_node
        if len(results) == 1:
            return results[0]
        op = Op(AND, {str(place): value for place, value in enumerate(results)}, node, self.function)
        return Value(NUMBER, op, range=TRUTH, dtype="bool", detached=True)

    def _boolean(self, node: ast.BoolOp) -> Value:
        """`a or b` is one of the two; each part is seen under what the parts before it have told."""
        outer, values, is_and = self.env, [], isinstance(node.op, ast.And)
        for part in node.values:
            value = self.evaluate(part)
            values.append(value)
            names = self.env.names
            self.env = self.env.under(value, holds=is_and)
            self.env.names = names
        # What a walrus has bound stays; what the parts have told does not.
        self.env = Env(self.env.names, outer.guards)
        joined = self.maker.join([_as_result(value, is_and=is_and, last=value is values[-1]) for value in values], node, self.function)
        op = Op(AND if is_and else OR, {str(place): value for place, value in enumerate(values)}, node, self.function)
        return joined.but(op=op) if joined.range == TRUTH or joined.kind is NUMBER else joined

    def _conditional(self, node: ast.IfExp) -> Value:
        test = self.evaluate(node.test)
        outer = self.env
        results = []
        for branch, holds in ((node.body, True), (node.orelse, False)):
            self.env = outer.under(test, holds=holds)
            results.append(self.evaluate(branch))
        self.env = Env({**outer.names, **self.env.names}, outer.guards)
        return self.maker.join(results, node, self.function)

    def _walrus(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.env.names[node.target.id] = value
        return value

    # -- containers -----------------------------------------------------------------------------------------------

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set) -> Value:
        parts = tuple(self.evaluate(each) for each in node.elts)
        op = Op(CALL, {str(place): part for place, part in enumerate(parts)}, node, self.function)
        op.where = "sequence"
        starred = any(isinstance(each, ast.Starred) for each in node.elts)
        return Value(TUPLE, op, parts=() if starred else parts)

    def _dict(self, node: ast.Dict) -> Value:
        keys, parts = [], []
        for key, each in zip(node.keys, node.values, strict=True):
            value = self.evaluate(each)
            held = self.evaluate(key).constant if key is not None else NOTHING
            keys.append(held if isinstance(held, str | int) else object())
            parts.append(value)
        op = Op(CALL, {str(place): part for place, part in enumerate(parts)}, node, self.function)
        op.where = "dict"
        return Value(DICT, op, keys=tuple(keys), parts=tuple(parts))

    def _subscript(self, node: ast.Subscript) -> Value:
        base = self.evaluate(node.value)
        index = self._index(node.slice)
        if index.constant is not NOTHING:
            part = base.part(index.constant)
            if part is not None:
                return part
        if base.kind is TUPLE and base.name == "shape":
            return self._of_shape(base, index, node)
        if base.kind in {TUPLE, DICT, LAYER} and base.parts:
            if isinstance(node.slice, ast.Slice):
                return Value(base.kind, base.op, parts=())
            return self.maker.join(list(base.parts), node, self.function) if base.kind is not LAYER or base.name.endswith(("List", "Sequential")) else base
        if base.kind in {TENSOR, ARRAY} or index.dtype == "bool":
            value = self.emit(SUBSCRIPT, {"input": base, "index": index}, node, {"input": node.value})
            return value if base.kind in {TENSOR, ARRAY} else value.but(kind=UNKNOWN)
        value = self.unknown(ELEMENT, str(index.constant) if index.constant is not NOTHING else "", node, {"input": base, "index": index})
        value.detached = base.detached
        text = ast.unparse(node) if isinstance(node.slice, ast.Constant) and dotted(node.value) else ""
        if text:
            held = self.env.names.get(text)
            if held is not None:
                return held
            self.env.names[text] = value
        return value

    def _of_shape(self, base: Value, index: Value, node: ast.AST) -> Value:
        """One size of a shape: the same for the same index, at least 1 but for what a mask has chosen."""
        operands = {"input": base, "index": index}
        subject = base.op.operands.get("input", base) if base.op is not None else base
        value = self.maker.make("torch.Tensor.size", {"input": subject, "dim": index}, node, self.function)
        if value.op is not None:
            value.op.operands = {**operands, "input": subject}
        return value

    def _index(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Slice):
            for part in (node.lower, node.upper, node.step):
                if part is not None:
                    self.evaluate(part)
            return Value(UNKNOWN, None)
        return self.evaluate(node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        outer = self.env
        self.env = outer.copy()
        for clause in node.generators:
            self.bind(clause.target, self.taken_from(self.evaluate(clause.iter), clause.iter))
            for condition in clause.ifs:
                self.env = self.env.under(self.evaluate(condition), holds=True)
        if isinstance(node, ast.DictComp):
            self.evaluate(node.key)
            element = self.evaluate(node.value)
        else:
            element = self.evaluate(node.elt)
        self.env = Env(outer.names, outer.guards)
        value = self.unknown(CALL, "comprehension", node, {"input": element})
        value.detached, value.range = element.detached, element.range
        return value

    def taken_from(self, source: Value, node: ast.expr) -> Value:
        """What a loop over `source` takes out of it."""
        op = source.op
        if op is not None and op.function == "range":
            count = op.operands.get("0")
            starts = count is not None and "1" in op.operands and count.range.least > 0
            return Value(NUMBER, Op(ELEMENT, {"input": source}, node, self.function), range=SIZE if starts else COUNT if len(op.operands) == 1 else point(0).join(SIZE), detached=True)
        if op is not None and op.function == "enumerate" and op.subject is not None:
            index = Value(NUMBER, Op(ELEMENT, {}, node, self.function), range=COUNT, detached=True)
            return Value(TUPLE, op, parts=(index, self.taken_from(op.subject, node)))
        if op is not None and op.function == "zip":
            return Value(TUPLE, op, parts=tuple(self.taken_from(each, node) for each in op.operands.values()))
        if source.kind in {TUPLE, LAYER} and source.parts:
            return self.maker.join(list(source.parts), node, self.function)
        if source.kind in {TENSOR, ARRAY}:
            return self.emit(SUBSCRIPT, {"input": source}, node, {"input": node})
        value = self.unknown(ELEMENT, "", node, {"input": source})
        value.detached = source.detached
        return value

    def _lambda(self, node: ast.Lambda) -> Value:
        return self.closure(node, f"{self.function.qualname}.<lambda>")

    def _awaited(self, node: ast.Await | ast.Starred) -> Value:
        return self.evaluate(node.value)

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


def _as_result(value: Value, *, is_and: bool, last: bool) -> Value:
    """`n or 1` is n only where n is not 0, `n and 1` is n only where it is 0."""
    if last or value.kind is not NUMBER:
        return value
    return value.but(range=value.range.meet(point(0.0)) if is_and else value.range.without_zero())


_HANDLERS: Mapping[type[ast.AST], Callable[[Any, Any], Value]] = {
    ast.Constant: Expressions._constant,  # noqa: SLF001 - the table is part of the class, below it for readability
    ast.Name: Expressions._name,  # noqa: SLF001
    ast.Attribute: Expressions._attribute,  # noqa: SLF001
    ast.Call: lambda self, node: self.call(node),
    ast.BinOp: Expressions._binary,  # noqa: SLF001
    ast.UnaryOp: Expressions._unary,  # noqa: SLF001
    ast.Compare: Expressions._compare,  # noqa: SLF001
    ast.BoolOp: Expressions._boolean,  # noqa: SLF001
    ast.IfExp: Expressions._conditional,  # noqa: SLF001
    ast.NamedExpr: Expressions._walrus,  # noqa: SLF001
    ast.Tuple: Expressions._sequence,  # noqa: SLF001
    ast.List: Expressions._sequence,  # noqa: SLF001
    ast.Set: Expressions._sequence,  # noqa: SLF001
    ast.Dict: Expressions._dict,  # noqa: SLF001
    ast.Subscript: Expressions._subscript,  # noqa: SLF001
    ast.ListComp: Expressions._comprehension,  # noqa: SLF001
    ast.SetComp: Expressions._comprehension,  # noqa: SLF001
    ast.GeneratorExp: Expressions._comprehension,  # noqa: SLF001
    ast.DictComp: Expressions._comprehension,  # noqa: SLF001
    ast.Lambda: Expressions._lambda,  # noqa: SLF001
    ast.Await: Expressions._awaited,  # noqa: SLF001
    ast.Starred: Expressions._awaited,  # noqa: SLF001
    ast.JoinedStr: Expressions._text,  # noqa: SLF001
}

__all__ = ["Expressions", "FUNCTION", "Module", "NONE", "PARAMETER"]
