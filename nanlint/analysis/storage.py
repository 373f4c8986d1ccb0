"""Which values share their memory, so that a change of one in place is a change of the other: a view and what it is a view of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ELEMENT, GUARDED, JOIN, Op, Value
from nanlint.analysis.selection import SUBSCRIPT
from nanlint.ops.names import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterable

_NOTHING: frozenset[Op] = frozenset()
_VIEWS = (
    "view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "contiguous", "expand", "select", "narrow", "float",
    "double", "half", "bfloat16", "to", "detach", "cpu", "t", "expand_as", "view_as", "reshape_as", "type_as", "broadcast_to", "cuda",
    "movedim", "unflatten", "numpy", "chunk", "split", "unbind", "diagonal", "adjoint", "requires_grad_", "detach_", "ravel", "unfold",
    "swapaxes", "swapdims", "moveaxis", "tensor_split", "view_as_real", "view_as_complex", "as_strided", "type",
)  # fmt: skip
SHARING = frozenset(METHODS[word] for word in _VIEWS if word in METHODS) | {
    "torch.real", "torch.imag", "torch.adjoint", "torch.as_tensor", "torch.from_numpy", "torch.asarray", ELEMENT,
}  # fmt: skip
"""Operations whose result may lie in the memory of their input. A cast to the dtype that it has is the tensor itself."""
# A tensor that may be one of more than these is one of the first of them.
_MOST = 32


def storages(value: Value) -> frozenset[Op]:
    """The operations that made the memory in which a value may lie: its own, or that of what it is a view of."""
    op = value.op
    if op is None:
        return _NOTHING
    if op.storage is None:
        op.storage = _found(op)
    return op.storage


def _found(start: Op) -> frozenset[Op]:
    roots: set[Op] = set()
    seen, waiting = {start}, [start]
    while waiting and len(roots) < _MOST:
        op = waiting.pop()
        if op.storage is not None:
            roots |= op.storage
            continue
        inside = [value.op for value in _owners(op) if value.op is not None]
        if not inside:
            roots.add(op)
        for each in inside:
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return frozenset(roots)


def _owners(op: Op) -> Iterable[Value]:
    """The operands in whose memory the result may lie."""
    subject = op.subject
    if op.function == JOIN and not op.in_place:
        return op.operands.values()
    if subject is None or not (op.in_place or op.function == GUARDED or op.function in SHARING or _is_basic_index(op)):
        return ()
    return (subject,)


def _is_basic_index(op: Op) -> bool:
    """`x[0]` and `x[:, 1]` are views; `x[mask]` and `x[indices]` are copies."""
    index = op.operands.get("index")
    return op.function == SUBSCRIPT and (index is None or not index.dtype)
