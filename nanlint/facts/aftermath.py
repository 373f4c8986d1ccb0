"""What becomes of a value that may have turned NaN or infinite: whether the code behind it looks for that or replaces it.

Only the forward is meant: a replaced NaN still passes its gradient on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import libcst as cst

from nanlint.facts.context import reads_of
from nanlint.ops.names import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.context import Parents
    from nanlint.facts.flow import Flow
    from nanlint.facts.values import Call

_MENDING = frozenset(
    {
        *(
            METHODS[name]
            for name in ("nan_to_num", "where", "masked_fill", "isnan", "isinf", "isfinite", "nanmean", "nansum", "nanmedian")
        ),
        "math.isnan",
        "math.isinf",
        "math.isfinite",
        "numpy.isnan",
        "numpy.isfinite",
        "numpy.nan_to_num",
    }
)  # fmt: skip
_LOWERING = frozenset({"min", METHODS["minimum"], METHODS["clamp_max"]})
# What is read of a tensor without its values.
_FORM = frozenset({"device", "dtype", "shape", "ndim", "size", "dim", "numel", "is_cuda", "layout"})
# How many names a value is followed through.
_NAMES = 3


def is_mended(node: cst.CSTNode, parents: Parents, flow: Flow, names: int = _NAMES) -> bool:
    """Whether what is not finite in `node` is replaced, or asked for, behind it: `where`, `nan_to_num`, `x[mask] = 0`."""
    below, around = node, parents.get(node)
    if isinstance(node, cst.AugAssign):
        return any(is_mended(use, parents, flow, names - 1) for use in _reads(node, node, flow))
    while around is not None and not isinstance(around, cst.BaseStatement):
        if isinstance(around, cst.Attribute) and around.attr.value in _FORM:
            return False
        if _mends(below, around, flow):
            return True
        if isinstance(around, (cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.AugAssign)):
            return names > 0 and any(is_mended(use, parents, flow, names - 1) for use in _reads(below, around, flow))
        below, around = around, parents.get(around)
    return False


def _mends(below: cst.CSTNode, around: cst.CSTNode, flow: Flow) -> bool:
    """Whether `around` replaces what is not finite in `below`, a part of it."""
    call = flow.calls.get(around)
    if call is not None and (call.function in _MENDING or _bounds_it(call, below, flow)):
        return True
    # Elements of it are set anew, as those where n is 0.
    return isinstance(around, cst.AssignTarget) and isinstance(below, cst.Subscript)


def _bounds_it(call: Call, below: cst.CSTNode, flow: Flow) -> bool:
    """Whether what can be inf, and not NaN, is cut down: `min(limit / peak, 1)`."""
    held = flow.values.get(below) or flow.values.get(getattr(below, "value", below))
    if held is None or held.range.nan or held.range.minus_inf:
        return False
    return call.function in _LOWERING or (call.function == METHODS["clamp"] and "max" in call.arguments)


def _reads(below: cst.CSTNode, around: cst.CSTNode, flow: Flow) -> Iterator[cst.CSTNode]:
    # `x /= n` is a statement that stands for what x holds then.
    whole = around if isinstance(around, cst.AugAssign) else below
    return reads_of(cast("cst.BaseExpression", whole), flow)
