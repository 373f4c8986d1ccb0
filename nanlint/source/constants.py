"""Constants that a mask is made of: huge numbers, and the least number of a format, where they are written or under a name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.source.below import all_below
from nanlint.source.kinds import EPS, FRACTION, HUGE, LEAST, LOW, TINY
from nanlint.source.makeup import operands_of
from nanlint.source.origins import THROUGH
from nanlint.source.references import last_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.source.choices import Choices
    from nanlint.source.handed import Place
    from nanlint.source.slices import Slices

_LIMITS = "finfo"
HUGE_WORDS = frozenset({HUGE, _LIMITS})
WIDE = frozenset({"float32", "float64", "bfloat16", "float", "double"})
"""Formats that hold more than float16."""
_SMALL = frozenset({TINY, FRACTION, EPS})
_DIVIDING = frozenset({"div", "div_", "divide", "divide_", "true_divide", "true_divide_"})
_INFINITE = frozenset({"inf", "Inf", "infty"})
# What a number below 0 is made with: `finfo.min`, `-finfo.max`, `0 - finfo.max`.
_BELOW = frozenset({"min", LOW, "neg", "negative", "-", "sub", "subtract", "rsub"})
ASKED_OF_CONSTANTS = HUGE_WORDS | WIDE | _INFINITE | _BELOW | _SMALL | {LEAST}
"""The words that are looked for behind a constant."""
_MADE = frozenset(
    {"float", "int", "tensor", "full", "full_like", "new_tensor", "new_full", "as_tensor", "scalar_tensor"}
)
# Annotations, which are among what a parameter is given.
_TYPES = frozenset({"float", "int", "bool", "str", "Optional", "Union", "Any", "dtype", "device"})
# Methods that read a number off something.
_READING = frozenset({"item", "get"})
_PLANES = frozenset(
    {"masked_fill", "masked_fill_", "where", "mul", "mul_", "multiply", "multiply_", "full", "full_like", "new_full"}
)
_PARTS = THROUGH | {"masked_fill", "masked_fill_", "triu", "triu_", "tril", "tril_"}
# An expression that is deeper than this may be anything.
_DEEPEST = 6


class Constants:
    """The constants of one file."""

    def __init__(self, slices: Slices, choices: Choices) -> None:
        self._slices = slices
        self._choices = choices

    def are_among(self, home: str, operands: Sequence[ast.AST]) -> bool:
        """Whether an operand may be a number that float16 does not hold, or the limit of a format."""
        return next(self._with(HUGE_WORDS, home, operands), None) is not None

    def are_infinite_among(self, home: str, operands: Sequence[ast.AST]) -> bool:
        """Whether an operand may be an infinite number."""
        return next(self._with(_INFINITE, home, operands), None) is not None

    def are_wide_among(self, home: str, operands: Sequence[ast.AST]) -> bool:
        """Whether an operand may be the lower limit of a format that is wider than float16."""
        return any(
            not _BELOW.isdisjoint(self._slices.words_of(*place)) and self._may_be_wide(*place)
            for place in self._with(HUGE_WORDS, home, operands)
        )

    def _with(self, words: frozenset[str], home: str, operands: Sequence[ast.AST]) -> Iterator[Place]:
        """The operands, or what their names hold, that may be constants with one of `words` behind them."""
        for operand in operands:
            for chunk, node in self._choices.of_all([(home, operand)], set()):
                is_made = isinstance(node, ast.Call) and last_word(node.func) in _MADE
                is_plain = not isinstance(node, (ast.Call, ast.Subscript)) and self._is_number(chunk, node, _DEEPEST)
                if (is_made or is_plain) and not words.isdisjoint(self._slices.words_of(chunk, node)):
                    yield chunk, node

    def _may_be_wide(self, home: str, constant: ast.AST) -> bool:
        """Whether the dtype of which it is the limit may be known, and wide."""
        limits = [
            each for each in all_below(constant) if isinstance(each, ast.Call) and last_word(each.func) == _LIMITS
        ]
        given = [part for limit in limits for part in (*limit.args, *(keyword.value for keyword in limit.keywords))]
        if not given:
            return True
        # `x.dtype` is wide if x is.
        given += [part.value for part in given if isinstance(part, ast.Attribute)]
        return any(not WIDE.isdisjoint(self._slices.words_of(home, part)) for part in given)

    def _may_be_number(self, home: str, node: ast.AST, depth: int) -> bool:
        return depth == 0 or any(
            self._is_number(chunk, choice, depth - 1) for chunk, choice in self._choices.of_all([(home, node)], set())
        )

    def _is_number(self, home: str, node: ast.AST, depth: int) -> bool:
        """Whether `node`, which is no name for something else, may be a number that somebody can know."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float))
        if isinstance(node, (ast.Name, ast.Attribute)):
            return not _is_type(node)
        if isinstance(node, (ast.BinOp, ast.AugAssign, ast.UnaryOp, ast.Subscript)):
            return all(self._may_be_number(home, part, depth) for part in _parts(node))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_method = not self._choices.is_of_library(node.func) and not self._choices.is_called_by_name(node)
            return not is_method or node.func.attr in _READING
        return not isinstance(node, ast.Compare)

    def may_be_learned(self, home: str, operand: ast.AST) -> bool:
        """Whether the operand may be a parameter of a model, or something is taken from it step by step.

        What is computed otherwise, a number, and what is given to a function is none.
        """
        for _, node in self._choices.of_all([(home, operand)], set()):
            named = node.value if isinstance(node, ast.Subscript) else node  # Optional[float]
            if isinstance(named, (ast.Name, ast.Attribute)):
                if not _is_type(named):
                    return True
            elif isinstance(node, (ast.BinOp, ast.AugAssign)):
                if isinstance(node.op, ast.Sub):
                    return True
            elif not isinstance(node, (ast.UnaryOp, ast.Compare, ast.Constant)):
                return True
        return False

    def are_amplified_among(self, home: str, operands: Sequence[ast.AST]) -> bool:
        """Whether an operand may be a quotient with a small number, or what is called one, below."""
        for chunk, node in self._choices.makers_of(home, operands):
            below = _denominators(node)
            if any(not _SMALL.isdisjoint(self._slices.words_of(chunk, each)) for each in below):
                return True
        return False

    def is_plane_of_least(self, home: str, operand: ast.AST) -> bool:
        """Whether the least number of a format is filled into the operand, or into what it is a part of."""
        pending: list[Place] = [(home, operand)]
        for chunk, node in self._choices.of_all(pending, set()):
            if isinstance(node, ast.Call):
                word = last_word(node.func)
                if word in _PLANES and self._is_of_least(chunk, operands_of(node)):
                    return True
                if word in _PARTS or self._choices.is_called_by_name(node):
                    pending += [(chunk, part) for part in self._choices.handed_on(chunk, node)]
            elif isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Mult):
                if self._is_of_least(chunk, _parts(node)):
                    return True
            elif isinstance(node, (ast.Subscript, ast.Attribute)):
                pending.append((chunk, node.value))
        return False

    def _is_of_least(self, home: str, operands: Sequence[ast.AST]) -> bool:
        return any(
            LEAST in self._slices.words_of(chunk, node) for chunk, node in self._with(HUGE_WORDS, home, operands)
        )


def _denominators(node: ast.AST) -> Sequence[ast.AST]:
    """What a quotient has below; of a call, nobody knows here which of its operands that is."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div):
        return [node.right if isinstance(node, ast.BinOp) else node.value]
    return operands_of(node) if isinstance(node, ast.Call) and last_word(node.func) in _DIVIDING else ()


def _is_type(node: ast.AST) -> bool:
    """`float`, `torch.Tensor`: an annotation."""
    return last_word(node) in _TYPES or last_word(node).endswith("Tensor")


def _parts(node: ast.BinOp | ast.AugAssign | ast.UnaryOp | ast.Subscript) -> Sequence[ast.AST]:
    if isinstance(node, ast.BinOp):
        return node.left, node.right
    if isinstance(node, ast.AugAssign):
        return node.target, node.value
    return (node.operand,) if isinstance(node, ast.UnaryOp) else (node.value,)
