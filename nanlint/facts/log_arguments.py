"""What takes the argument of a logarithm to 0 or below, whatever else is in it.

A factor that is a mask does, of whatever sign the other one is; so does a tanh that was stretched past 1 before it is
squared and taken from 1, as the correction for a squashed action is written where the action is the one of the environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.eps import raised
from nanlint.facts.given import is_given
from nanlint.facts.naming import words_of
from nanlint.facts.relations import same
from nanlint.facts.unkept import is_kept
from nanlint.facts.values import UNKNOWN, Kind
from nanlint.ops.interval import INF
from nanlint.ops.names import SIGNATURES

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call, Value

_ADD, _SUB, _MUL, _DIV = "torch.add", "torch.sub", "torch.mul", "torch.div"
_PRODUCTS = frozenset({"torch.matmul", "torch.bmm", "torch.mm", "torch.einsum"})
_PROBABILITIES = frozenset(
    {"prob", "probs", "probability", "probabilities", "pred", "pdf", "score", "scores", "likelihood", "likelihoods", "confidence", "iou", "dice"}
)  # fmt: skip
_DEVIATIONS = frozenset({"std", "stds", "stddev"})
_PICKING = frozenset({"torch.max", "torch.gather"})
_TARGETS = frozenset({"target", "targets"})
_CLAMPS = frozenset({"torch.clamp", "torch.clamp_min"})
_ONES = frozenset({"torch.ones", "torch.ones_like"})


def masked_by(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression | None:
    """The mask of `x * mask` and `x * mask / y`; None if `node` is no such product."""
    made = made_as(node, evaluator, _DIV)
    made = made_as(made.subject if made is not None else node, evaluator, _MUL)
    factors = _operands(made)
    masks = [factor for factor in factors if _is_mask(evaluator.values.get(factor, UNKNOWN))]
    # Of two masks one is the data.
    return masks[0] if len(masks) == 1 else None


def stretched_in(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression | None:
    """`y` of `1 - y ** 2 + eps` if it is a tanh times something that nothing keeps within 1; None for anything else."""
    for part in (node, *_operands(made_as(node, evaluator, _ADD))):
        rest = made_as(part, evaluator, _SUB)
        if rest is None or rest.subject is None or not _is_one(rest.subject, evaluator):
            continue
        taken = rest.arguments.get("other")
        whole = _squared(taken, evaluator)
        if whole is not None and _is_stretched(whole, evaluator):
            return whole
        if _is_scaled_square(taken, evaluator):
            return taken
    return None


def told_by_making(node: cst.BaseExpression, evaluator: Evaluator) -> str:
    """What `node` is by its name, because it is learned or summed up, if that can be 0 and nothing else is known of it."""
    value = evaluator.values.get(node, UNKNOWN)
    if value.learnable:
        return "is learned, and nothing keeps it above 0"
    made = value.origin
    if made is not None and made.function in _PRODUCTS:
        return "is a sum of products, which underflow"
    # What may be NaN on one path is no better known for it.
    is_bound = value.is_known and not (value.range.low == -INF and value.range.high == INF)
    is_here = made is not None and made.node in evaluator.values
    is_torch = made is not None and is_here and made.function in SIGNATURES and made.function not in _PICKING
    return "" if is_bound or is_torch else _told_by_name(node, evaluator)


def _told_by_name(node: cst.BaseExpression, evaluator: Evaluator) -> str:
    words = set(words_of(node))
    if words & _PROBABILITIES:
        return "is a probability by name"
    if words & _DEVIATIONS and is_given(node, evaluator):
        return "is a deviation by name"
    return "is a target by name" if words & _TARGETS else ""


def is_rest_of_exp(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`1 - exp(x)`, which is 0 where x is."""
    rest = _rest(node, evaluator)
    reach = evaluator.values.get(node, UNKNOWN).range
    return rest is not None and made_as(rest, evaluator, "torch.exp") is not None and reach.has_zero


