"""What must be a tensor, or an array, by how it is used: nothing else is read at several places at once, or has such methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.values import Form
from nanlint.ops.names import SIGNATURES

if TYPE_CHECKING:
    from nanlint.facts.values import Call

MODULE_NAMES = frozenset({"torch", "F", "nn", "np", "math", "self", "cls"})


def is_of_tensors(call: Call) -> bool:
    """Whether a function of torch's is called by its name."""
    return call.form is Form.FUNCTION and call.function in SIGNATURES
