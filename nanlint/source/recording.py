"""Whether autograd records what a function does, as far as its name and its decorators tell."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.source.outline import MODULE
from nanlint.source.references import last_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.source.outline import Chunk, Outline

EVALUATION_STEPS = frozenset(
    {"validation_step", "test_step", "predict_step", "evaluate", "evaluation", "validate", "compute_metrics"}
)
"""Methods that Lightning and others call without a gradient."""
NO_GRADIENT = frozenset(
    {"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.autograd.inference_mode"}
)
"""Regions in which nothing is recorded."""
# With one of these, some part of a function may be recorded whatever its decorators say.
_SWITCHES = ("enable_grad", "set_grad_enabled")


def is_recorded(chunk: Chunk, outline: Outline) -> bool:
    """Whether a part of the chunk may be recorded."""
    if chunk.name in EVALUATION_STEPS:
        return False
    node = chunk.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not node.decorator_list:
        return True
    # Defaults are computed outside.
    defaults = (*node.args.defaults, *node.args.kw_defaults)
    if any(isinstance(default, (ast.Call, ast.BinOp)) for default in defaults) or chunk.mentions(_SWITCHES):
        return True
    # What a decorator is called may mean something else to the module or the class.
    bound = [outline.chunks[around].bound for around in (MODULE, chunk.owner) if around in outline.chunks]
    return not any(_switches_off(decorator, outline, bound) for decorator in node.decorator_list)


def _switches_off(decorator: ast.expr, outline: Outline, bound: Sequence[set[str]]) -> bool:
    """`@torch.no_grad()`, `@torch.no_grad`; with an argument it may do nothing."""
    if isinstance(decorator, ast.Call):
        if decorator.args or decorator.keywords:
            return False
        decorator = decorator.func
    words = [last_word(decorator)]
    while isinstance(decorator, ast.Attribute):
        decorator = decorator.value
        words.insert(0, last_word(decorator))
    full = ".".join([outline.imports.get(words[0], ""), *words[1:]])
    return full in NO_GRADIENT and not any(words[0] in names for names in bound)
