"""What an object of torch.distributions holds: `Categorical(logits=x).probs` is a softmax, `Normal(m, s).scale` is `s`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import CALL, made_from
from nanlint.ops.names import HELD_FOR_LOGITS
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Value

_PACKAGE = "torch.distributions."
_LOCATED = word_set("Normal Laplace Gumbel Cauchy")
_PARAMETERS = {
    **dict.fromkeys((kind for kind, _ in HELD_FOR_LOGITS), ("probs", "logits")),
    **dict.fromkeys(_LOCATED, ("loc", "scale")),
}
_SAME_AS = {("Normal", "mean"): "loc", ("Normal", "stddev"): "scale", ("Laplace", "mean"): "loc"}


def held_as(base: Value, name: str) -> tuple[str, Value] | None:
    """The operation that makes an attribute of a distribution, and of what: none for what was passed as it is; None if nobody knows."""
    made = made_from(base)
    if made is None or made.function != CALL or not made.where.startswith(_PACKAGE):
        return None
    kind = made.where.rpartition(".")[2]
    name = _SAME_AS.get((kind, name), name)
    parameters = _PARAMETERS.get(kind, ())
    passed = {
        parameter: value
        for place, parameter in enumerate(parameters)
        if (value := made.operands.get(parameter) or made.operands.get(str(place))) is not None
        and value.constant is not None
    }
    if "logits" in passed and (kind, name) in HELD_FOR_LOGITS:
        return HELD_FOR_LOGITS[kind, name], passed["logits"]
    # Probabilities may be given as weights, which are then divided by their sum.
    return ("", passed[name]) if name in passed else None
