"""Whether something that an operand rests on is compared anywhere, so that a condition may tell how large it is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.source.below import all_below, nodes_below
from nanlint.source.references import last_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.source.choices import Choices
    from nanlint.source.handed import Place
    from nanlint.source.slices import Slices

_ORDERING = frozenset(
    f"{word}{end}"
    for word in ("lt", "le", "gt", "ge", "less", "less_equal", "greater", "greater_equal")
    for end in ("", "_")
)
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
# What takes more than this to make is not looked into further.
_MOST_NODES = 120


class Tested:
    """What the functions of one file compare, by its names."""

    def __init__(self, slices: Slices, choices: Choices) -> None:
        self._slices = slices
        self._choices = choices
        self._compared: dict[str, set[str]] = {}

    def are_among(self, home: str, operands: Sequence[ast.AST]) -> bool:
        """Whether a name that stands for one of `operands`, or for what it was made of, is compared where it stands."""
        pending: list[Place] = [(home, operand) for operand in operands]
        passed: list[Place] = []
        looked_at = 0
        for chunk, node in self._choices.of_all(pending, set(), passed):
            new, looked_at = passed[looked_at:], len(passed)
            if looked_at > _MOST_NODES or any(last_word(each) in self._names_compared(where) for where, each in new):
                return True
            pending += [(chunk, part) for part in nodes_below(node)]
        return any(last_word(each) in self._names_compared(where) for where, each in passed[looked_at:])

    def _names_compared(self, chunk: str) -> set[str]:
        if chunk not in self._compared:
            tests = filter(_orders, self._slices.all_nodes_of(chunk))
            names = {last_word(inner) for test in tests for inner in all_below(test)}
            self._compared[chunk] = {name for name in names if name and not self._slices.is_imported(name)}
        return self._compared[chunk]


def _orders(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return any(isinstance(sign, _ORDERED) for sign in node.ops)
    return isinstance(node, ast.Call) and last_word(node.func) in _ORDERING
