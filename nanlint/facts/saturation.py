"""What is exactly 0 where a sigmoid, a softmax or a tanh rounds to 0 or 1: everyday for a model that is sure of itself.

`1 - tanh(x) ** 2` is 0 in float32 from |x| = 9.1 on, `where(label, p, 1 - p)` wherever p is wrong and certain, and a mixture of
densities, `(weights * exp(-z ** 2 / 2)).sum(-1)`, 15 deviations away from all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.exponents import is_log_probability
from nanlint.facts.relations import same
from nanlint.facts.values import UNKNOWN, Call
from nanlint.ops.interval import INF

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import libcst as cst

    from nanlint.facts.evaluate import Evaluator

    _Node = cst.BaseExpression | None

_SHARES = {"torch.sigmoid": "sigmoid", "torch.softmax": "softmax", "torch.nn.functional.softmin": "softmin"}
_LIKELIHOODS = frozenset({".log_prob", "torch.log_softmax"})
_DEEPEST = 4
_MOST_FACTORS = 8
_SCALING = frozenset({"torch.neg", "torch.mul", "torch.div", "torch.sum"})


def saturated(node: _Node, evaluator: Evaluator, depth: int = 0) -> str:
    """The function whose rounding makes `node` exactly 0: "sigmoid", "softmax", "softmin", "tanh", "exp"; "" for none."""
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


def _choice(first: _Node, second: _Node, evaluator: Evaluator, depth: int) -> str:
    """`where(label, p, 1 - p)`."""
    return saturated(first, evaluator, depth + 1) or saturated(second, evaluator, depth + 1)


def _product(first: _Node, second: _Node, evaluator: Evaluator, depth: int) -> str:
    """`scale * (1 - p)`; of `scale * p` the logarithm is, but for a number, that of p, of which NAN110 tells."""
    factors = [factor for factor in (first, second) if factor is not None and not _is_share(factor, evaluator)]
    return next(filter(None, (saturated(factor, evaluator, depth + 1) for factor in factors)), "")


def _quotient(first: _Node, second: _Node, evaluator: Evaluator, depth: int) -> str:
    """`p / (1 - p)`."""
    del second
    return saturated(first, evaluator, depth + 1)


def _total(first: _Node, second: _Node, evaluator: Evaluator, depth: int) -> str:
    """`(weights * exp(-z ** 2)).sum(-1)`; without weights it is a sum of kernels, of which one is often 1."""
    del second, depth
    factors, pending = list[Call](), [first]
    while pending and len(factors) < _MOST_FACTORS:
        made = _origin(pending.pop(), evaluator)
        if made is not None and made.function in {"torch.mul", "torch.div"} and made.node in evaluator.values:
            pending += [made.subject] if made.function == "torch.div" else made.arguments.values()
        elif made is not None:
            factors.append(made)
    is_density = any(factor.function == "torch.exp" and _is_falling(factor, evaluator) for factor in factors)
    is_product = evaluator.values.get(first, UNKNOWN).origin not in factors if first is not None else False
    return "exp" if is_density and is_product else ""


def _is_falling(exp: Call, evaluator: Evaluator) -> bool:
    """Whether it is of minus a square or a sum of squares, by whatever factor, or of what a distribution says of a sample."""
    reach = evaluator.values.get(exp.subject, UNKNOWN).range if exp.subject is not None else UNKNOWN.range
    made = _origin(exp.subject, evaluator)
    if made is not None and made.function in _LIKELIHOODS:
        return True
    for _ in range(_DEEPEST):
        if made is None or _is_square(made, evaluator) or made.function not in _SCALING:
            break
        parts = [_origin(part, evaluator) for part in made.arguments.values()]
        made = next((part for part in parts if part is not None), None)
    return reach.high <= 0 and reach.low == -INF and made is not None and _is_square(made, evaluator)


def _rest(node: _Node, evaluator: Evaluator) -> str:
    """As `saturated`, for what is left of `node` to 1."""
    origin = _origin(node, evaluator)
    if origin is None or origin.function in _SHARES:
        return _SHARES[origin.function] if origin is not None else ""
    squared = _origin(origin.subject, evaluator) if _is_square(origin, evaluator) else None
    return "tanh" if squared is not None and squared.function == "torch.tanh" else ""


def _sum(first: _Node, second: _Node, evaluator: Evaluator, depth: int) -> str:
    """`p * y + (1 - p) * (1 - y)`: a label picks one of the two. `a * logp.exp() + b * logq.exp()`: both are sure of another."""
    for one, other in ((first, second), (second, first)):
        shares = [factor for factor in _factors(one, evaluator) if _is_share(factor, evaluator)]
        for rest in _factors(other, evaluator):
            taken = _origin(rest, evaluator)
            less = taken.arguments.get("other") if taken is not None and taken.function == "torch.sub" else None
            if less is not None and _rest(less, evaluator) and any(same(share, less, evaluator) for share in shares):
                return saturated(rest, evaluator, depth + 1)
    terms = [[*_factors(term, evaluator), term] for term in (first, second)]
    return "exp" if all(any(_is_likelihood(factor, evaluator) for factor in term) for term in terms) else ""


def _is_likelihood(node: _Node, evaluator: Evaluator) -> bool:
    exp = _origin(node, evaluator)
    if exp is None or exp.function != "torch.exp":
        return False
    made = _origin(exp.subject, evaluator)
    return is_log_probability(exp.subject) or (made is not None and made.function in _LIKELIHOODS)


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
    "torch.where": _choice,
    "torch.div": _quotient,
    "torch.sum": _total,
}
