"""What operators and conditions make of their operands, when `Evaluator` meets them.

Chains of thousands of operators are walked along, not down into: Python's stack would not hold them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.calculate import COUNT, part_of_tensor, value_made_by
from nanlint.facts.calls import bind_augmented, bind_operator
from nanlint.facts.literals import folded, literal
from nanlint.facts.mask_bounds import definition
from nanlint.facts.relations import range_under
from nanlint.facts.values import UNKNOWN, Call, Form, Kind, Value, join
from nanlint.ops.interval import FINITE, Interval, point

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator

BOOLEAN = Interval(0.0, 1.0, integer=True)
_BITWISE = frozenset({"torch.bitwise_and", "torch.bitwise_or"})


def binary(evaluator: Evaluator, node: cst.BinaryOperation) -> Value:
    """`a + b * c - d`: the value of the whole; that of each left part is recorded."""
    chain = [node]
    while type(left := chain[-1].left) is cst.BinaryOperation:
        chain.append(left)
    value = evaluator.evaluate(chain[-1].left)
    for inner in reversed(chain):
        value = _operated(evaluator, inner, value, evaluator.evaluate(inner.right))
        if inner is not node:
            value = evaluator.record(inner, value)
    return value


def _operated(evaluator: Evaluator, node: cst.BinaryOperation, left: Value, right: Value) -> Value:
    constant = folded(node, left, right)
    if constant is not None:
        return constant
    call = bind_operator(node)
    if call is None:
        return UNKNOWN
    evaluator.calls[node] = call
    return _made_of(call, left, right, evaluator)


def augmented(evaluator: Evaluator, node: cst.AugAssign) -> Value:
    """`x /= y`: what x holds afterwards. The call is recorded under the statement, which stands for its value."""
    left, right = evaluator.evaluate(node.target), evaluator.evaluate(node.value)
    call = bind_augmented(node)
    if call is None:
        return Value(left.kind)
    evaluator.calls[node] = call
    evaluator.envs[node] = evaluator.env
    value = evaluator.values[node] = _made_of(call, left, right, evaluator)
    return value


def _made_of(call: Call, left: Value, right: Value, evaluator: Evaluator) -> Value:
    value = value_made_by(call, evaluator)
    if call.function in _BITWISE:
        value = _masked(call.function, value, left, right)
    if left.kind is Kind.TENSOR or right.kind is Kind.TENSOR:
        return value
    # Two Python numbers make one; of two unknowns nobody can say what they make, unless both are truth values.
    dtype = "bool" if left.dtype == right.dtype == "bool" and value.range == BOOLEAN else ""
    are_numbers = left.kind is Kind.NUMBER and right.kind is Kind.NUMBER
    return value.but(kind=Kind.NUMBER if are_numbers else Kind.UNKNOWN, dtype=dtype)


def _masked(function: str, value: Value, *operands: Value) -> Value:
    """The value of `a & b`, `a | b` or `~a`: a mask, if one is in it. What nobody knows stays unknown: no integer."""
    is_mask = [operand.range.is_subset(BOOLEAN) for operand in operands]
    if all(is_mask) or (function == "torch.bitwise_and" and any(is_mask)):
        return value.but(range=BOOLEAN, dtype="bool" if any(each.dtype == "bool" for each in operands) else "")
    return value if all(operand.is_known for operand in operands) else value.but(range=FINITE)


def unary(evaluator: Evaluator, node: cst.UnaryOperation) -> Value:
    """`-x` and `~x` are operations on x, `not x` a truth value."""
    inner = evaluator.evaluate(node.expression)
    if isinstance(node.operator, cst.Not):
        return Value(Kind.NUMBER)
    if isinstance(node.operator, cst.Minus):
        if isinstance(inner.constant, (int, float)):
            return literal(-inner.constant, node, assumed=inner.assumed)
        call = Call("torch.neg", node, Form.OPERATOR, {"input": node.expression})
        evaluator.calls[node] = call
        return value_made_by(call, evaluator).but(kind=inner.kind)
    if isinstance(node.operator, cst.BitInvert) and inner.number is None:
        call = evaluator.calls[node] = Call("torch.bitwise_not", node, Form.OPERATOR, {"input": node.expression})
        value = value_made_by(call, evaluator)
        # Of an integer 0 it is -1; what nobody knows the dtype of, and is 0 or 1, is a mask.
        if inner.dtype == "int":
            value = value.but(range=Interval(-1 - inner.range.high, -1 - inner.range.low, integer=True))
        else:
            value = _masked(call.function, value, inner)
        return value.but(kind=inner.kind, dtype=inner.dtype)
    return Value(inner.kind, dtype=inner.dtype)


def subscript(evaluator: Evaluator, node: cst.Subscript) -> Value:
    """An element of a known tuple, or a part of a tensor."""
    base = evaluator.evaluate(node.value)
    for element in node.slice:
        if type(element.slice) is cst.Index:
            evaluator.evaluate(element.slice.value)
        else:
            evaluator.evaluate_below(element.slice)
    index = _index_of(evaluator, node)
    if base.parts and index is not None and -len(base.parts) <= index < len(base.parts):
        return base.parts[index]
    if base.kind is Kind.TUPLE:
        return Value(Kind.NUMBER, range=base.range) if base.range == COUNT else UNKNOWN
    if base.kind is not Kind.TENSOR:
        return Value(detached=True) if base.detached else UNKNOWN
    call = evaluator.calls[node] = Call("subscript", node, Form.OPERATOR, {"input": node.value})
    return part_of_tensor(call, base).but(range=_selected_range(evaluator, node))


def _selected_range(evaluator: Evaluator, node: cst.Subscript) -> Interval:
    """What `x[x > 0]` holds: values of x that pass the test."""
    first = node.slice[0].slice if len(node.slice) == 1 else None
    if not isinstance(first, cst.Index):
        return evaluator.range_of(node.value)
    return range_under(node.value, definition(first.value, evaluator), evaluator, holds=True)


def _index_of(evaluator: Evaluator, node: cst.Subscript) -> int | None:
    first = node.slice[0].slice if len(node.slice) == 1 else None
    if not isinstance(first, cst.Index):
        return None
    constant = evaluator.values.get(first.value, UNKNOWN).constant
    return constant if type(constant) is int else None


def comparison(evaluator: Evaluator, node: cst.Comparison) -> Value:
    """A truth value, or a mask where a tensor is compared."""
    operands = [evaluator.evaluate(node.left)]
    operands += [evaluator.evaluate(target.comparator) for target in node.comparisons]
    evaluator.comparisons.append(node)
    tensor = any(value.kind is Kind.TENSOR for value in operands)
    call = Call("comparison", node, Form.OPERATOR, {"input": node.left})
    return Value(Kind.TENSOR if tensor else Kind.UNKNOWN, call, call, range=BOOLEAN, dtype="bool", detached=True)


def boolean(evaluator: Evaluator, node: cst.BooleanOperation) -> Value:
    """`a or b` is one of the two; each part is seen under what the parts before it have told."""
    chain = [node]
    while isinstance(chain[-1].left, cst.BooleanOperation):
        chain.append(chain[-1].left)
    value = evaluator.evaluate(chain[-1].left)
    outer, sign = evaluator.env, type(chain[-1].operator)
    told = chain[-1].left
    for inner in reversed(chain):
        if type(inner.operator) is not sign:
            # `(a and b) or c`: what a and b have told separately does not hold for c.
            evaluator.env, sign, told = evaluator.env.told_as(outer), type(inner.operator), inner.left
        evaluator.env = evaluator.under(told, holds=sign is cst.And)
        value, told = _one_of(value, sign, evaluator.evaluate(inner.right)), inner.right
        if inner is not node:
            value = evaluator.record(inner, value)
    evaluator.env = evaluator.env.told_as(outer)
    return value


def _one_of(left: Value, sign: type[cst.CSTNode], right: Value) -> Value:
    """`n or 1` is n only where n is not 0, `n and 1` is n only where it is 0."""
    if left.kind is Kind.NUMBER or right.kind is Kind.NUMBER:
        kept = left.range.without_zero() if sign is cst.Or else left.range.meet(point(0.0))
        left = left.but(range=kept, same_as=left.identity)
    return join(left, right)


def conditional(evaluator: Evaluator, node: cst.IfExp) -> Value:
    """`a if test else b` is one of the two."""
    evaluator.evaluate(node.test)
    then = evaluator.evaluate_under(node.body, node.test, holds=True)
    return join(then, evaluator.evaluate_under(node.orelse, node.test, holds=False))
