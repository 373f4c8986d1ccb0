"""Whether something was selected by an index that is no number, here, under a name, or before it was computed with."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.source.below import nodes_below
from nanlint.source.makeup import operands_of
from nanlint.source.references import last_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.source.choices import Choices
    from nanlint.source.handed import Place

_DEEPEST = 5
_ELEMENTWISE = frozenset(
    {"add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "pow", "square", "abs", "absolute", "neg", "negative", "sqrt", "log", "exp"}
)  # fmt: skip


def are_selected(home: str, operands: Sequence[ast.AST], choices: Choices) -> bool:
    """Whether one of `operands`, or what it is computed from, is `x[index]` or `x.masked_select(mask)`."""
    level, seen = [(home, operand) for operand in operands], set[ast.AST]()
    for _ in range(_DEEPEST):
        parts: list[Place] = []
        for chunk, node in choices.of_all(level, seen):
            if isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Constant, ast.Slice, ast.Tuple)):
                return True
            if isinstance(node, ast.Call) and last_word(node.func) == "masked_select":
                return True
            parts += [(chunk, part) for part in _elements_of(node)]
        level = parts
    return False


def _elements_of(node: ast.AST) -> Sequence[ast.AST]:
    """What an elementwise operation is computed from."""
    if isinstance(node, ast.Call):
        return operands_of(node) if last_word(node.func) in _ELEMENTWISE else ()
    return nodes_below(node) if isinstance(node, (ast.BinOp, ast.UnaryOp)) else ()
