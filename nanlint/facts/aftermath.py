"""What becomes of a value that may have turned NaN or infinite: whether the code behind it looks for that or replaces it.

Only the forward is meant: a replaced NaN still passes its gradient on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import libcst as cst

from nanlint.facts.context import is_cut_off, reads_of
from nanlint.facts.names import names_in
from nanlint.facts.values import UNKNOWN, Kind
from nanlint.ops.names import METHODS
from nanlint.source.walk import is_statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.context import Parents
    from nanlint.facts.flow import Flow
    from nanlint.facts.values import Call, Value

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
_WHERE = METHODS["where"]
_LOWERING = frozenset({"min", METHODS["minimum"], METHODS["clamp_max"]})
# What is read of a tensor without its values.
_FORM = frozenset({"device", "dtype", "shape", "ndim", "size", "dim", "numel", "is_cuda", "layout"})
_MOVING = frozenset(METHODS[name] for name in ("add", "sub", "mul"))
_ENDS = (cst.BaseSmallStatement, cst.BaseStatement, cst.BaseSuite, type(None))
_ASSIGNING = frozenset({cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.AugAssign})
# How many names a value is followed through.
_NAMES = 3


def is_mended(node: cst.CSTNode, parents: Parents, flow: Flow, names: int = _NAMES) -> bool:
    """Whether what is not finite in `node` is replaced, or asked for, behind it: `where`, `nan_to_num`, `x[mask] = 0`."""
    below, around = node, parents.get(node)
    if type(node) is cst.AugAssign:
        return any(is_mended(use, parents, flow, names - 1) for use in _reads(node, node, flow))
    while around is not None and not is_statement(type(around)):
        # No operator mends anything, and a sum may be of hundreds of terms.
        if type(around) is cst.BinaryOperation:
            below, around = around, parents.get(around)
            continue
        if type(around) is cst.Attribute and around.attr.value in _FORM:
            return False
        if _mends(below, around, flow) and not _picks_it_anyway(node, around, flow):
            return True
        if type(around) in _ASSIGNING:
            return names > 0 and any(is_mended(use, parents, flow, names - 1) for use in _reads(below, around, flow))
        below, around = around, parents.get(around)
    return False


def _mends(below: cst.CSTNode, around: cst.CSTNode, flow: Flow) -> bool:
    """Whether `around` replaces what is not finite in `below`, a part of it."""
    call = flow.calls.get(around)
    # `ensure_finite_(x)` says what it does, wherever it is defined.
    if call is not None and (call.function in _MENDING or "finite" in call.function or _bounds_it(call, below, flow)):
        return True
    # An assertion about what is NaN fails. Or elements of it are set anew, as those where n is 0.
    return type(around) is cst.Assert or (type(around) is cst.AssignTarget and type(below) is cst.Subscript)


def _picks_it_anyway(node: cst.CSTNode, around: cst.CSTNode, flow: Flow) -> bool:
    """`where(label, loss * a, loss * b)`: whichever side is picked, `loss` is in it."""
    call = flow.calls.get(around)
    if call is None or call.function != _WHERE or not isinstance(node, cst.Name):
        return False
    sides = [part for name, part in call.arguments.items() if name in {"input", "other"}]
    return [node.value in names_in(side) for side in sides] == [True, True]


def _bounds_it(call: Call, below: cst.CSTNode, flow: Flow) -> bool:
    """Whether what can be inf, and not NaN, is cut down: `min(limit / peak, 1)`."""
    # The value of `x` in `x.clamp(...)`, and of an argument.
    inner = below.value if isinstance(below, (cst.Attribute, cst.Arg)) else below
    held = flow.values.get(cast("cst.BaseExpression", inner))
    if held is None or held.range.nan or held.range.minus_inf or _may_be_0_over_0(held, flow):
        return False
    return call.function in _LOWERING or (call.function == METHODS["clamp"] and "max" in call.arguments)


def _may_be_0_over_0(held: Value, flow: Flow) -> bool:
    """Whether it is a quotient of two things of which nothing is known: what is NaN stays NaN within any bounds."""
    for _ in range(_NAMES):
        made_by = held.made_by
        if made_by is None or held.is_known or made_by.subject is None:
            return False
        above = flow.values.get(made_by.subject, UNKNOWN)
        if made_by.function == METHODS["div"]:
            return above.kind is Kind.TENSOR and above.range.has_zero
        if made_by.function not in _MOVING:
            return False
        held = above
    return False


def goes_without_gradient(node: cst.CSTNode, parents: Parents, flow: Flow, names: int = _NAMES) -> bool:
    """Whether no gradient comes back to `node`: it is cut off, or whatever it goes on as is, under each of its names."""
    if is_cut_off(node, parents) or (node in flow.envs and not flow.envs[node].is_recorded):
        return True
    whole, around = node, parents.get(node)
    while type(around) is cst.BinaryOperation or not isinstance(around, _ENDS):
        whole, around = around, parents.get(around)
    if names == 0 or not isinstance(around, cst.Assign) or whole is not around.value or len(around.targets) != 1:
        return False
    target = around.targets[0].target
    reads = _reads_of_name(target, flow) if isinstance(target, cst.Name) else []
    return bool(reads) and all(goes_without_gradient(read, parents, flow, names - 1) for read in reads)


def _reads_of_name(target: cst.Name, flow: Flow) -> list[cst.Name]:
    """Where `target` is read and may hold what is assigned to it there: not where it holds something else for sure."""
    assigned = flow.values.get(target, UNKNOWN)
    held = {read: flow.values[read] for read in flow.names_read.get(target.value, ())}
    if not any(value.identity is assigned.identity for value in held.values()):
        return []
    return [
        read
        for read, value in held.items()
        if value.identity is assigned.identity or value.choices or value.made_by is None
    ]


def _reads(below: cst.CSTNode, around: cst.CSTNode, flow: Flow) -> Iterator[cst.CSTNode]:
    # `x /= n` is a statement that stands for what x holds then.
    whole = around if isinstance(around, cst.AugAssign) else below
    return reads_of(cast("cst.BaseExpression", whole), flow)
