"""The value of one expression in one environment: the expression half of the flow analysis.

Every expression that is met is recorded, so that a rule can ask about any node of the chunk afterwards. Pure source:
nothing is imported or run.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from nanlint.facts.dtypes import dtype_named
from nanlint.facts.environment import Env
from nanlint.facts.guards import bounds
from nanlint.facts.calculate import COUNT, range_of_constant, value_made_by
from nanlint.facts.calls import bind_call, bind_operator, module_call
from nanlint.facts.names import dotted_text
from nanlint.facts.relations import range_under
from nanlint.facts.values import NOTHING, UNKNOWN, Call, Form, Kind, Value, join
from nanlint.ops.interval import FINITE, Interval
from nanlint.ops.names import ATTRIBUTES

if TYPE_CHECKING:
    from nanlint.facts.module_facts import ModuleFacts
    from nanlint.source.parse import ParsedChunk

_CONSTANTS: Mapping[str, object] = {"True": True, "False": False, "None": None}
_DOTTED_CONSTANTS: Mapping[str, float] = {
    f"{module}.{name}": value
    for module in ("math", "numpy", "torch")
    for name, value in {"inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e}.items()
}
_BINARY: Mapping[type[cst.BaseBinaryOp], Callable[[Any, Any], Any]] = {
    cst.Add: operator.add,
    cst.Subtract: operator.sub,
    cst.Multiply: operator.mul,
    cst.Divide: operator.truediv,
    cst.FloorDivide: operator.floordiv,
    cst.Modulo: operator.mod,
}
BOOLEAN = Interval(0.0, 1.0, integer=True)
# 10 ** 10 ** 10 in somebody's source must not keep us busy.
_LARGEST_EXPONENT = 400


class Evaluator:
    """Evaluates expressions of one chunk and remembers the value and the environment of each."""

    def __init__(self, parsed: ParsedChunk, facts: ModuleFacts) -> None:
        self.parsed = parsed
        self.facts = facts
        self.values: dict[cst.CSTNode, Value] = {}
        self.envs: dict[cst.CSTNode, Env] = {}
        self.calls: dict[cst.CSTNode, Call] = {}
        self.comparisons: list[cst.Comparison] = []
        self.env = Env()
        """Where evaluation stands now; a walrus moves it."""

    def evaluate(self, node: cst.BaseExpression) -> Value:
        """The value of `node` here and now; its parts are recorded on the way."""
        handler = _HANDLERS.get(type(node))
        if handler is None:
            self._evaluate_children(node)
            value = UNKNOWN
        else:
            value = handler(self, node)
        if self.env.guards:
            value = self.env.guarded(node, value)
        self.values[node] = value
        self.envs[node] = self.env
        return value

    def _evaluate_children(self, node: cst.CSTNode) -> None:
        for child in node.children:
            if isinstance(child, cst.BaseExpression):
                self.evaluate(child)
            elif not isinstance(child, (cst.BaseParenthesizableWhitespace, cst.LeftParen, cst.RightParen)):
                self._evaluate_children(child)

    def _name(self, node: cst.Name) -> Value:
        if node.value in _CONSTANTS:
            return _literal(_CONSTANTS[node.value])
        held = self.env.names.get(node.value)
        return held if held is not None else self.facts.global_value(node.value, self.parsed.chunk)

    def _attribute(self, node: cst.Attribute) -> Value:
        base = self.evaluate(node.value)
        dotted = self.facts.imported(node, self.parsed.chunk)
        if dotted is not None:
            return self._dotted(dotted)
        part = self._part_of(base, node)
        if part is not None:
            return part
        text = dotted_text(node)
        if text is None:
            return UNKNOWN
        held = self.env.names.get(text)
        if held is not None:
            return held
        if text.startswith("self.") and text.count(".") == 1:
            return self.facts.attribute_value(self.parsed.chunk.owner, node.attr.value)
        return UNKNOWN

    def _dotted(self, dotted: str) -> Value:
        """`math.inf` is a number, `torch.float16` a dtype."""
        if dotted in _DOTTED_CONSTANTS:
            return _literal(_DOTTED_CONSTANTS[dotted])
        dtype = dtype_named(dotted)
        return Value(Kind.DTYPE, constant=dtype) if dtype else UNKNOWN

    def _part_of(self, base: Value, node: cst.Attribute) -> Value | None:
        """`x.shape` holds counts, `x.max(dim).values` the values, `x.T` and `x.data` what x holds."""
        name = node.attr.value
        if name == "shape":
            return Value(Kind.TUPLE, range=COUNT)
        if name in {"ndim"}:
            return Value(Kind.NUMBER, range=COUNT)
        if base.kind is Kind.TUPLE and len(base.parts) == 2 and name in {"values", "indices"}:
            return base.parts[name == "indices"]
        if name in ATTRIBUTES and base.kind is Kind.TENSOR:
            return replace(base, same_as=base.identity)
        return None

    def range_of(self, node: cst.BaseExpression | None) -> Interval:
        """Every number that an expression evaluated before can be."""
        return self.values.get(node, UNKNOWN).range if node is not None else FINITE

    def _call(self, node: cst.Call) -> Value:
        function = self.evaluate(node.func)
        given = tuple(self.evaluate(argument.value) for argument in node.args)
        call = module_call(node, function) if function.kind is Kind.MODULE else None
        if call is None:
            call = bind_call(node, self.facts.imported(node.func, self.parsed.chunk), self._is_no_tensor)
        if call is None:
            return UNKNOWN
        self.calls[node] = call
        if call.function == "float" and call.subject is not None:
            return self._float_of(call)
        if function.kind is Kind.FUNCTION and function.parts:
            return function.parts[0]
        if call.form is not Form.MODULE:
            helper = dotted_text(node.func)
            returned = self.facts.returned_by(self.parsed.chunk.owner, helper) if helper else None
            if returned is not None:
                return returned
        return value_made_by(call, self, given)

    def _is_no_tensor(self, receiver: cst.BaseExpression) -> bool:
        value = self.values.get(receiver, UNKNOWN)
        return value.kind in {Kind.NUMBER, Kind.TEXT, Kind.MODULE, Kind.TUPLE, Kind.NONE}

    def _float_of(self, call: Call) -> Value:
        inner = self.values.get(call.subject, UNKNOWN) if call.subject is not None else UNKNOWN
        if isinstance(inner.constant, (str, int, float)):
            try:
                return _literal(float(inner.constant))
            except (ValueError, OverflowError):
                return Value(Kind.NUMBER)
        return value_made_by(call, self)

    def _binary(self, node: cst.BinaryOperation) -> Value:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        constant = _fold(node.operator, left, right)
        if constant is not NOTHING:
            return _literal(constant)
        call = bind_operator(node)
        if call is None:
            return UNKNOWN
        self.calls[node] = call
        value = value_made_by(call, self)
        kinds = {left.kind, right.kind}
        if Kind.TENSOR in kinds:
            return value
        # Two Python numbers make one; of two unknowns nobody can say what they make.
        return replace(value, kind=Kind.NUMBER if kinds == {Kind.NUMBER} else Kind.UNKNOWN, dtype="")

    def _unary(self, node: cst.UnaryOperation) -> Value:
        inner = self.evaluate(node.expression)
        if isinstance(node.operator, cst.Not):
            return Value(Kind.NUMBER)
        if isinstance(node.operator, cst.Minus):
            if inner.number is not None:
                return _literal(-inner.number)
            call = Call("torch.neg", node, Form.OPERATOR, {"input": node.expression})
            self.calls[node] = call
            return replace(value_made_by(call, self), kind=inner.kind)
        return Value(inner.kind, dtype=inner.dtype)

    def _subscript(self, node: cst.Subscript) -> Value:
        base = self.evaluate(node.value)
        for element in node.slice:
            self._evaluate_children(element)
        index = self._index_of(node)
        if base.parts and index is not None and -len(base.parts) <= index < len(base.parts):
            return base.parts[index]
        if base.kind is Kind.TUPLE:
            return Value(Kind.NUMBER, range=base.range) if base.range == COUNT else UNKNOWN
        if base.kind is not Kind.TENSOR:
            return UNKNOWN
        # A part of a tensor holds values of that tensor.
        call = Call("subscript", node, Form.OPERATOR, {"input": node.value})
        return Value(Kind.TENSOR, call, base.origin, range=base.range, dtype=base.dtype, learnable=base.learnable)

    def _index_of(self, node: cst.Subscript) -> int | None:
        first = node.slice[0].slice if len(node.slice) == 1 else None
        if not isinstance(first, cst.Index):
            return None
        constant = self.values.get(first.value, UNKNOWN).constant
        return constant if type(constant) is int else None

    def _comparison(self, node: cst.Comparison) -> Value:
        self._evaluate_children(node)
        self.comparisons.append(node)
        operands = [node.left, *(target.comparator for target in node.comparisons)]
        tensor = any(self.values.get(operand, UNKNOWN).kind is Kind.TENSOR for operand in operands)
        call = Call("comparison", node, Form.OPERATOR, {"input": node.left})
        return Value(Kind.TENSOR if tensor else Kind.UNKNOWN, call, call, range=BOOLEAN, dtype="bool")

    def under(self, test: cst.BaseExpression, *, holds: bool) -> Env:
        """The environment where `test`, which has been evaluated, holds or does not."""
        read = lambda node: self.values.get(node, UNKNOWN).number  # noqa: E731 - a name for one lambda
        return self.env.guarded_by(bounds(test, holds=holds, read=read))

    def _conditional(self, node: cst.IfExp) -> Value:
        self.evaluate(node.test)
        return join(self._evaluate_under(node.body, node.test, holds=True), self._evaluate_under(node.orelse, node.test, holds=False))

    def _evaluate_under(self, node: cst.BaseExpression, test: cst.BaseExpression, *, holds: bool) -> Value:
        outer = self.env
        self.env = self.under(test, holds=holds)
        value = self.evaluate(node)
        self.env = replace(self.env, guards=outer.guards)
        return value

    def _boolean(self, node: cst.BooleanOperation) -> Value:
        self.evaluate(node.left)
        self._evaluate_under(node.right, node.left, holds=isinstance(node.operator, cst.And))
        return UNKNOWN

    def _walrus(self, node: cst.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        if isinstance(node.target, cst.Name):
            self.values[node.target] = value
            self.env = self.env.bind(node.target.value, value)
        return value

    def _sequence(self, node: cst.Tuple | cst.List) -> Value:
        parts = tuple(self.evaluate(element.value) for element in node.elements)
        starred = any(isinstance(element, cst.StarredElement) for element in node.elements)
        return Value(Kind.TUPLE, parts=() if starred else parts)

    def _lambda(self, node: cst.Lambda) -> Value:
        outer = self.env
        for parameter in (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params):
            self.env = self.env.bind(parameter.name.value, Value())
        returned = self.evaluate(node.body)
        self.env = outer
        return Value(Kind.FUNCTION, parts=(returned,))

    def _comprehension(self, node: cst.BaseSimpleComp | cst.DictComp) -> Value:
        outer = self.env
        clause: cst.CompFor | None = node.for_in
        while clause is not None:
            self.evaluate(clause.iter)
            self.bind_target(clause.target, Value())
            for condition in clause.ifs:
                self.evaluate(condition.test)
                self.env = self.under(condition.test, holds=True)
            clause = clause.inner_for_in
        if isinstance(node, cst.DictComp):
            self.evaluate(node.key)
            self.evaluate(node.value)
        else:
            self.evaluate(node.elt)
        self.env = outer
        return UNKNOWN

    def bind_target(self, target: cst.BaseExpression, value: Value) -> None:
        """Assign `value` to a name, an attribute, an element, or to each part of a tuple."""
        if isinstance(target, (cst.Tuple, cst.List)):
            known = value.parts if len(value.parts) == len(target.elements) else ()
            for position, element in enumerate(target.elements):
                self.bind_target(element.value, known[position] if known else Value())
            return
        if isinstance(target, cst.Subscript):
            # x[mask] = 0 changes what x holds.
            self.evaluate(target)
            target, value = target.value, self._with_elements(target, value)
        text = dotted_text(target)
        if text is None:
            self.evaluate(target)
            return
        self.values[target] = value
        self.env = self.env.bind(text, value)

    def _with_elements(self, target: cst.Subscript, value: Value) -> Value:
        """What `x` holds after `x[mask] = value`; `d[d == 0] = 1` leaves no 0."""
        held = self.values.get(target.value, UNKNOWN)
        index = target.slice[0].slice if len(target.slice) == 1 else None
        kept = held.range
        if isinstance(index, cst.Index):
            kept = range_under(target.value, index.value, self, holds=False)
        return Value(held.kind, range=kept.join(value.range), dtype=held.dtype)


def _literal(constant: object) -> Value:
    kind = Kind.NONE if constant is None else Kind.TEXT if isinstance(constant, str) else Kind.NUMBER
    return Value(kind, constant=constant, range=range_of_constant(constant))


def _number(node: cst.Integer | cst.Float | cst.Imaginary) -> Value:
    try:
        return _literal(node.evaluated_value)
    except ValueError:  # thousands of digits
        return Value(Kind.NUMBER)


def _text(node: cst.SimpleString | cst.ConcatenatedString) -> Value:
    return _literal(node.evaluated_value)


def _fold(sign: cst.BaseBinaryOp, left: Value, right: Value) -> object:
    """The result of arithmetic on two known numbers; NOTHING when it is not known or not a number."""
    if left.number is None or right.number is None:
        return NOTHING
    try:
        if isinstance(sign, cst.Power):
            if abs(right.number) > _LARGEST_EXPONENT:
                return NOTHING
            result: object = left.number**right.number
        elif type(sign) in _BINARY:
            result = _BINARY[type(sign)](left.constant, right.constant)
        else:
            return NOTHING
    except (ArithmeticError, ValueError):
        return NOTHING
    return result if isinstance(result, (int, float)) else NOTHING


_HANDLERS: Mapping[type[cst.CSTNode], Callable[[Evaluator, Any], Value]] = {
    cst.Name: Evaluator._name,  # noqa: SLF001 - the table is part of the class, below it for readability
    cst.Attribute: Evaluator._attribute,  # noqa: SLF001
    cst.Call: Evaluator._call,  # noqa: SLF001
    cst.BinaryOperation: Evaluator._binary,  # noqa: SLF001
    cst.UnaryOperation: Evaluator._unary,  # noqa: SLF001
    cst.Subscript: Evaluator._subscript,  # noqa: SLF001
    cst.Comparison: Evaluator._comparison,  # noqa: SLF001
    cst.BooleanOperation: Evaluator._boolean,  # noqa: SLF001
    cst.IfExp: Evaluator._conditional,  # noqa: SLF001
    cst.NamedExpr: Evaluator._walrus,  # noqa: SLF001
    cst.Tuple: Evaluator._sequence,  # noqa: SLF001
    cst.List: Evaluator._sequence,  # noqa: SLF001
    cst.Lambda: Evaluator._lambda,  # noqa: SLF001
    cst.GeneratorExp: Evaluator._comprehension,  # noqa: SLF001
    cst.ListComp: Evaluator._comprehension,  # noqa: SLF001
    cst.SetComp: Evaluator._comprehension,  # noqa: SLF001
    cst.DictComp: Evaluator._comprehension,  # noqa: SLF001
    cst.Integer: lambda _, node: _number(node),
    cst.Float: lambda _, node: _number(node),
    cst.Imaginary: lambda _, node: UNKNOWN,
    cst.SimpleString: lambda _, node: _text(node),
    cst.ConcatenatedString: lambda _, node: _text(node),
}
