"""What keeps an exponential in bounds that no interval tells: a subtracted maximum, a distance with a minus before it.

These are readings, not proofs: `-dist / tau` is negative because distances are positive and somebody chose tau so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.naming import words_of
from nanlint.facts.relations import same
from nanlint.facts.values import UNKNOWN, Kind
from nanlint.facts.written import text_of

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call

# `x - scatter(x, index, reduce="max")[index]` and `x - x_max`: the reader is told by the name alone.
_PEAK = re.compile(r"max|peak|logsumexp|lse", re.IGNORECASE)
_KEEPING = frozenset(
    {"torch.mul", "torch.div", "torch.neg", "torch.add", "torch.where", "torch.masked_fill", "torch.clamp", "torch.clamp_min"}
)  # fmt: skip
_LOGARITHMS = frozenset({"torch.log", "torch.log1p", "torch.log_softmax", "torch.nn.functional.logsigmoid"})
_PRODUCTS = frozenset({"torch.mul", "torch.matmul", "torch.einsum", "torch.outer", "torch.mm"})
_NORMS = frozenset({"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm"})
_SHIFTS, _CLAMPS = frozenset({"torch.add", "torch.sub"}), frozenset({"torch.clamp", "torch.clamp_min"})
# Deeper than people nest.
_DEEPEST = 6


def is_shifted(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether a maximum was subtracted on the way to `node`, or a logarithm taken: `x - x.max()`, and what is scaled of it."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    return depth < _DEEPEST and any(
        made_by is not None and _is_shifted_call(made_by, evaluator, depth)
        for made_by in (choice.origin or choice.made_by for choice in value.possible)
    )


def _is_shifted_call(call: Call, evaluator: Evaluator, depth: int) -> bool:
    # The exponential of a logarithm is what it was.
    if call.function in _LOGARITHMS:
        return True
    if call.function in {"torch.sub", "torch.div"} and _is_peak(call.arguments.get("other"), evaluator):
        return True
    if call.function == "torch.div" and _is_of_lengths(call.arguments.get("other"), evaluator):
        return True
    if call.function in _SHIFTS and _is_less_its_bound(call, evaluator):
        return True
    if call.function != "torch.sub" and call.function not in _KEEPING:
        return False
    return any(is_shifted(call.arguments.get(name), evaluator, depth + 1) for name in ("input", "other"))


def _is_of_lengths(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """`torch.outer(x.norm(dim=1), y.norm(dim=1))`: what is divided by the lengths of both is a cosine."""
    product = _made(node, evaluator)
    if product is None or product.function not in _PRODUCTS:
        return False
    given = [arg.value for arg in product.node.args] if isinstance(product.node, cst.Call) else []
    operands = given[1:] if product.function == "torch.einsum" else list(product.arguments.values())
    makers = [evaluator.values.get(operand, UNKNOWN).origin for operand in operands]
    return len(makers) > 1 and all(maker is not None and maker.function in _NORMS for maker in makers)


def _is_less_its_bound(call: Call, evaluator: Evaluator) -> bool:
    """`x - x.clamp(min=0)`, or `x + m` with `m = -x.clamp(min=0)`: the larger of x and 0 is what is subtracted."""
    one, two = (call.arguments.get(name) for name in ("input", "other"))
    pairs = [(one, two)] if call.function == "torch.sub" else [(one, _negated(two, evaluator)), (two, _negated(one, evaluator))]  # fmt: skip
    return any(_is_bound_of(bound, value, evaluator) for value, bound in pairs)


def _is_bound_of(node: cst.BaseExpression | None, value: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    bound = _made(node, evaluator)
    floor = bound.arguments.get("min") if bound is not None else None
    is_clamped = floor is not None and evaluator.values.get(floor, UNKNOWN).number == 0
    if bound is None or not (bound.function == "torch.relu" or (bound.function in _CLAMPS and is_clamped)):
        return False
    return same(bound.subject, value, evaluator)


def _negated(node: cst.BaseExpression | None, evaluator: Evaluator) -> cst.BaseExpression | None:
    """`x` of `-x`, also under a name; None for anything else."""
    made_by = _made(node, evaluator)
    return made_by.subject if made_by is not None and made_by.function == "torch.neg" else None


def _made(node: cst.BaseExpression | None, evaluator: Evaluator) -> Call | None:
    return evaluator.values.get(node, UNKNOWN).made_by if node is not None else None


def _is_peak(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    if node is None:
        return False
    value = evaluator.values.get(node, UNKNOWN)
    behind = value.origin or value.made_by
    texts = [text_of(node), *([text_of(behind.node)] if behind is not None else [])]
    return any(_PEAK.search(text) for text in texts)


_SIGNED = frozenset({"torch.neg", "torch.to", "torch.mul", "torch.div"})
# What is never negative by its name.
_DISTANCES = frozenset(
    [
        "dist",
        "dists",
        "distance",
        "distances",
        "d2",
        "cost",
        "costs",
        "energy",
        "norm",
        "norms",
        "abs",
        "sq",
        "square",
        "squared",
        "sqdist",
        "mse",
        "age",
        "delay",
        "time",
        "times",
        "dt",
        "delta",
        "lag",
        "radius",
        "r2",
        "var",
        "variance",
        "loss",
        "losses",
        "err",
        "error",
        "errors",
        "decay",
    ]
)
_LOG_PROBABILITIES = frozenset(
    [
        "logp",
        "logps",
        "logpt",
        "prob",
        "probs",
        "logprob",
        "logprobs",
        "logpi",
        "distributions",
        "softmax",
        "logsoftmax",
    ]
)


def _sign(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int) -> tuple[bool | None, bool]:
    """Whether it is negative (None if nobody can say), and whether a factor of it is known not to change its sign."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    if node is None or depth == _DEEPEST:
        return None, False
    known = value.range
    if known.least >= 0 or known.greatest <= 0:
        return known.least < 0, value.number is None
    call = value.made_by
    if call is not None and call.function in _SIGNED:
        return _sign_of_call(call, evaluator, depth)
    if call is not None and call.function == "torch.einsum" and isinstance(call.node, cst.Call):
        return _sign_of_product([arg.value for arg in call.node.args[1:]], evaluator, depth)
    if not _DISTANCES.isdisjoint(words_of(node)):
        return False, True
    # A hyperparameter scales; a tensor or the result of a call may have any sign.
    scales = value.kind in {Kind.NUMBER, Kind.UNKNOWN} and call is None and not value.learnable
    return (False if scales else None), False


def _sign_of_call(call: Call, evaluator: Evaluator, depth: int) -> tuple[bool | None, bool]:
    one = _sign(call.subject, evaluator, depth + 1)
    if call.function == "torch.to":
        return one
    other = (True, False) if call.function == "torch.neg" else _sign(call.arguments.get("other"), evaluator, depth + 1)
    if one[0] is None or other[0] is None:
        return None, False
    return one[0] is not other[0], one[1] or other[1]


def _sign_of_product(operands: list[cst.BaseExpression], evaluator: Evaluator, depth: int) -> tuple[bool | None, bool]:
    signs = [_sign(operand, evaluator, depth + 1) for operand in operands]
    negative = [sign for sign, _ in signs]
    return (None if None in negative else negative.count(True) % 2 == 1), any(certain for _, certain in signs)


def is_log_probability(node: cst.BaseExpression | None) -> bool:
    """Whether `node` is called a logarithm of a probability."""
    return node is not None and not _LOG_PROBABILITIES.isdisjoint(words_of(node))
