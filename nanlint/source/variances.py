"""Whether an operation is on E[x^2] - E[x]^2: an average less a square, as far as names and views lead back."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.source.makeup import operands_of
from nanlint.source.references import last_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.source.choices import Choices

_SUBTRACTING = frozenset({"sub", "sub_", "subtract", "subtract_"})
_ADDING = frozenset({"add", "add_"})
_SQUARING = frozenset(
    {"pow", "pow_", "square", "square_", "mul", "mul_", "multiply", "multiply_", "float_power", "float_power_"}
)


class Variances:
    """The variances of one file that are computed by a subtraction."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def are_among(self, home: str, operands: Sequence[ast.AST]) -> bool:
        """Whether an operand may be such a variance, or the sum of one and something else."""
        for place in self._choices.makers_of(home, operands):
            terms = _sides(place[1], ast.Add, _ADDING)
            if self._is_one(*place) or any(self._is_one(*each) for each in self._choices.makers_of(place[0], terms)):
                return True
        return False

    def _is_one(self, home: str, node: ast.AST) -> bool:
        sides = _sides(node, ast.Sub, _SUBTRACTING)
        # Which operand of a call is subtracted from which, nobody knows here.
        above, below = (sides, sides) if isinstance(node, ast.Call) else (sides[:1], sides[1:])
        return any(self._may_average(each) for _, each in self._choices.makers_of(home, above)) and any(
            self._may_square(each) for _, each in self._choices.makers_of(home, below)
        )

    def _may_average(self, node: ast.AST) -> bool:
        """Which operations average is the rule's to know; a quotient and a product of matrices may."""
        is_division = isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, (ast.Div, ast.MatMult))
        return isinstance(node, ast.Call) or is_division

    def _may_square(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return last_word(node.func) in _SQUARING or self._choices.is_called_by_name(node)
        return isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, (ast.Pow, ast.Mult))


def _sides(node: ast.AST, operator: type[ast.operator], words: frozenset[str]) -> Sequence[ast.AST]:
    if isinstance(node, ast.Call):
        return operands_of(node) if last_word(node.func) in words else ()
    if isinstance(node, ast.BinOp) and isinstance(node.op, operator):
        return node.left, node.right
    return (node.target, node.value) if isinstance(node, ast.AugAssign) and isinstance(node.op, operator) else ()
