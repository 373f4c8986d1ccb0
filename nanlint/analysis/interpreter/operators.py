"""Operators: arithmetic, comparisons, `and`, `or` and `if else`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.conditions import AND, IS_NONE, NOT, OR
from nanlint.analysis.interpreter.environment import Env, meet
from nanlint.analysis.interpreter.expressions import Expressions
from nanlint.analysis.op_graph import CALL, JOIN, NUMBER, TEXT, TUPLE, Op, Value
from nanlint.analysis.project.syntax_names import MIRRORED
from nanlint.ops.interval import TRUTH, point
from nanlint.ops.names import OPERATORS
from nanlint.ops.signatures import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Mapping

_SIGNS: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
    ast.GtE: ">=",
}  # fmt: skip
_SIDES = ("input", "other")
# 10 ** 10 ** 10 in somebody's source must not keep us busy.
_LARGEST_EXPONENT = 400


class Operators(Expressions):
    """Evaluates operators."""

    evaluated_whole: tuple[Value, bool, dict[str, Value]] | None
    """The last `and` or `or`, which of the two, and the names after all its parts."""

    def _binary(self, node: ast.BinOp) -> Value:
        chain = [node]
        while type(left := chain[-1].left) is ast.BinOp:
            chain.append(left)
        value = self.evaluate(chain[-1].left)
        for inner in reversed(chain):
            right = self.evaluate(inner.right)
            value = self.operated(type(inner.op), (value, inner.left), (right, inner.right), inner)
            if self.env.guards:
                value = self.env.seen(value, self.maker)
        return value

    def operated(
        self,
        sign: type[ast.AST],
        one: tuple[Value, ast.AST],
        two: tuple[Value, ast.AST],
        node: ast.AST,
        *,
        in_place: bool = False,
    ) -> Value:
        """What an operator makes of its two sides, each a value and where it is written."""
        (left, left_node), (right, right_node) = one, two
        function = OPERATORS.get(_SIGNS.get(sign, ""))
        if function is None:
            return self.unknown(CALL, "operator", node, {"input": left, "other": right})
        if left.kind is TEXT or (left.kind is TUPLE and left.name != "shape" and sign in {ast.Add, ast.Mult}):
            return self._joined_sequences(left, right, node)
        if function == "torch.pow" and left.number is not None and abs(right.number or 0) > _LARGEST_EXPONENT:
            return Value(NUMBER, Op(CALL, {}, node, self.function), detached=True)
        first, second = PARAMETERS[function][:2]
        operands = {first.name: left, second.name: right}
        nodes = {first.name: left_node, second.name: right_node}
        return self.emit(function, operands, node, nodes, operator=True, in_place=in_place)

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
        return self.emit(function, {"input": inner}, node, {"input": node.operand}, operator=True)

    def _compare(self, node: ast.Compare) -> Value:
        left, left_node = self.evaluate(node.left), node.left
        results = []
        for sign, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(right_node)
            if isinstance(sign, ast.Is | ast.IsNot | ast.In | ast.NotIn):
                op = Op(IS_NONE, {"input": left, "other": right}, node, self.function)
                results.append(Value(NUMBER, op, range=TRUTH, dtype="bool", detached=True))
            else:
                # `0 < x` is `x > 0`: a number stands on the right.
                is_turned = left.number is not None and right.number is None
                word = _SIGNS[MIRRORED[type(sign)] if is_turned else type(sign)]
                one, two = (right, left) if is_turned else (left, right)
                nodes = dict(
                    zip(_SIDES, (right_node, left_node) if is_turned else (left_node, right_node), strict=True)
                )
                value = self.emit(OPERATORS[word], {"input": one, "other": two}, node, nodes, operator=True)
                value.range, value.dtype, value.detached = TRUTH, "bool", True
                results.append(value)
            left, left_node = right, right_node
        if len(results) == 1:
            return results[0]
        op = Op(AND, {str(place): value for place, value in enumerate(results)}, node, self.function)
        return Value(NUMBER, op, range=TRUTH, dtype="bool", detached=True)

    def _boolean(self, node: ast.BoolOp) -> Value:
        """`a or b` is one of the two; each part is seen under what the parts before it have told."""
        outer, values, is_and = self.env, list[Value](), isinstance(node.op, ast.And)
        certain = outer
        for part in node.values:
            value = self.evaluate(part)
            certain = certain if values else self.env.copy()
            values.append(value)
            names = self.env.names
            self.env = self.env.under(value, holds=is_and)
            self.env.names = names
        # What a walrus has bound stays, or may have; what the parts have told does not.
        complete = self.env.names
        self.env = self._left_by([certain, self.env], outer, node)
        results = [_as_result(value, is_and=is_and, last=value is values[-1]) for value in values]
        joined = self.maker.join(results, node, self.function)
        op = Op(AND if is_and else OR, {str(place): value for place, value in enumerate(values)}, node, self.function)
        result = joined.but(op=op) if joined.range == TRUTH or joined.kind is NUMBER else joined
        if result.op is not None and result.op.function == JOIN and result.op.node is node:
            result.op.where = op.function
        self.evaluated_whole = (result, is_and, complete)
        return result

    def where(self, test: Value, *, holds: bool) -> Env:
        """The environment where a test holds, or does not: of `a and (n := b)` that holds, all parts were evaluated."""
        env = self.env.under(test, holds=holds)
        if self.evaluated_whole is not None and self.evaluated_whole[0] is test and self.evaluated_whole[1] is holds:
            env.names = dict(self.evaluated_whole[2])
        return env

    def _left_by(self, ends: list[Env], outer: Env, node: ast.AST) -> Env:
        """What the names hold after an expression of which not every part is evaluated."""
        names = meet(ends, self.maker, node, self.function).names
        return Env(names, outer.guards)

    def _conditional(self, node: ast.IfExp) -> Value:
        test = self.evaluate(node.test)
        outer = self.env
        results, ends = [], []
        for branch, holds in ((node.body, True), (node.orelse, False)):
            self.env = outer.under(test, holds=holds)
            results.append(self.evaluate(branch))
            ends.append(self.env)
        self.env = self._left_by(ends, outer, node)
        return self.maker.join(results, node, self.function)


def _as_result(value: Value, *, is_and: bool, last: bool) -> Value:
    """`n or 1` is n only where n is not 0, `n and 1` is n only where it is 0."""
    if last or value.kind is not NUMBER:
        return value
    return value.but(range=value.range.meet(point(0.0)) if is_and else value.range.without_zero())
