"""Why an exponent is large: nothing bounds it, something amplifies it, it is a ratio of probabilities in log space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import CALL, ELEMENT, NUMBER, TENSOR
from nanlint.analysis.origins import LAYERS
from nanlint.analysis.patterns.exponentials import LOGS, QUOTIENTS, by_hand, is_bounded_on_a_path, is_shifted
from nanlint.analysis.patterns.probabilities import origins
from nanlint.analysis.relations import maker, op_behind, same
from nanlint.analysis.selection import SUBSCRIPT
from nanlint.ops.interval import INF
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanlint.analysis.op_graph import Op, Value

# What is divided by this or less is twenty times what it was.
_AMPLIFYING = 0.05
_SCALING = torch_names("mul div neg")
_LOG_PROBABILITIES = torch_names("log_softmax nn.functional.logsigmoid")
_SPLITTING = torch_names("chunk split unbind Tensor.chunk Tensor.split stack cat max amax") | {ELEMENT, SUBSCRIPT}
_SQUARES = torch_names("pow square")
_ADDING = torch_names("add sub")
_PRODUCTS = torch_names("matmul mv mm bmm")
_COSH, _SAMPLING = "torch.cosh", "torch.multinomial"
_DEEPEST = 6


def why_large(op: Op, exponent: Value, ops: list[Op]) -> str:
    """Why the exponent of `op`, one of the operations `ops` of a function, is large; empty if something keeps it down.

    "reaches", "sampled", "cosh", "amplified", "ratio", "learned", "layer", "variance", "unknown".
    """
    bare = unscaled(exponent)
    by_hand_beside = (by_hand(each) for each in ops if each.function in LOGS or each.function in QUOTIENTS)
    if any(found is not None and op in found.exps for found in by_hand_beside):
        return ""  # NAN202 tells what is computed
    if is_shifted(exponent) or is_bounded_on_a_path(exponent) or exponent.range.constant is not None:
        return ""
    kinds: dict[str, Callable[[], bool]] = {
        "reaches": lambda: exponent.range.greatest < INF and exponent.kind is not NUMBER,
        "sampled": lambda: _is_sampled_by(op, ops) and _is_computed(bare),
        "cosh": lambda: op.function == _COSH and any(_is_log_of(op, each) for each in ops),
        "amplified": lambda: _is_amplified(exponent),
        "ratio": lambda: _is_log_ratio(exponent),
        "learned": lambda: bare.learned,
        "layer": lambda: _is_of_layer(bare),
        "": lambda: _is_decay(exponent),
        "variance": lambda: _is_log_variance(op, ops),
    }
    return next((kind for kind, holds in kinds.items() if holds()), "unknown")


def unscaled(value: Value) -> Value:
    """`logvar` of `0.5 * logvar` and of `-logvar`."""
    for _ in range(_DEEPEST):
        op = op_behind(value)
        parts = (
            [each for each in op.operands.values() if each.kind is not NUMBER]
            if op is not None and op.function in _SCALING
            else []
        )
        if len(parts) != 1:
            return value
        value = parts[0]
    return value


def _is_computed(value: Value) -> bool:
    op = op_behind(value)
    return op is not None and not op.function.startswith("<")


def _is_sampled_by(op: Op, ops: list[Op]) -> bool:
    return any(user.function == _SAMPLING and user.subject is not None and op in origins(user.subject) for user in ops)


def _is_log_of(op: Op, log: Op) -> bool:
    return log.function == "torch.log" and log.subject is not None and op_behind(log.subject) is op


def _is_amplified(value: Value) -> bool:
    """`x / eps`, and logits times something learned: neither of the two has to be large by itself. `-s / eps` is how a cost is written."""
    op = op_behind(value)
    above, below = (op.operands.get("input"), op.operands.get("other")) if op is not None else (None, None)
    if op is None or above is None or below is None:
        return False
    if op.function == "torch.div":
        by = below.range.constant
        return by is not None and 0 < by <= _AMPLIFYING and not above.is_known and maker(above, "torch.neg") is None
    pairs = ((above, below), (below, above)) if op.function == "torch.mul" else ()
    return any(one.learned and other.kind is TENSOR and not other.is_known for one, other in pairs)


def _is_log_ratio(value: Value) -> bool:
    """A difference of log-probabilities, of which one at least was computed as such."""
    op = op_behind(value)
    if op is None or op.function != "torch.sub" or same(op.operands.get("input"), op.operands.get("other")):
        return False
    return any(_is_log_probability(each) for each in op.operands.values())


def _is_log_probability(value: Value) -> bool:
    for op in origins(value):
        made = op_behind(op.subject) if op.function == "torch.sum" and op.subject is not None else op
        if made is not None and (
            made.function in _LOG_PROBABILITIES or (made.function == CALL and made.where.endswith("log_prob"))
        ):
            return True
    return False


def _is_of_layer(value: Value) -> bool:
    """Whether a layer has made it, or a part of it."""
    for _ in range(_DEEPEST):
        op = op_behind(value)
        if op is None:
            return False
        if op.where == "network" or op.function in LAYERS:
            return True
        if (
            (op.function not in _SPLITTING and op.function != CALL)
            or op.subject is None
            or op.where not in {"", ".chunk", ".split", "0", "1", "2"}
        ):
            return False
        value = op.subject
    return False


def _is_decay(value: Value) -> bool:
    """`-x`, as a decay is written, and `x - x.detach()`; what is learned or a layer makes has either sign."""
    op = op_behind(value)
    if op is None:
        return False
    if op.function == "torch.sub":
        return same(op.operands.get("input"), op.operands.get("other"))
    if op.function in {"torch.mul", "torch.div"}:
        return any(each.range.high <= 0 or _is_decay(each) for each in op.operands.values())
    return op.function == "torch.neg"


def _is_log_variance(exp: Op, ops: list[Op]) -> bool:
    """Whether `exp` is the scale of a distribution, or stands in the divergence of one: `1 + logvar - mu ** 2 - logvar.exp()`."""
    for op in ops:
        if op.function == CALL and op.where.startswith("torch.distributions."):
            scale = op.operands.get("scale") or op.operands.get("1")
            if scale is not None and op_behind(scale) is exp:
                return True
        terms = list(_terms(op, _DEEPEST)) if op.function in _ADDING else []
        made = [op_behind(term) for term in terms]
        is_beside = exp in made and any(same(term, exp.subject) for term in terms)
        if is_beside and any(each is not None and each.function in _SQUARES for each in made):
            return True
    return False


def _terms(op: Op, depth: int) -> Iterator[Value]:
    """What a sum is made of, differences included."""
    for value in op.operands.values():
        made = op_behind(value)
        if made is not None and depth and made.function in _ADDING:
            yield from _terms(made, depth - 1)
        else:
            yield value


def kernel_divided_by(total: Value) -> Op | None:
    """The exponential of which whole rows are 0, if `total` is the product of it with a vector: Sinkhorn's `K @ v`."""
    op = op_behind(total)
    for factor in op.operands.values() if op is not None and op.function in _PRODUCTS else ():
        made = maker(factor, "torch.exp")
        if made is not None and made.subject is not None and (made.subject.range.high <= 0 or _is_decay(made.subject)):
            return made
    return None
