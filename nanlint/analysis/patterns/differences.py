"""What is never negative on paper and rounds below 0: squares multiplied out, quadratic forms, differences of two things in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import TENSOR, UNKNOWN, Value
from nanlint.analysis.patterns.under_roots import is_kept_elsewhere, squared
from nanlint.analysis.relations import aligned, maker, op_behind, root, same
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op

_SUB, _ADD, _MUL = (frozenset({f"torch.{word}"}) for word in ("sub", "add", "mul"))
_EINSUM = frozenset({"torch.einsum"})
_PRODUCTS = torch_names("matmul mm bmm")
_SUMS = torch_names("sum mean")
_SIZES = torch_names("abs square norm linalg.norm linalg.vector_norm")
_SIDES = 3


def is_expanded_square(value: Value) -> bool:
    """`a + b - 2 * c` of tensors: the square of a difference, multiplied out."""
    less = maker(value, _SUB)
    total = maker(less.operands.get("input"), _ADD) if less is not None else None
    twice = maker(less.operands.get("other"), _MUL | _PRODUCTS) if less is not None else None
    if total is None or twice is None:
        return False
    factors = [part for each in twice.operands.values() for part in (each, *_factors(each))]
    parts = [part for part in total.operands.values() if part.kind in {TENSOR, UNKNOWN} and part.number is None]
    return [factor.number for factor in factors].count(2) == 1 and len(parts) == len(total.operands)


def _factors(value: Value) -> list[Value]:
    product = maker(value, _MUL)
    return list(product.operands.values()) if product is not None else []


def is_quadratic_form(value: Value) -> bool:
    """`(d @ a * d).sum()`, `d @ a @ d.T` and `einsum("i,ij,j->", d, a, d)`: a squared distance by a matrix, inverted as a rule."""
    made = op_behind(value)
    if made is not None and made.function in _SUMS:
        made = maker(made.subject, _MUL)
    if made is None:
        return False
    if made.function in _EINSUM:
        sides = [*made.operands.values(), *made.rest][1:]
        sides = list(sides[0].parts) if len(sides) == 1 and sides[0].parts else sides
        return len(sides) == _SIDES and same(sides[0], sides[-1])
    factors = list(made.operands.values()) if made.function in _PRODUCTS | _MUL else []
    return any(_is_product_with(one, other) for one in factors for other in factors if one is not other)


def _is_product_with(product: Value, vector: Value) -> bool:
    """Whether `product` is that of `vector` and a matrix which is not made of it."""
    made = maker(product, _PRODUCTS)
    return made is not None and [same(each, vector) for each in made.operands.values()].count(True) == 1


def is_sum_of_products(value: Value) -> bool:
    """`(a * b).sum()` or `a @ b` of different things, of which neither is known not to be negative."""
    total = maker(value, _SUMS)
    made = maker(value, _PRODUCTS) if total is None else maker(total.subject, _MUL)
    factors = list(made.operands.values()) if made is not None else []
    is_square = len(factors) > 1 and (aligned(factors[0], factors[1]) or same(factors[0], factors[1]))
    return bool(factors) and not is_square and not any(each.range.low >= 0 for each in factors)


def difference(value: Value) -> Op | None:
    """`a - b` of which neither is a setting or was given a bound; None for anything else."""
    less = maker(value, _SUB)
    sides = less.operands.values() if less is not None else ()
    return less if not any(side.number is None and is_kept_elsewhere(side) for side in sides) else None


def is_rest(value: Value) -> bool:
    """Whether it is what something leaves of a number, as `1 - x.abs()`: negative where that is large."""
    return maker(value, _SUB) is not None


def is_size(value: Value | None) -> bool:
    """Whether it is a square or an absolute value, or a number times one."""
    made = op_behind(value)
    if value is None or made is None:
        return False
    factors = made.operands.values() if made.function == "torch.mul" else ()
    return made.function in _SIZES or squared(root(value)) is not None or any(map(is_size, factors))
