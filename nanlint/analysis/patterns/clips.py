"""Gradient clips: torch's own, the methods of frameworks, and the trainers that clip by themselves; the bound of each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanlint.analysis.name_hints import CLIP_BOUNDS, MEASURING, words_in
from nanlint.analysis.op_graph import NUMBER
from nanlint.analysis.possible_numbers import possible_numbers

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op, Value

NORM = "torch.nn.utils.clip_grad_norm_"
_METHODS = (".clip_grad_norm_", ".clip_grad_norm", ".clip_grad_value_", ".clip_gradients")
_NAMES = ("max_norm", "clip_value", "clip_val", "gradient_clip_val", "1", "0")
_TRAINERS = {
    **dict.fromkeys(
        ("lightning.Trainer", "lightning.pytorch.Trainer", "pytorch_lightning.Trainer"), "gradient_clip_val"
    ),
    **dict.fromkeys(("transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments"), "max_grad_norm"),
}
WATCHED = (
    (NORM, "max_norm"),
    ("torch.nn.utils.clip_grads_with_norm_", "max_norm"),
    ("torch.nn.utils.clip_grad_value_", "clip_value"),
    *((method, name) for method in _METHODS for name in _NAMES),
    *_TRAINERS.items(),
)
"""Each clip with the names and places that its bound may have."""


def bound_of(op: Op, called: str) -> str | None:
    """The operand of a clip that says how much is too much; None where that is not stated."""
    if called in _TRAINERS:
        return _TRAINERS[called]
    stated = next((name for name in _NAMES if name in op.operands and not name.isdigit()), None)
    # FSDP's own method takes the bound first and the kind of norm second.
    first = op.operands.get("0")
    return stated or ("0" if first is not None and _is_a_bound(first) else "1")


def is_setting_of_trainer(called: str) -> bool:
    """Whether nothing is clipped here and now: a trainer is told how to."""
    return called in _TRAINERS


def says_it_measures(function: str, comments: str) -> bool:
    """Whether the name of the function, or a comment, says that the norm is all that is asked for."""
    words = words_in(function)
    is_named = "norm" in words and words.isdisjoint({"clip", "clipped", "clipping"})
    return is_named or re.search(MEASURING, comments.lower()) is not None


def _is_a_bound(value: Value) -> bool:
    is_number = value.kind is NUMBER or any(True for _ in possible_numbers(value))
    where = value.op.where.rpartition(".")[2] if value.op is not None else ""
    return is_number or not words_in(where).isdisjoint(CLIP_BOUNDS)
