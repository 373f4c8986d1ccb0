"""Normalisations: torch's own, as functions and as layers, and the root of a mean square plus an eps, written by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.op_graph import NUMBER
from nanlint.analysis.project.syntax_names import written_argument
from nanlint.analysis.relations import op_behind
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    import ast

    from nanlint.analysis.op_graph import Op, Value

FUNCTIONS = frozenset(f"torch.nn.functional.{word}_norm" for word in ("layer", "rms", "group", "batch", "instance"))
LAYERS = {
    **dict.fromkeys(("torch.nn.LayerNorm", "torch.nn.RMSNorm"), "1"),
    "torch.nn.GroupNorm": "2",
    **{f"torch.nn.{word}Norm{dims}d": "1" for word in ("Batch", "Instance") for dims in (1, 2, 3)},
}
"""The place of eps among the arguments of the constructor."""
ROOTS = torch_names("sqrt rsqrt pow")
WATCHED = (
    *((name, "input") for name in sorted(FUNCTIONS | ROOTS)),
    *((name, "eps") for name in sorted(LAYERS)),
    *LAYERS.items(),
)
"""Each normalisation with an operand that it has: of a layer its eps, which may be given by name or by place."""
_HALVES = (0.5, -0.5)


def is_square_root(op: Op) -> bool:
    """Whether it is a square root or one over it, also written as a power."""
    exponent = op.operands.get("exponent")
    return op.function in ROOTS and (
        op.function != "torch.pow" or (exponent is not None and exponent.number in _HALVES)
    )


class NormEps(NamedTuple):
    """The eps of a normalisation: its value, where it is written, and what it was added to by hand."""

    value: Value
    node: ast.AST | None
    added: Op | None = None


def norm_eps(op: Op) -> NormEps | None:
    """The eps of a normalisation that is stated; None for torch's own default, and for what is no normalisation."""
    if op.function in ROOTS:
        return _added(op)
    name = "eps" if "eps" in op.operands else LAYERS.get(op.function, "eps")
    value = op.operands.get(name)
    return NormEps(value, op.nodes.get(name) or written_argument(op.node, name)) if value is not None else None


def _added(op: Op) -> NormEps | None:
    """`eps` of `torch.rsqrt(x.pow(2).mean(-1) + eps)`, which may be added in place or on either side."""
    if op.subject is None or not is_square_root(op):
        return None
    made = op_behind(op.subject)
    if made is None or made.function != "torch.add" or "alpha" in made.operands:
        return None
    for name, other in (("other", "input"), ("input", "other")):
        eps, rest = made.operands[name], made.operands[other]
        if (
            eps.kind is NUMBER
            or eps.number is not None
            or (rest.range.low == 0 and not rest.range.has_negative and not eps.is_known)
        ):
            is_measured = rest.range.low == 0 and op_behind(rest) is not None
            return NormEps(eps, made.nodes.get(name), made) if is_measured else None
    return None
