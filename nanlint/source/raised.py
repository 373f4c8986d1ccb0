"""Whether a number was added to a value, or it was clamped to one, whichever way it came: an eps that keeps it from 0."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from nanlint.source.choices import is_own
from nanlint.source.kinds import SMALLEST_IN_HALF
from nanlint.source.references import SELVES, last_word

if TYPE_CHECKING:
    from nanlint.source.choices import Choices

_DEEPEST = 8
_EPS = re.compile(r"(^|_)(eps|epsilon)($|_)", re.IGNORECASE)
_FLOORS = frozenset({"clamp", "clip", "clamp_min", "clamp_", "clip_", "clamp_min_"})
# What is above 0 before them is above 0 after them.
_KEEP_ABOVE = frozenset(
    {
        "view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "contiguous", "clone", "expand", "expand_as",
        "float", "double", "half", "bfloat16", "to", "type_as", "repeat", "sqrt", "detach",
    }
)  # fmt: skip

LARGEST_EPS = 0.01
_LEAST = 5e-324


class Numbers(NamedTuple):
    """From one number to another."""

    least: float
    largest: float


IN_HALF = Numbers(SMALLEST_IN_HALF, LARGEST_EPS)
ABOVE_ZERO = Numbers(_LEAST, LARGEST_EPS)
ANY_NUMBER = Numbers(float("-inf"), float("inf"))


class Raised:
    """Which values of a file were raised."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def is_raised(self, home: str, node: ast.AST, by: Numbers, depth: int = _DEEPEST) -> bool:
        """Whether such a number was added to `node`, or it was clamped to one, whichever way it came here."""
        if isinstance(node, ast.Name):
            given = list(self._choices.given(home, node)) if depth else []
            return bool(given) and all(self.is_raised(chunk, value, by, depth - 1) for chunk, value in given)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return 0 < number(node.right) <= 1 and self.is_raised(home, node.left, by, depth)
        if isinstance(node, ast.BinOp):
            return any(self._is_one(home, term, by) for term in terms(node))
        if isinstance(node, ast.Subscript):
            return self.is_raised(home, node.value, by, depth)
        return isinstance(node, ast.Call) and self._is_raised_by_call(home, node, by, depth)

    def _is_raised_by_call(self, home: str, node: ast.Call, by: Numbers, depth: int) -> bool:
        if not isinstance(node.func, ast.Attribute):
            return False
        receiver, given = node.func.value, node.args
        if isinstance(receiver, ast.Name) and receiver.id in SELVES:
            return False
        if self._choices.is_library(receiver) and given:
            receiver, given = given[0], given[1:]
        if node.func.attr in _KEEP_ABOVE:
            return self.is_raised(home, receiver, by, depth)
        bound = next((keyword.value for keyword in node.keywords if keyword.arg == "min"), given[0] if given else None)
        # A bound of which nothing is known may be anything.
        return node.func.attr in _FLOORS and max(by.least, _LEAST) <= number(bound)

    def _is_one(self, home: str, node: ast.AST, by: Numbers) -> bool:
        """Whether `node` is such a number, or is called an eps and nothing in the file says that it is none."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float)) and by.least <= node.value <= by.largest
        return _EPS.search(last_word(node)) is not None and self._is_setting(home, node, by, _DEEPEST)

    def _is_setting(self, home: str, node: ast.AST, by: Numbers, depth: int) -> bool:
        """Whether `node` is given such numbers alone, and things of which nothing is known here, as `config.eps`."""
        if isinstance(node, ast.Constant):
            return not isinstance(node.value, (int, float)) or node.value >= by.least
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):  # float | None
            return all(self._is_setting(home, part, by, depth) for part in (node.left, node.right))
        if last_word(node) in {"float", "int", "Tensor"} or (isinstance(node, ast.Attribute) and not is_own(node)):
            return True
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return isinstance(node, ast.Subscript) and last_word(node.value) == "Optional"
        if not depth:
            return False
        given = list(self._choices.given(home, node))
        # What a class of another file sets may be any number.
        is_inherited = not given and by is ANY_NUMBER and isinstance(node, ast.Attribute)
        return is_inherited or (
            bool(given) and all(self._is_setting(chunk, value, by, depth - 1) for chunk, value in given)
        )


def number(node: ast.AST | None) -> float:
    """The number that is written; 0 for anything else."""
    value = node.value if isinstance(node, ast.Constant) else 0
    return value if isinstance(value, (int, float)) else 0


def terms(node: ast.AST) -> list[ast.AST]:
    """Both terms of a sum that is written with an operator."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [node.left, node.right]
    return [node.target, node.value] if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) else []
