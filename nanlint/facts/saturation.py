"""What is exactly 0 where a sigmoid, a softmax or a tanh rounds to 0 or 1: everyday for a model that is sure of itself.

`1 - tanh(x) ** 2` is 0 in float32 from |x| = 9.1 on, `where(label, p, 1 - p)` wherever p is wrong and certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.relations import same
from nanlint.facts.values import UNKNOWN, Call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import libcst as cst

    from nanlint.facts.evaluate import Evaluator

    _Node = cst.BaseExpression | None

_SHARES = {"torch.sigmoid": "sigmoid", "torch.softmax": "softmax", "torch.nn.functional.softmin": "softmin"}
_DEEPEST = 4


def saturated(node: _Node, evaluator: Evaluator, depth: int = 0) -> str:
    """The function whose rounding makes `node` exactly 0: "sigmoid", "softmax", "softmin", "tanh"; "" for none."""
    origin = _origin(node, evaluator)
    if origin is None or depth == _DEEPEST:
        return ""
    if origin.function in _SHARES:
        return _SHARES[origin.function]
    combine = _COMBINING.get(origin.function)
    # What a helper made is made of things that are not seen from here.
    if combine is None or origin.node not in evaluator.values:
        return ""
    return combine(origin.arguments.get("input"), origin.arguments.get("other"), evaluator, depth)


def _difference(first: _Node, second: _Node, evaluator: Evaluator, depth: int) -> str:
    """`1 - p`."""
    del depth
    return _rest(second, evaluator) if first is not None and evaluator.values.get(first, UNKNOWN).number == 1 else ""


def _product(first: _Node, second: _Node, evaluator: Evaluator, depth: int) -> str:
    """`scale * p`, and `where(label, p, 1 - p)`."""
    return saturated(first, evaluator, depth + 1) or saturated(second, evaluator, depth + 1)


def _quotient(first: _Node, second: _Node, evaluator: Evaluator, depth: int) -> str:
    """`p / (1 - p)`."""
    del second
    return saturated(first, evaluator, depth + 1)


def _rest(node: _Node, evaluator: Evaluator) -> str:
    """As `saturated`, for what is left of `node` to 1."""
    origin = _origin(node, evaluator)
    if origin is None or origin.function in _SHARES:
        return _SHARES[origin.function] if origin is not None else ""
    squared = _origin(origin.subject, evaluator) if _is_square(origin, evaluator) else None
    return "tanh" if squared is not None and squared.function == "torch.tanh" else ""


def _sum(first: _Node, second: _Node, evaluator: Evaluator, depth: int) -> str:
    """`p * y + (1 - p) * (1 - y)`: a label picks one of the two."""
    for one, other in ((first, second), (second, first)):
        shares = [factor for factor in _factors(one, evaluator) if _is_share(factor, evaluator)]
        for rest in _factors(other, evaluator):
            taken = _origin(rest, evaluator)
            less = taken.arguments.get("other") if taken is not None and taken.function == "torch.sub" else None
            if less is not None and _rest(less, evaluator) and any(same(share, less, evaluator) for share in shares):
                return saturated(rest, evaluator, depth + 1)
    return ""


def _factors(node: _Node, evaluator: Evaluator) -> list[cst.BaseExpression]:
    product = _origin(node, evaluator)
    return list(product.arguments.values()) if product is not None and product.function == "torch.mul" else []


def _is_share(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    origin = _origin(node, evaluator)
    return origin is not None and origin.function in _SHARES


def _is_square(call: Call, evaluator: Evaluator) -> bool:
    if call.node not in evaluator.values:
        return False
    if call.function == "torch.mul":
        return same(call.subject, call.arguments.get("other"), evaluator)
    exponent = call.arguments.get("exponent")
    is_two = exponent is not None and evaluator.values.get(exponent, UNKNOWN).number == 2
    return call.function == "torch.square" or (call.function == "torch.pow" and is_two)


def _origin(node: _Node, evaluator: Evaluator) -> Call | None:
    return evaluator.values.get(node, UNKNOWN).origin if node is not None else None


_COMBINING: Mapping[str, Callable[[_Node, _Node, Evaluator, int], str]] = {
    "torch.sub": _difference,
    "torch.add": _sum,
    "torch.mul": _product,
    "torch.where": _product,
    "torch.div": _quotient,
}