def is_odds(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`x / (1 - x)` and `(1 + x) / (1 - x)`: 0 at one end of what x can be, infinite at the other."""
    made = made_as(node, evaluator, _DIV)
    above, below = _operands(made) if made is not None else (None, None)
    rest = _rest(below, evaluator)
    if above is None or rest is None or not evaluator.values.get(below, UNKNOWN).range.has_zero:  # type: ignore[arg-type] # a node
        return False
    plus = made_as(above, evaluator, _ADD)
    terms = (
        _operands(plus) if plus is not None and any(_is_one(term, evaluator) for term in _operands(plus)) else [above]
    )
    return any(same(term, rest, evaluator) for term in terms)


def is_logit(log: Call, evaluator: Evaluator) -> bool:
    """Whether from `log`, of p, the logarithm of 1 - p is taken: the logit by hand."""
    for call in evaluator.calls.values():
        if (
            call.function != _SUB
            or call.subject is None
            or evaluator.values.get(call.subject, UNKNOWN).origin is not log
        ):
            continue
        other = made_as(call.arguments.get("other"), evaluator, "torch.log1p")
        minus = made_as(other.subject, evaluator, "torch.neg") if other is not None else None
        other = made_as(call.arguments.get("other"), evaluator, "torch.log")
        rest = minus.subject if minus is not None else _rest(other.subject if other is not None else None, evaluator)
        if same(rest, log.subject, evaluator):
            return True
    return False


def is_bounded(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether `node`, or what it is minus of, was clamped to a bound that is no number here: whoever sets it sets a guard."""
    minus = made_as(node, evaluator, "torch.neg")
    value = evaluator.values.get((minus.subject if minus is not None else None) or node, UNKNOWN)
    clamp = value.origin
    if clamp is None or clamp.function not in _CLAMPS:
        return False
    if clamp.node not in evaluator.values:
        # What a helper clamps to is seen in the result, if it is a number.
        return value.range.low == -INF
    bounds = [clamp.arguments.get(end) for end in ("min", "max")]
    return any(bound is not None and evaluator.values.get(bound, UNKNOWN).number is None for bound in bounds)


def is_quotient_of_bounded(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`(a + eps) / (b + eps)`, `peak ** 2 / (error + eps)`: above 0, as both are, or as what somebody set is."""
    made = made_as(node, evaluator, _DIV)
    above, below = _operands(made) if made is not None else (None, None)
    if above is None or below is None or evaluator.values.get(below, UNKNOWN).range.low <= 0:
        return False
    power = made_as(above, evaluator, "torch.pow")
    base = power.subject if power is not None else None
    return evaluator.values.get(above, UNKNOWN).range.low > 0 or is_kept(base if base is not None else above)


def is_difference(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether it is one tensor less another of which as little is known, or a number times such a thing."""
    made = evaluator.values.get(node, UNKNOWN).origin
    operands = [made.arguments.get(name) for name in ("input", "other")] if made is not None else []
    first, second = (
        evaluator.values.get(each, UNKNOWN) if each is not None else UNKNOWN for each in operands or (None, None)
    )
    if made is None:
        return False
    if made.function == _MUL and (first.number is None) is not (second.number is None):
        scaled = operands[1] if second.number is None else operands[0]
        return scaled is not None and is_difference(scaled, evaluator)
    late = raised(made, evaluator)
    if late is not None:
        # An eps keeps a difference from 0, and not from below.
        return is_difference(late.value, evaluator)
    if made.function == _ADD:
        # Of two terms one is a size, and nothing keeps the other from being its opposite.
        known = [term.is_known and term.range.low >= 0 for term in (first, second)]
        return sorted(known) == [False, True] and first.kind is second.kind is Kind.TENSOR
    return made.function == _SUB and first.kind is Kind.TENSOR and second.kind is not Kind.NUMBER


def _rest(node: cst.BaseExpression | None, evaluator: Evaluator) -> cst.BaseExpression | None:
    """`x` of `1 - x`."""
    made = made_as(node, evaluator, _SUB)
    is_rest = made is not None and made.subject is not None and _is_one(made.subject, evaluator)
    return made.arguments.get("other") if made is not None and is_rest else None


def _is_scaled_square(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """`tanh(x) ** 2 * scale`."""
    factors = _operands(made_as(node, evaluator, _MUL))
    squares = [_squared(factor, evaluator) for factor in factors]
    squashed = [square is not None and made_as(square, evaluator, "torch.tanh") is not None for square in squares]
    if squashed.count(True) != 1:
        return False
    other = evaluator.values.get(factors[squashed.index(False)], UNKNOWN)
    return not (other.is_known and other.range.low >= -1 and other.range.high <= 1)


def _is_mask(value: Value) -> bool:
    reach = value.range
    return value.is_known and reach.integer and (reach.low, reach.high) == (0, 1)


def _is_one(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    value = evaluator.values.get(node, UNKNOWN)
    return value.number == 1 or (value.origin is not None and value.origin.function in _ONES)


def _squared(node: cst.BaseExpression | None, evaluator: Evaluator) -> cst.BaseExpression | None:
    made = evaluator.values.get(node, UNKNOWN).origin if node is not None else None
    if made is None or made.node not in evaluator.values:
        return None
    exponent = made.arguments.get("exponent")
    is_power = exponent is not None and evaluator.values.get(exponent, UNKNOWN).number == 2
    is_product = made.function == _MUL and same(made.subject, made.arguments.get("other"), evaluator)
    return made.subject if made.function == "torch.square" or is_power or is_product else None


def _is_stretched(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`tanh(x) * scale`, with or without `+ bias`."""
    for part in (node, *_operands(made_as(node, evaluator, _ADD))):
        factors = _operands(made_as(part, evaluator, _MUL))
        values = [evaluator.values.get(factor, UNKNOWN) for factor in factors]
        squashed = [value.origin is not None and value.origin.function == "torch.tanh" for value in values]
        if squashed.count(True) == 1:
            other = values[squashed.index(False)]
            return not (other.is_known and other.range.low >= -1 and other.range.high <= 1)
    return False


def made_as(node: cst.BaseExpression | None, evaluator: Evaluator, function: str) -> Call | None:
    """What made the values of `node`, if it is this operation and stands in this chunk."""
    made = evaluator.values.get(node, UNKNOWN).origin if node is not None else None
    return made if made is not None and made.function == function and made.node in evaluator.values else None


def _operands(call: Call | None) -> list[cst.BaseExpression]:
    given = [call.arguments.get(name) for name in ("input", "other")] if call is not None else []
    return [operand for operand in given if operand is not None]
