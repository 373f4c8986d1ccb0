"""What an object that is named in a training loop is to it: optimizer, scheduler, GradScaler, framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.name_hints import FRAMEWORKS
from nanlint.analysis.op_graph import CALL
from nanlint.analysis.training_loop.naming import words_of
from nanlint.analysis.training_loop.runs import run_parts
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    import ast

    from nanlint.analysis.op_graph import Op
    from nanlint.analysis.training_loop.code import Code

# The argument in which a framework is told its precision, and what that may be. In float16 it scales the loss and skips a step
# that is not finite, in the others it does neither.
_PRECISIONS = {"Accelerator": "mixed_precision", "Fabric": "precision"}
_SCALED = word_set("fp16 16 16-mixed")
_UNSCALED = word_set("no bf16 bf16-mixed bf16-true 32 32-true 64-true")


def role_of(node: ast.AST | None, code: Code) -> str:
    """What an object is to a run, by how it was made, else by its name: one of those of `run_parts`."""
    return run_parts.role_of(_made(node, code), node) if node is not None else run_parts.OTHER


def is_scaler(node: ast.AST | None, code: Code) -> bool:
    """Whether `node` is a GradScaler, and not one that is switched off."""
    return role_of(node, code) == run_parts.SCALER


def may_be_off(node: ast.AST, code: Code) -> bool:
    """Whether a setting decides if a GradScaler scales at all: `GradScaler(enabled=args.fp16)`."""
    told = [maker.operands.get("enabled") for maker in _made(node, code) if maker.where in run_parts.GRAD_SCALERS]
    return any(each is not None and each.constant is not True for each in told)


def is_optimizer(node: ast.AST | None, code: Code) -> bool:
    """Whether `node` is an optimizer."""
    return role_of(node, code) == run_parts.OPTIMIZER


def is_scheduler(node: ast.AST | None, code: Code) -> bool:
    """Whether `node` is a learning rate scheduler."""
    return role_of(node, code) == run_parts.SCHEDULER


def _made(node: ast.AST, code: Code) -> list[Op]:
    return [op for op in code.makers_of(node) if op.function == CALL]


def is_called(node: ast.AST | None, words: frozenset[str]) -> bool:
    """Whether the name that `node` goes by has one of these words."""
    return node is not None and not words.isdisjoint(words_of(node))


def is_framework(node: ast.AST | None) -> bool:
    """Whether `node` is an Accelerator, a Fabric, a DeepSpeed engine, by its name."""
    return is_called(node, FRAMEWORKS)


def is_told_precision(node: ast.AST | None, code: Code) -> bool:
    """Whether `node` is a framework that is told where it is made what to compute in: an Accelerator, a Fabric."""
    made = {maker.where.rpartition(".")[2] for maker in (_made(node, code) if node is not None else ())}
    return not made.isdisjoint(_PRECISIONS) or is_called(node, frozenset(map(str.lower, _PRECISIONS)))


def may_scale(node: ast.AST | None, code: Code) -> bool:
    """Whether `node` is a framework that may scale the loss, and then skips a step that is not finite."""
    return is_framework(node) and _precisions(node, code).isdisjoint(_UNSCALED)


def scales(node: ast.AST | None, code: Code) -> bool:
    """Whether `node` is a framework that is told to compute in float16."""
    return is_framework(node) and not _precisions(node, code).isdisjoint(_SCALED)


def _precisions(node: ast.AST | None, code: Code) -> set[str]:
    told = [
        maker.operands.get(_PRECISIONS.get(maker.where.rpartition(".")[2], ""))
        for maker in (_made(node, code) if node is not None else ())
    ]
    return {str(each.constant) for each in told if each is not None}
