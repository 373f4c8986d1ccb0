"""What an object is to a training loop: optimizer, scheduler, GradScaler, framework.

Known by how it was made where the project tells (`torch.optim.AdamW(...)`, `GradScaler()`), else by what people call it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import name_of
from nanlint.analysis.training_loop.naming import words_of

if TYPE_CHECKING:
    import ast

    from nanlint.analysis.training_loop.code import Code

_SCALERS = frozenset(
    {
        "torch.amp.GradScaler",
        "torch.cuda.amp.GradScaler",
        "torch.amp.grad_scaler.GradScaler",
        "torch.cpu.amp.GradScaler",
    }
)
_SCALER_WORDS = frozenset({"scaler", "gradscaler"})
_OPTIMIZER_WORDS = frozenset({"optimizer", "optim", "opt", "optimizers", "optims", "optimiser", "solver"})
_SCHEDULER_WORDS = frozenset({"scheduler", "sched", "schedulers", "lrscheduler", "schedule", "lrs"})
_FRAMEWORK_WORDS = frozenset({"accelerator", "fabric", "engine", "strategy"})
_SCHEDULERS = "torch.optim.lr_scheduler."


def is_scaler(node: ast.AST | None, code: Code) -> bool:
    """Whether `node` is a GradScaler by how it was made, or by its name, and not one that is switched off."""
    made = [op for op in code.makers_of(node) if name_of(op) in _SCALERS] if node is not None else []
    if made:
        return any(op.operands["enabled"].constant is not False if "enabled" in op.operands else True for op in made)
    return is_called(node, _SCALER_WORDS)


def is_optimizer(node: ast.AST | None, code: Code) -> bool:
    """Whether `node` is an optimizer by how it was made, or by its name."""
    if any(made.startswith("torch.optim.") and not made.startswith(_SCHEDULERS) for made in _made(node, code)):
        return True
    return is_called(node, _OPTIMIZER_WORDS) and not is_called(node, _SCHEDULER_WORDS)


def is_scheduler(node: ast.AST | None, code: Code) -> bool:
    """Whether `node` is a learning rate scheduler by how it was made, or by its name."""
    made = _made(node, code)
    return any(each.startswith(_SCHEDULERS) for each in made) or is_called(node, _SCHEDULER_WORDS)


def is_known_scheduler(node: ast.AST, code: Code) -> bool:
    """Whether the project makes `node` as a scheduler of torch or transformers, on some path at least."""
    words = (each.rpartition(".")[2] for each in _made(node, code))
    is_of_transformers = any(word.startswith("get_") and "sched" in word for word in words)
    return is_of_transformers or any(each.startswith(_SCHEDULERS) for each in _made(node, code))


def role_of(node: ast.AST, code: Code) -> str:
    """What an object is to a run: "scaler", "scheduler", "optimizer", or "other"."""
    if is_scaler(node, code):
        return "scaler"
    if is_scheduler(node, code):
        return "scheduler"
    return "optimizer" if is_optimizer(node, code) else "other"


def _made(node: ast.AST | None, code: Code) -> list[str]:
    return [name_of(op) for op in code.makers_of(node)] if node is not None else []


def is_called(node: ast.AST | None, words: frozenset[str]) -> bool:
    """Whether the name that `node` goes by has one of these words."""
    return node is not None and not words.isdisjoint(words_of(node))


def is_framework(node: ast.AST | None) -> bool:
    """Whether `node` is an Accelerator, a Fabric, a DeepSpeed engine, by its name."""
    return is_called(node, _FRAMEWORK_WORDS)
