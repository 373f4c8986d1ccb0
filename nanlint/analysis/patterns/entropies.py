"""Entropies and divergences by hand: `p * log(p)`, `t * log(t / q)`, `mask * log(x)`, whose limit at 0 floats do not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.op_graph import NUMBER
from nanlint.analysis.patterns.log_arguments import is_bounded, way_to_zero
from nanlint.analysis.patterns.probabilities import SOFTMAX, origins
from nanlint.analysis.relations import maker, op_behind, same
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op, Value

_LOGS = torch_names("log log2 log10")
_LOG_SOFTMAX = frozenset({"torch.log_softmax"})
DIVERGENCE = "torch.nn.functional.kl_div"


class Entropy(NamedTuple):
    """A factor times a logarithm that is -inf where the factor is 0."""

    factor: str
    """The operand of the product that is the factor."""
    log: Op
    sign: Op | None
    """The minus in front of the factor."""


def entropy_in(product: Op, infinite: str) -> Entropy | None:
    """The entropy that a product computes whose operand `infinite` can be -inf; None if it is something else."""
    factor = next((name for name in ("input", "other") if name != infinite), "")
    log = _log(product.operands[infinite])
    weight = product.operands.get(factor)
    if log is None or weight is None or log.subject is None:
        return None
    minus = maker(weight, "torch.neg")
    weight = minus.subject if minus is not None and minus.subject is not None else weight
    return Entropy(factor, log, minus) if _can_both_be_zero(weight, log.subject) else None


def _log(value: Value) -> Op | None:
    """The logarithm that it is, or from which something is taken away: `t * (t.log() - y)`."""
    made = op_behind(value)
    if made is not None and made.function == "torch.sub" and made.subject is not None:
        made = op_behind(made.subject)
    return made if made is not None and made.function in _LOGS else None


def _can_both_be_zero(factor: Value, argument: Value) -> bool:
    if NUMBER in {factor.kind, argument.kind} or not (factor.range.has_zero and argument.range.has_zero):
        return False
    divided = maker(argument, "torch.div")
    if same(factor, argument) or (divided is not None and same(factor, divided.subject)):
        way = way_to_zero(factor)
        return not is_bounded(factor) or (way is not None and not way.is_underflow)
    is_mask = factor.dtype == "bool" or (is_bounded(factor) and factor.range.integer)
    way = way_to_zero(argument)
    return is_mask and way is not None and not way.is_underflow


def is_trained_target(divergence: Op, ops: list[Op]) -> bool:
    """Whether the target of a `kl_div` is made of logits that another one, or itself, trains as its input."""
    target = divergence.operands.get("target")
    logits = (
        _logits(target)
        if target is not None and "log_target" not in divergence.operands and not target.detached
        else None
    )
    trained = (maker(op.subject, _LOG_SOFTMAX) for op in ops if op.function == DIVERGENCE)
    return logits is not None and any(same(log.subject, logits) for log in trained if log is not None)


def _logits(target: Value) -> Value | None:
    """Of a softmax, or of the exp of a log_softmax."""
    grown = maker(target, "torch.exp")
    made = maker(grown.subject, _LOG_SOFTMAX) if grown is not None else next(iter(origins(target)), None)
    return made.subject if made is not None and (grown is not None or made.function == SOFTMAX) else None
