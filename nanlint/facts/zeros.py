"""How a value comes to be exactly 0: with ordinary operands, or only where one of them underflows.

`exp(x)` is 0 in float32 from x = -104 on, so its range holds 0; a sum of squares is 0 for a row of zeros. Only the second
is an everyday event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.naming import words_of
from nanlint.facts.relations import same
from nanlint.facts.values import UNKNOWN, Call, Form, Kind
from nanlint.ops.names import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import libcst as cst

    from nanlint.facts.evaluate import Evaluator

# They round to 0 far out alone. A softmax is not among them: it is a share, and a confident model drives it to 0.
_UNDERFLOWING = frozenset(
    {
        "torch.exp",
        "torch.exp2",
        "torch.sigmoid",
        "torch.nn.functional.softplus",
        "torch.erfc",
        "torch.reciprocal",
        "torch.Tensor.exponential_",
        "torch.special.erfcx",
        "torch.special.ndtr",
    }
)
# They are 0 where their operand is, or where all of its elements are.
_CARRYING = frozenset(
    METHODS[name]
    for name in (
        "expm1", "log1p", "tanh", "sin", "diff", "diag", "masked_fill", "clamp_max", "prod", "cumprod", "sum", "mean", "nansum", "nanmean", "cumsum", "amax", "max", "amin", "min", "median", "abs", "neg", "square", "sqrt",
        "pow", "view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "contiguous", "clone", "expand",
        "select", "narrow", "gather", "index_select", "float", "double", "half", "bfloat16", "to", "detach", "cpu", "t",
    )
) | {"subscript", "torch.tensor", "torch.as_tensor"}  # fmt: skip
# What is called so was made to keep something from 0.
_NOT_ZERO = frozenset({"eps", "epsilon", "tiny", "jitter", "safe", "chol", "cholesky", "stddev", "sigma", "ratio"})
_MASKS = frozenset({"torch.masked_fill", "torch.where"})
_EPS = 1e-3
_CLAMPS = frozenset({"torch.clamp", "torch.clamp_min"})
# Deeper than people nest; past it a 0 counts as ordinary.
_DEEPEST = 20


def reaches_zero(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether `node` can be exactly 0 without an underflow."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    if not value.range.has_zero or (node is not None and not _NOT_ZERO.isdisjoint(words_of(node))):
        return False
    if _kind(node, evaluator) is Kind.NUMBER:
        return value.number == 0
    # How a helper's result comes about is not seen from here.
    makers = [choice.made_by for choice in value.possible if choice.made_by is not None]
    seen = [maker for maker in makers if maker.node in evaluator.values]
    if makers and not seen:
        return False
    return not seen or depth == _DEEPEST or any(_makes_zero(maker, evaluator, depth) for maker in seen)


def _makes_zero(call: Call, evaluator: Evaluator, depth: int) -> bool:
    if call.function == "torch.diagonal" or (call.function in _CLAMPS and _is_beside_a_bound(call, evaluator)):
        # A diagonal is, as a rule, that of a decomposition.
        return False
    if call.function in _UNDERFLOWING:
        masked = evaluator.values.get(call.subject, UNKNOWN) if call.subject is not None else UNKNOWN
        return masked.range.minus_inf and masked.origin is not None and masked.origin.function in _MASKS
    if call.function in _CARRYING:
        return reaches_zero(call.subject, evaluator, depth + 1)
    if call.function == "torch.add" and (blended := _blended(call, evaluator)) is not None:
        return reaches_zero(blended, evaluator, depth + 1)
    combine = _COMBINING.get(call.function)
    operands = [call.arguments.get(name) for name in ("input", "other")]
    return combine is None or (
        not (call.function in _ADDING and _is_beside_a_setting(operands, evaluator))
        and combine(reaches_zero(operand, evaluator, depth + 1) for operand in operands)
    )


def _blended(call: Call, evaluator: Evaluator) -> cst.BaseExpression | None:
    """`x` of `x * mask + (1 - mask)`: where one term is 0 the other is not."""
    for term, rest in (("input", "other"), ("other", "input")):
        product, less = (_made(call.arguments.get(name), evaluator) for name in (term, rest))
        if product is None or less is None or product.function != "torch.mul" or less.function != "torch.sub":
            continue
        if less.subject is None or evaluator.values.get(less.subject, UNKNOWN).number != 1:
            continue
        factors = [product.arguments.get(name) for name in ("input", "other")]
        masks = [same(factor, less.arguments.get("other"), evaluator) for factor in factors]
        if any(masks):
            return factors[masks.index(False)] if False in masks else None
    return None


def _made(node: cst.BaseExpression | None, evaluator: Evaluator) -> Call | None:
    return evaluator.values.get(node, UNKNOWN).made_by if node is not None else None


def _is_beside_a_bound(clamp: Call, evaluator: Evaluator) -> bool:
    """Whether the lower bound is a number that nobody knows, as `self.eps`: then it is there to keep the value from 0."""
    bound = clamp.arguments.get("min")
    return bound is not None and evaluator.values.get(bound, UNKNOWN).number is None


def _is_beside_a_setting(operands: list[cst.BaseExpression | None], evaluator: Evaluator) -> bool:
    """Whether one term is a tensor and the other not known to be one: sigma ** 2 + self.data ** 2."""
    kinds = [_kind(operand, evaluator) for operand in operands]
    return (Kind.TENSOR in kinds and Kind.UNKNOWN in kinds) or any(_is_tiny(operand, evaluator) for operand in operands)


def _is_tiny(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether it is something times an eps, as `mask * 1e-16`."""
    made_by = evaluator.values.get(node, UNKNOWN).made_by if node is not None else None
    if made_by is None or made_by.function != "torch.mul":
        return False
    factors = [evaluator.values.get(factor, UNKNOWN).number for factor in made_by.arguments.values()]
    return any(factor is not None and 0 < factor < _EPS for factor in factors)


def _kind(node: cst.BaseExpression | None, evaluator: Evaluator) -> Kind:
    """The kind of what `node` is computed from: that of `data` for `data ** 2`."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    made_by = value.made_by
    if made_by is not None and made_by.form is Form.OPERATOR and made_by.subject in evaluator.values:
        return _kind(made_by.subject, evaluator)
    return value.kind


_ADDING = frozenset({"torch.add", "torch.maximum", "torch.max"})
_COMBINING: Mapping[str, Callable[[Iterable[bool]], bool]] = {
    "torch.add": all,
    "torch.maximum": all,
    "torch.mul": any,
    "torch.where": any,
    "torch.div": lambda zeros: next(iter(zeros)),
}
"""What makes a result 0 whose operands are not negative; of others nothing is known here, and a 0 counts as ordinary."""
