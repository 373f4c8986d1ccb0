"""Whether what is added to something is an eps: a small number, what is called one, or what another file gives."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanlint.source.choices import is_own
from nanlint.source.kinds import TINY
from nanlint.source.raised import LARGEST_EPS, number, terms
from nanlint.source.references import last_word

if TYPE_CHECKING:
    from nanlint.source.choices import Choices
    from nanlint.source.slices import Slices

_SMALL = re.compile(r"eps|tiny|smooth|jitter", re.IGNORECASE)
_ADD = frozenset({"add", "add_"})
_NUMBERS = frozenset({"float", "int", "max", "min", "abs"})


class AddedEps:
    """The sums of one file with an eps for a term."""

    def __init__(self, slices: Slices, choices: Choices) -> None:
        self._slices = slices
        self._choices = choices
        self._named: dict[tuple[str, str, int], bool] = {}
        """Each name of a chunk -> whether it may be an eps; the sums of a function have most names in common."""

    def is_added(self, home: str, node: ast.AST) -> bool:
        """`x + eps`, as it is written."""
        is_call = isinstance(node, ast.Call) and last_word(node.func) in _ADD
        return is_call or any(self._may_be_eps(home, term) for term in terms(node))

    def is_late(self, home: str, node: ast.AST) -> bool:
        """`torch.sqrt(x) + eps`: one that is added to the result of a call."""
        both = terms(node)
        if any(isinstance(term, (ast.Tuple, ast.List)) for term in both):
            return False
        return not both or any(
            self._may_be_eps(home, eps) and any(map(_is_called, self._choices.of(home, value)))
            for value, eps in (both, both[::-1])
        )

    def _may_be_eps(self, home: str, node: ast.AST, depth: int = 2) -> bool:
        """Whether `node` may be a small number, or is called one; nobody knows here what another file gives."""
        if not isinstance(node, ast.Name):
            return self._is_eps(home, node, depth)
        key = home, node.id, depth
        if key not in self._named:
            self._named[key] = self._is_eps(home, node, depth)
        return self._named[key]

    def _is_eps(self, home: str, node: ast.AST, depth: int) -> bool:
        return _SMALL.search(last_word(node)) is not None or any(
            self._is_small(home, choice, depth) for choice in self._choices.of(home, node)
        )

    def _is_small(self, home: str, node: ast.AST, depth: int) -> bool:
        if isinstance(node, ast.Constant):
            return 0 < number(node) <= LARGEST_EPS
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
            others = [part for part in parts if not isinstance(part, ast.Constant)]
            return depth == 0 or all(self._may_be_eps(home, part, depth - 1) for part in others)
        if isinstance(node, (ast.Name, ast.Attribute)):
            is_inherited = isinstance(node, ast.Attribute) and is_own(node)
            return is_inherited or (self._choices.is_library(node) and last_word(node) != "Tensor")
        is_item = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
        is_number = isinstance(node, ast.Call) and last_word(node.func) in _NUMBERS
        return (is_item or is_number) and TINY in self._slices.words_of(home, node)


def _is_called(node: ast.AST) -> bool:
    is_power = isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Pow)
    return is_power or isinstance(node, ast.Call)
