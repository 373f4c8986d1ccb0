"""How the argument of a logarithm comes to be 0 or less: where a probability rounds, where a mask is 0, with ordinary data.

`exp(x)` is 0 in float32 from x = -104 on, a sum of squares for a row of zeros, `1 - tanh(x) ** 2` from |x| = 9.1 on. Only the first takes
an underflow; a mixture of densities, `(weights * exp(-z ** 2 / 2)).sum(-1)`, is 0 some 15 deviations away from all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.op_graph import GUARDED, NUMBER, TENSOR, UNKNOWN
from nanlint.analysis.patterns.probabilities import KINDS, in_log, origins, paths_to, rest_to_one
from nanlint.analysis.picks import is_matrix
from nanlint.analysis.relations import aligned, op_behind, same
from nanlint.analysis.selection import SUBSCRIPT, VIEWS
from nanlint.ops.interval import INF, TRUTH
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.analysis.op_graph import Op, Value

_DEEPEST = 6
_UNDERFLOWING = torch_names("exp2 nn.functional.softplus erfc reciprocal special.erfcx special.ndtr logsumexp")
_PRODUCTS = torch_names("matmul bmm mm einsum mv")
_TOTALS = torch_names("sum mean nansum nanmean cumsum prod logsumexp median")
_SQUARES = torch_names("pow square mul")
_CLAMPS = torch_names("clamp clamp_min maximum")
_SCALING = torch_names("mul div neg")


class Way(NamedTuple):
    """A way for a value to be 0."""

    kind: str = ""
    """The function that rounds: "sigmoid", "softmax", "tanh", "exp"; "mask" for a factor that is 0; empty for ordinary data."""
    op: Op | None = None
    """The softmax, the exp; the product with the mask."""
    mask: str = ""
    """The operand of `op` that is the mask."""
    is_underflow: bool = False
    """Only a value that is far out makes it 0."""


class Reason(NamedTuple):
    """Why the argument of a logarithm can be 0 or less."""

    kind: str
    """"mask", "rounds", "odds", "reaches", "made", "difference", "products", "either", "learned", "unknown"; empty if nothing says that it can."""
    way: Way | None


def reason_for(log: Op, argument: Value, ops: list[Op]) -> Reason:
    """Why `argument` of `log`, one of the operations `ops` of a function, can be where the logarithm breaks."""
    is_meant = is_zero_or_one(argument) or argument.range.constant is not None
    if is_meant or in_log(log, argument) is not None or _is_broken_before(argument):
        return Reason("", None)  # of these, another rule tells what is wrong, if anything is
    if log.function == "torch.log1p":
        return Reason("reaches" if is_bounded(argument) else "", None)
    way = way_to_zero(argument)
    if way is not None and way.is_underflow:
        return Reason("", way)
    can_be_below = is_bounded(argument) and argument.range.low < 0
    kinds: dict[str, Callable[[], bool]] = {
        "mask": lambda: way is not None and way.kind == "mask",
        "rounds": lambda: way is not None and bool(way.kind),
        "odds": lambda: is_odds(log, ops),
        "reaches": lambda: can_be_below or (way is not None and is_bounded(argument)),
        "made": lambda: way is not None,
        "": lambda: is_bounded(argument) or _is_presumed_positive(argument),
        "difference": lambda: _is_difference(argument),
        "products": lambda: _is_sum_of_products(argument),
        "either": lambda: _is_p_or_the_rest(argument),
        "learned": lambda: argument.learned,
    }
    return Reason(next((kind for kind, holds in kinds.items() if holds()), "unknown"), way)


_ways_known: dict[Value, Way | None] = {}
"""What was found for each value behind the argument at hand: paths that meet again and again are gone once."""


def way_to_zero(value: Value) -> Way | None:
    """How some input makes `value` 0; None if nothing does, or nothing is known of it."""
    try:
        return _way(value, _DEEPEST)
    finally:
        _ways_known.clear()


def _way(value: Value, depth: int) -> Way | None:
    if not value.range.has_zero or not depth:
        return None
    if value not in _ways_known:
        _ways_known[value] = None
        _ways_known[value] = _found_way(value, depth)
    return _ways_known[value]


def _found_way(value: Value, depth: int) -> Way | None:
    for op in origins(value):
        way = _WAYS[op.function](op, depth) if op.function in _WAYS else None
        inner = op.subject
        if way is None and (
            op.function not in _WAYS or (_WAYS[op.function] is _carried and inner is not None and inner.range.has_zero)
        ):
            way = _ordinary(value)
        if way is not None:
            return way
    return None


def is_bounded(value: Value) -> bool:
    """Whether its range ends somewhere."""
    return value.range.low > -INF or value.range.high < INF


def _ordinary(value: Value) -> Way | None:
    return Way() if is_bounded(value) else None


def _of_share(op: Op, _: int) -> Way:
    return Way(KINDS[op.function], op)


def _of_exp(op: Op, _: int) -> Way:
    return Way("exp", op, is_underflow=True)


def _underflow(op: Op, _: int) -> Way:
    return Way("", op, is_underflow=True)


def _difference(op: Op, _: int) -> Way | None:
    """`1 - p` and `1 - tanh(x) ** 2`; of other differences the range says whether they are 0."""
    taken = op.operands.get("other")
    if taken is None or op.subject is None:
        return None
    if rest_to_one_op(op):
        squared = op_behind(taken)
        is_square = squared is not None and squared.function in _SQUARES and _is_square(squared)
        inner = squared.subject if is_square and squared is not None and squared.subject is not None else taken
        for made in origins(inner):
            if made.function in KINDS or (made.function == "torch.tanh" and is_square):
                return Way(KINDS.get(made.function, "tanh"), made)
    return Way() if taken.range.low > -INF and op.subject.range.high < INF else None


def rest_to_one_op(op: Op) -> bool:
    """Whether an operation takes something away from 1."""
    from nanlint.analysis.op_graph import Value  # noqa: PLC0415 - a value of it, to ask

    return rest_to_one(Value(TENSOR, op)) is op


def _is_square(op: Op) -> bool:
    exponent = op.operands.get("exponent")
    if op.function == "torch.mul":
        return aligned(op.operands.get("input"), op.operands.get("other"))
    return exponent is None or exponent.number == 2


def _product(op: Op, depth: int) -> Way | None:
    masks = [name for name, value in op.operands.items() if is_zero_or_one(value)]
    if len(masks) == 1 and len(op.operands) == 2:
        return Way("mask", op, masks[0])
    ways = [way for value in op.operands.values() if (way := _way(value, depth - 1)) is not None]
    ways.sort(key=lambda way: way.is_underflow)
    if not ways:
        return None
    is_scaled = any(value.kind is NUMBER for value in op.operands.values())
    # What weights make of a density is small where the density is.
    return ways[0] if is_scaled or not ways[0].kind else ways[0]._replace(is_underflow=False)


def is_zero_or_one(value: Value) -> bool:
    """Whether it is a mask, of whatever dtype."""
    return value.range.constant is None and value.range.is_subset(TRUTH) and value.range.integer


def _sum_of_products(op: Op, depth: int) -> Way | None:
    ways = [way for value in op.operands.values() if (way := _way(value, depth - 1)) is not None]
    return ways[0]._replace(is_underflow=False) if ways and ways[0].kind else ways[0] if ways else None


def _choice(op: Op, depth: int) -> Way | None:
    sides = (op.operands.get("input"), op.operands.get("other"))
    return next((way for side in sides if side is not None and (way := _way(side, depth - 1))), None)


def _addition(op: Op, depth: int) -> Way | None:
    """`p * y + (1 - p) * (1 - y)` is 0 where both are; of terms of either sign the range says it."""
    terms = [op.operands[name] for name in ("input", "other") if name in op.operands]
    ways = [_way(term, depth - 1) for term in terms]
    found = [way for way in ways if way is not None]
    if len(found) == len(terms):
        return max(found, key=lambda way: way.is_underflow)
    return Way() if all(is_bounded(term) for term in terms) and any(term.range.low < 0 for term in terms) else None


def _largest(op: Op, depth: int) -> Way | None:
    """The largest share of a row is no less than their mean."""
    if op.subject is None or any(made.function in KINDS for made in origins(op.subject)):
        return None
    return _carried(op, depth) or (Way() if op.subject.range.least >= 0 else None)


def _carried(op: Op, depth: int) -> Way | None:
    """It is 0 where its operand is; if nothing is known of that, the range of the result says whether it is 0 with ordinary data."""
    return _way(op.subject, depth - 1) if op.subject is not None else None


def _diagonal(op: Op, depth: int) -> Way | None:
    """Around a vector that it is given `diag` puts zeros."""
    return _carried(op, depth) if op.subject is not None and is_matrix(op.subject) else Way()


def _clamped(op: Op, depth: int) -> Way | None:
    """A bound above 0 lets nothing through; one that is no number here is a guard that somebody sets."""
    bound = op.operands.get("min") or op.operands.get("other")
    if bound is not None and bound.range.low > 0:
        return None
    if bound is not None and bound.range.constant is None and bound.kind in {NUMBER, UNKNOWN}:
        return None
    return _carried(op, depth) or (Way() if op.subject is not None and op.subject.range.has_zero else None)


def _is_broken_before(value: Value) -> bool:
    """Whether it is a quotient by something that is 0 at times: what is wrong is the division."""
    op = op_behind(value)
    below = op.operands.get("other") if op is not None and op.function == "torch.div" else None
    return below is not None and is_bounded(below) and below.range.has_zero and rest_to_one(below) is None


def _is_presumed_positive(value: Value) -> bool:
    """`x + eps` of which nothing else is known: who adds an eps knows that x is not negative. So does who sets a lower bound."""
    op = op_behind(value)
    if op is None:
        return False
    if op.function in _SCALING:
        factors = [each for each in op.operands.values() if each.kind is not NUMBER]
        return bool(factors) and all(each.range.low > 0 or _is_presumed_positive(each) for each in factors)
    if op.function in _CLAMPS:
        bound = op.operands.get("min") or op.operands.get("other")
        return bound is not None and bound.range.constant is None
    terms = list(op.operands.values()) if op.function == "torch.add" else []
    return any(_is_eps(term) for term in terms) and not any(is_bounded(term) and term.range.low < 0 for term in terms)


def _is_eps(term: Value) -> bool:
    return term.kind is NUMBER and (term.range.constant is None or 0 < term.range.constant <= 1)


def is_kept_on_some_path(value: Value) -> bool:
    """Whether one of the paths that lead here keeps it above 0: whoever comes another way has seen to it elsewhere, or has not."""
    rest = rest_to_one(value)
    if rest is not None:
        return any(each.range.high < 1 for each in paths_to(rest.operands["other"]))
    return any(each.range.low > 0 for each in paths_to(value))


def _is_difference(value: Value) -> bool:
    """Whether it is one tensor less another of which as little is known, or a number times such a thing."""
    op = op_behind(value)
    if op is None:
        return False
    first, second = op.operands.get("input"), op.operands.get("other")
    if first is None or second is None:
        return False
    if op.function == "torch.mul" and (first.kind is NUMBER) is not (second.kind is NUMBER):
        return _is_difference(second if first.kind is NUMBER else first)
    if op.function == "torch.add":
        # Of two terms one is a size, and nothing keeps the other from being its opposite.
        return NUMBER not in {first.kind, second.kind} and sorted(each.range.low >= 0 for each in (first, second)) == [
            False,
            True,
        ]
    return op.function == "torch.sub" and first.kind is not NUMBER and second.kind is not NUMBER


def _is_sum_of_products(value: Value) -> bool:
    """Whether it is a product of matrices: its terms may cancel, or all be 0."""
    op = op_behind(value)
    return op is not None and op.function in _PRODUCTS


def _is_p_or_the_rest(value: Value) -> bool:
    """`where(y == 1, p, 1 - p)`: what is chosen from are the probabilities of two classes."""
    op = op_behind(value)
    sides = (
        [op.operands.get(name) for name in ("input", "other")]
        if op is not None and op.function == "torch.where"
        else []
    )
    for one, other in (sides, sides[::-1]) if None not in sides and sides else ():
        rest = rest_to_one(one) if one is not None else None
        if rest is not None and same(rest.operands.get("other"), other):
            return True
    return False


def is_raised(value: Value) -> bool:
    """Whether an eps was added to what can be negative."""
    op = op_behind(value)
    return op is not None and op.function == "torch.add" and any(map(_is_eps, op.operands.values()))


def is_odds(log: Op, ops: list[Op]) -> bool:
    """Whether `log` is of `x / (1 - x)` or `(1 + x) / (1 - x)`, or the first half of `log(x) - log(1 - x)`."""
    return (log.subject is not None and _is_quotient_of_odds(log.subject)) or _is_logit(log, ops)


def _is_quotient_of_odds(value: Value) -> bool:
    """`x / (1 - x)` and `(1 + x) / (1 - x)`: 0 at one end of what x can be, infinite at the other."""
    op = op_behind(value)
    below = op.operands.get("other") if op is not None and op.function == "torch.div" else None
    rest = rest_to_one(below) if below is not None and below.range.has_zero else None
    if op is None or rest is None or op.subject is None:
        return False
    plus = op_behind(op.subject)
    terms = list(plus.operands.values()) if plus is not None and plus.function == "torch.add" else [op.subject]
    return any(same(term, rest.operands.get("other")) for term in terms)


def _is_logit(log: Op, ops: list[Op]) -> bool:
    """Whether from `log`, of p, the logarithm of 1 - p is taken: the logit by hand."""
    for op in ops:
        left, right = op.operands.get("input"), op.operands.get("other")
        if op.function != "torch.sub" or left is None or right is None or left.op is not log or right.op is None:
            continue
        inner = right.op.subject if right.op.function in {"torch.log", "torch.log1p"} else None
        made = op_behind(inner)
        is_rest = made is not None and (
            made.function == "torch.neg" if right.op.function == "torch.log1p" else rest_to_one_op(made)
        )
        if made is not None and is_rest and same(list(made.operands.values())[-1], log.subject):
            return True
    return False


_CARRYING = torch_names("""
    abs square pow sqrt neg clamp_max norm linalg.norm linalg.vector_norm expm1 log1p diff masked_fill
""")
_WAYS: Mapping[str, Callable[[Op, int], Way | None]] = {
    **dict.fromkeys(KINDS, _of_share),
    "torch.exp": _of_exp,
    **dict.fromkeys(_UNDERFLOWING, _underflow),
    **dict.fromkeys(_TOTALS, _carried),
    **dict.fromkeys(_CARRYING, _carried),
    **dict.fromkeys(_PRODUCTS, _sum_of_products),
    **dict.fromkeys(_CLAMPS, _clamped),
    **dict.fromkeys(torch_names("max amax"), _largest),
    **dict.fromkeys(VIEWS | {SUBSCRIPT, GUARDED}, _carried),
    "torch.diag": _diagonal,
    "torch.sub": _difference,
    "torch.mul": _product,
    "torch.div": _carried,
    "torch.where": _choice,
    "torch.add": _addition,
}
