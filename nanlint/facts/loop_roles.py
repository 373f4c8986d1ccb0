"""What an object is to a training loop: optimizer, scheduler, GradScaler, framework.

Known by how it was made where the file tells (`torch.optim.AdamW(...)`, `GradScaler()`), else by what people call it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.naming import words_of
from nanlint.facts.values import UNKNOWN

if TYPE_CHECKING:
    from nanlint.facts.flow import Flow

_SCALERS = frozenset(
    {
        "torch.amp.GradScaler",
        "torch.cuda.amp.GradScaler",
        "torch.amp.grad_scaler.GradScaler",
        "torch.cpu.amp.GradScaler",
    }
)
_OPTIMIZER_WORDS = frozenset({"optimizer", "optim", "opt", "optimizers", "optims", "optimiser", "solver"})
_SCHEDULER_WORDS = frozenset({"scheduler", "sched", "schedulers", "lrscheduler", "schedule", "lrs"})
_FRAMEWORK_WORDS = frozenset({"accelerator", "fabric", "engine", "strategy"})


def is_scaler(node: cst.BaseExpression | None, flow: Flow) -> bool:
    """Whether `node` is a GradScaler by how it was made, or by its name, and not one that is switched off."""
    made_by = flow.values.get(node, UNKNOWN).made_by if node is not None else None
    if made_by is not None and made_by.function in _SCALERS:
        enabled = made_by.arguments.get("enabled")
        return not (isinstance(enabled, cst.Name) and enabled.value == "False")
    return is_called(node, frozenset({"scaler", "gradscaler"}))


def is_optimizer(node: cst.BaseExpression | None, flow: Flow) -> bool:
    """Whether `node` is an optimizer by how it was made, or by its name."""
    made = _maker(node, flow)
    if made.startswith("torch.optim.") and not made.startswith("torch.optim.lr_scheduler"):
        return True
    return is_called(node, _OPTIMIZER_WORDS) and not is_called(node, _SCHEDULER_WORDS)


def is_scheduler(node: cst.BaseExpression | None, flow: Flow) -> bool:
    """Whether `node` is a learning rate scheduler by how it was made, or by its name."""
    return _maker(node, flow).startswith("torch.optim.lr_scheduler.") or is_called(node, _SCHEDULER_WORDS)


def _maker(node: cst.BaseExpression | None, flow: Flow) -> str:
    value = flow.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    makers = [choice.made_by.function for choice in value.possible if choice.made_by is not None]
    return makers[0] if makers else ""


def is_called(node: cst.BaseExpression | None, words: frozenset[str]) -> bool:
    """Whether the name that `node` goes by has one of these words."""
    return node is not None and not words.isdisjoint(words_of(node))


def is_framework(node: cst.BaseExpression | None) -> bool:
    """Whether `node` is an Accelerator, a Fabric, a DeepSpeed engine, by its name."""
    return is_called(node, _FRAMEWORK_WORDS)
