"""Which values share their memory, so that a change of one in place is a change of the other: a view and what it is a view of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ELEMENT, GUARDED, JOIN, Op, Value
from nanlint.analysis.selection import SUBSCRIPT
from nanlint.ops.names import METHODS
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable

_NOTHING: frozenset[Op] = frozenset()
_VIEWS = word_set("""
    view reshape flatten squeeze unsqueeze permute transpose contiguous expand select narrow float double half bfloat16
    to detach cpu t expand_as view_as reshape_as type_as broadcast_to cuda movedim unflatten numpy chunk split unbind
    diagonal adjoint requires_grad_ detach_ ravel unfold swapaxes swapdims moveaxis tensor_split view_as_real
    view_as_complex as_strided type
""")
SHARING = frozenset(METHODS[word] for word in _VIEWS if word in METHODS) | {
    "torch.real", "torch.imag", "torch.adjoint", "torch.as_tensor", "torch.from_numpy", "torch.asarray", ELEMENT,
}  # fmt: skip
"""Operations whose result may lie in the memory of their input. A cast to the dtype that it has is the tensor itself."""
# A tensor that may be one of more than these is one of the first of them.
_MOST = 32


def in_order(ops: Iterable[Op]) -> list[Op]:
    """Operations by place, so that nothing depends on where they lie in memory."""
    return sorted(
        ops, key=lambda op: (getattr(op.node, "lineno", 0), getattr(op.node, "col_offset", 0), op.function, op.where)
    )


def storages(value: Value) -> frozenset[Op]:
    """The operations that made the memory in which a value may lie: its own, or that of what it is a view of."""
    op = value.op
    if op is None:
        return _NOTHING
    if op.storage is None:
        op.storage = _found(op)
    return op.storage


def _found(start: Op) -> frozenset[Op]:
    """Operands before what is made of them, without recursion. What is known of an operation is kept, so each is looked at once."""
    found: dict[Op, frozenset[Op]] = {}
    # In a circle, which loops make, only that of the operation where the search began is all of it.
    entered, partial, waiting = {start}, set[Op](), [start]
    while waiting:
        op = waiting[-1]
        owners = [value.op for value in _owners(op) if value.op is not None]
        new = [each for each in owners if each.storage is None and each not in found and each not in entered]
        if new:
            entered.update(new)
            waiting += new
            continue
        waiting.pop()
        if op in found:
            continue
        roots: set[Op] = set() if owners else {op}
        for each in owners:
            roots |= each.storage or found.get(each, _NOTHING)
            if each.storage is None and (each not in found or each in partial):
                partial.add(op)
        found[op] = frozenset(roots if len(roots) <= _MOST else in_order(roots)[:_MOST])
        if op not in partial:
            op.storage = found[op]
    return found[start]


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
