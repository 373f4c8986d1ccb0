"""What stands under a root: which part of it decides whether it is 0, and whether it is a difference that rounds below 0.

`x.pow(2).sum() / n` is 0 where the sum is, whatever n is; `|a|^2 + |b|^2 - 2ab` is never negative on paper alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.given import is_given
from nanlint.facts.log_arguments import made_as
from nanlint.facts.naming import words_of
from nanlint.facts.parts import root
from nanlint.facts.relations import same
from nanlint.facts.values import UNKNOWN, Kind
from nanlint.ops.names import SIGNATURES

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Value

_ADD, _SUB, _MUL, _DIV = "torch.add", "torch.sub", "torch.mul", "torch.div"
_PRODUCTS = ("torch.matmul", "torch.mm", "torch.bmm")
_SUMS, _EINSUM, _SIDES = frozenset({"torch.sum", "torch.mean"}), "torch.einsum", 3
# What is called so is a square, of which somebody takes the root.
_SQUARES = frozenset(
    {"sq", "sqr", "square", "squared", "squares", "variance", "variances", "mse", "energy", "distance", "distances", "dist", "dists", "sqdist", "dist2", "d2", "r2"}
)  # fmt: skip


def divided(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression:
    """`x` of `x / n` and `bank @ x` if x is never negative and nothing is known of the other: they are 0 together."""
    for product in _PRODUCTS:
        factors = list(made.arguments.values()) if (made := made_as(node, evaluator, product)) is not None else []
        sizes = [factor for factor in factors if _is_size(evaluator.values.get(factor, UNKNOWN))]
        # What is above 0 before the product is not so behind it, where a row of the other one is 0.
        if len(sizes) == 1:
            return sizes[0] if evaluator.values.get(sizes[0], UNKNOWN).range.has_zero else node
    made = made_as(node, evaluator, _DIV)
    above, below = (made.arguments.get("input"), made.arguments.get("other")) if made is not None else (None, None)
    if above is None or below is None or evaluator.values.get(below, UNKNOWN).is_known:
        return node
    return above if _is_size(evaluator.values.get(above, UNKNOWN)) else node


def _is_size(value: Value) -> bool:
    return value.is_known and value.range.low >= 0


def is_square_by_name(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether it is given, or made by a helper, under the name of a square, a variance, an energy or a distance."""
    value = evaluator.values.get(node, UNKNOWN)
    made = value.made_by
    is_named = isinstance(node, cst.Name) and made is None and is_given(node, evaluator)
    is_helped = made is not None and made.node is node and made.function not in SIGNATURES and not value.is_known
    return (is_named or is_helped) and not _SQUARES.isdisjoint(words_of(node))


def is_expanded_square(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`a + b - 2 * c` of tensors: the square of a difference, multiplied out."""
    made = made_as(node, evaluator, _SUB)
    total = made_as(made.arguments.get("input"), evaluator, _ADD) if made is not None else None
    twice = made_as(made.arguments.get("other"), evaluator, _MUL) if made is not None else None
    if total is None or twice is None:
        return False
    factors = [evaluator.values.get(factor, UNKNOWN) for factor in twice.arguments.values()]
    parts = [evaluator.values.get(part, UNKNOWN) for part in total.arguments.values()]
    is_doubled = [factor.number == 2 for factor in factors].count(True) == 1
    return is_doubled and all(part.kind is Kind.TENSOR and part.number is None for part in parts)


def is_quadratic_form(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`(d @ a * d).sum()`, `d @ a @ d.T` and `einsum("i,ij,j->", d, a, d)`: a squared distance by a matrix, inverted as a rule."""
    made = evaluator.values.get(node, UNKNOWN).origin
    if made is None or made.node not in evaluator.values:
        return False
    if made.function in _SUMS:
        made = made_as(made.subject, evaluator, _MUL)
    if made is None or made.function not in {_MUL, _EINSUM, *_PRODUCTS}:
        return False
    if made.function == _EINSUM:
        operands = [argument.value for argument in made.node.args[1:]] if isinstance(made.node, cst.Call) else []
        return len(operands) == _SIDES and same(root(operands[0], evaluator), root(operands[-1], evaluator), evaluator)
    factors = list(made.arguments.values())
    pairs = ((one, other) for one in factors for other in factors if one is not other)
    return any(_is_product_with(one, other, evaluator) for one, other in pairs)


def _is_product_with(product: cst.BaseExpression, vector: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether `product` is that of `vector` and a matrix which is not made of it."""
    made = next(filter(None, (made_as(product, evaluator, each) for each in _PRODUCTS)), None)
    factors = [root(factor, evaluator) for factor in made.arguments.values()] if made is not None else []
    return [same(factor, root(vector, evaluator), evaluator) for factor in factors].count(True) == 1
