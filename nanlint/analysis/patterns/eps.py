"""Small numbers that are added to keep something from 0, and where they do not: inside relu, before a product, after a root."""

from __future__ import annotations

from typing import NamedTuple

from nanlint.analysis.op_graph import Op, Value, made_from
from nanlint.analysis.relations import maker, op_behind
from nanlint.word_sets import torch_names

_ADD, _SWALLOWING = frozenset({"torch.add"}), torch_names("relu nn.functional.softplus")
_PRODUCTS, _CLAMPS = torch_names("matmul bmm mm"), torch_names("clamp clamp_min")
_LARGEST = 1e-3


class Raised(NamedTuple):
    """`value + eps`."""

    sum: Op
    value: Value
    eps: Value

    @property
    def eps_name(self) -> str:
        """The operand of the sum that the eps is."""
        return next(name for name, value in self.sum.operands.items() if value is self.eps)


def raised(op: Op | None) -> Raised | None:
    """The two terms of a sum of which one is a small number; None for any other operation."""
    terms = list(op.operands.values()) if op is not None and op.function in _ADD and len(op.operands) == 2 else []
    for value, eps in (terms, terms[::-1]) if terms else ():
        if op is not None and 0 < (eps.range.constant or 0) <= _LARGEST and value.range.constant is None:
            return Raised(op, value, eps)
    return None


def swallowed(value: Value) -> tuple[Op, Raised] | None:
    """`relu(x + eps)` and the sum in it, if x can be negative: then it is 0 all the same."""
    outer = maker(value, _SWALLOWING)
    inner = raised(made_from(outer.subject)) if outer is not None and outer.subject is not None else None
    return (outer, inner) if outer is not None and inner is not None and inner.value.range.least < 0 else None


def is_clamped_to_zero(value: Value) -> bool:
    """`x.clamp(min=0)`, where the 0 is written here."""
    clamp = maker(value, _CLAMPS)
    floor = clamp.operands.get("min") if clamp is not None else None
    return floor is not None and floor.number == 0 and not floor.assumed


def is_raised_before_product(value: Value) -> bool:
    """`(p + eps) @ q`: the product can be 0."""
    product = maker(value, _PRODUCTS)
    return product is not None and any(raised(op_behind(each)) is not None for each in product.operands.values())
