"""Whether a backward passes through what an operation makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import NOTHING, TENSOR, TUPLE, UNKNOWN
from nanlint.analysis.selection import VIEWS
from nanlint.ops.names import METHODS
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op

WITHOUT_GRADIENT = torch_names("""
    zeros ones full rand randn arange linspace eye empty zeros_like ones_like full_like rand_like randn_like randint
    randperm normal logspace hann_window hamming_window kaiser_window bincount tensor as_tensor from_numpy argmax argmin
    isnan isinf isfinite
""")
"""Fresh tensors, tests and indices."""
CHOOSING = word_set("index condition mask indices")
"""Operands that only say which elements are meant: no gradient passes through them."""


def is_learned_leaf(op: Op) -> bool:
    """`torch.zeros(3, requires_grad=True)`: it only starts from these values."""
    asked = op.operands.get("requires_grad")
    if op.function != METHODS["requires_grad_"]:
        return asked is not None and asked.constant is True and op.function in WITHOUT_GRADIENT
    made = op.subject.op if op.subject is not None else None
    return made is not None and made.function in WITHOUT_GRADIENT and (asked is None or asked.constant is not False)


def is_detached(op: Op) -> bool:
    """Whether all its tensors are; numbers have no gradient anyway, an unknown may have one."""
    asked = op.operands.get("requires_grad")
    if asked is not None or op.function == METHODS["requires_grad_"]:
        return asked is not None and asked.constant is False
    if op.function == METHODS["detach"] or op.function in WITHOUT_GRADIENT or not op.recorded:
        return True
    subject = op.subject if op.function in VIEWS else None
    moving = False
    passing = (value for name, value in op.operands.items() if name not in CHOOSING)
    for value in passing if subject is None else (subject,):
        for part in value.parts if value.kind is TUPLE else (value,):
            if part.kind in {TENSOR, UNKNOWN} and part.constant is NOTHING:
                if not part.detached:
                    return False
                moving = True
    return moving
