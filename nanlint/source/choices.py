"""What the names of a file may hold, as far as it is written: values that they are given, either side of a choice."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.source.below import nodes_below
from nanlint.source.makeup import OWN, VIEWS, operands_of
from nanlint.source.origins import THROUGH
from nanlint.source.references import SELVES, last_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.source.handed import Place
    from nanlint.source.slices import Slices

# Whatever is in them may be what is meant.
_CHOICES = (ast.BoolOp, ast.NamedExpr, ast.Tuple, ast.List, ast.keyword, ast.Starred, ast.Await)
# Modules that hand on what they are given.
_RESHAPING = frozenset({"Flatten", "Unflatten"})


class Choices:
    """What the names of one file may hold."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices

    def given(self, home: str, node: ast.AST) -> Iterator[Place]:
        """What a name, or an attribute of the object, is given in this file."""
        if isinstance(node, ast.Name):
            yield from self._slices.given_to(home, node.id)
        elif isinstance(node, ast.Attribute) and is_own(node):
            yield from self._slices.given_to(home, OWN + node.attr)

    def of(self, home: str, node: ast.AST) -> Iterator[ast.AST]:
        """What `node` may be: itself, what its name is given, either side of a choice, any part of a tuple."""
        return (chosen for _, chosen in self.of_all([(home, node)], set()))

    def of_all(self, pending: list[Place], seen: set[ast.AST], passed: list[Place] | None = None) -> Iterator[Place]:
        """The same of several, those left out that were seen before; more may be put to them while they are looked at.

        All that was looked at on the way, names included, goes to `passed`.
        """
        while pending:
            chunk, current = pending.pop()
            if current in seen:
                continue
            seen.add(current)
            if passed is not None:
                passed.append((chunk, current))
            if isinstance(current, ast.IfExp):
                pending += [(chunk, current.body), (chunk, current.orelse)]
            elif isinstance(current, _CHOICES):
                pending += [(chunk, child) for child in nodes_below(current)]
            elif given := list(self.given(chunk, current)):
                self._slices.spend(len(given))
                pending += given
            else:
                yield chunk, current

    def makers_of(self, home: str, operands: Sequence[ast.AST]) -> Iterator[Place]:
        """Whatever may have made one of `operands`, through names and views."""
        pending: list[Place] = [(home, operand) for operand in operands]
        for chunk, node in self.of_all(pending, set()):
            yield chunk, node
            if isinstance(node, ast.Call) and (last_word(node.func) in THROUGH or self.is_called_by_name(node)):
                pending += [(chunk, part) for part in (node.func, *operands_of(node))]
            elif isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in VIEWS):
                pending.append((chunk, node.value))

    def is_library(self, node: ast.AST) -> bool:
        """Whether `node` is a name that an import binds."""
        return isinstance(node, ast.Name) and self._slices.is_imported(node.id)

    def is_of_library(self, function: ast.Attribute) -> bool:
        """`torch.nn.functional.pad`, and not `x.view`."""
        root: ast.AST = function
        while isinstance(root, ast.Attribute):
            root = root.value
        return self.is_library(root)

    def is_called_by_name(self, call: ast.Call) -> bool:
        """`f(x)`, `self.f(x)`: what is called may be a function, a method or a class of this file."""
        return isinstance(call.func, ast.Name) or (isinstance(call.func, ast.Attribute) and is_own(call.func))

    def handed_on(self, home: str, call: ast.Call) -> Sequence[ast.AST]:
        """What the values that a call returns may come from; what a function of the file is given is not what it returns."""
        if not self.is_called_by_name(call):
            return operands_of(call)
        makers = self.of(home, call.func)
        is_view = any(isinstance(maker, ast.Call) and last_word(maker.func) in _RESHAPING for maker in makers)
        return [call.func, *operands_of(call)] if is_view else [call.func]


def is_own(node: ast.Attribute) -> bool:
    """`self.x`."""
    return isinstance(node.value, ast.Name) and node.value.id in SELVES
