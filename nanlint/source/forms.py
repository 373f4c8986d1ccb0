"""Forms in which an operation is written, told by the expression itself and by what its names are given in the file.

In some it cannot break: an eps under the root, an einsum without a diagonal. Others a rule is about alone: what was selected
by an index, an eps that is added to a result. Where nobody can tell, the analysis gets to look, and knows better.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from nanlint.source.kinds import (
    EPS_ADDED,
    FILLED,
    FLOORED,
    HUGE,
    HUGE_CONSTANT,
    LATE_EPS,
    NO_DIAGONAL,
    NUMBER_ADDED,
    OWN_CALLED,
    RAISED,
    SELECTED,
    SMALLEST_IN_HALF,
    TINY,
)
from nanlint.source.makeup import OWN, SELVES, operands_of
from nanlint.source.references import last_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nanlint.source.slices import Slices

_Place = tuple[str, ast.AST]

_DEEPEST = 8
_LARGEST_EPS = 0.01
_LEAST = 5e-324


class _Numbers(NamedTuple):
    """From one number to another."""

    least: float
    largest: float


_IN_HALF = _Numbers(SMALLEST_IN_HALF, _LARGEST_EPS)
_ABOVE_ZERO = _Numbers(_LEAST, _LARGEST_EPS)
_ANY_NUMBER = _Numbers(float("-inf"), float("inf"))

_EPS = re.compile(r"(^|_)(eps|epsilon)($|_)", re.IGNORECASE)
_SMALL = re.compile(r"eps|tiny|smooth|jitter", re.IGNORECASE)
_FLOORS = frozenset({"clamp", "clip", "clamp_min", "clamp_", "clip_", "clamp_min_"})
_ADD = frozenset({"add", "add_"})
_CONSTANTS = frozenset(
    {"float", "int", "tensor", "full", "full_like", "new_tensor", "new_full", "as_tensor", "scalar_tensor"}
)
HUGE_WORDS = frozenset({HUGE, "finfo"})
ASKED_OF_FORMS = HUGE_WORDS | {TINY}
"""The words that are looked for behind an expression to tell its form."""
_NUMBERS = frozenset({"float", "int", "max", "min", "abs"})
# What is above 0 before them is above 0 after them.
_KEEP_ABOVE = frozenset(
    {
        "view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "contiguous", "clone", "expand", "expand_as",
        "float", "double", "half", "bfloat16", "to", "type_as", "repeat", "sqrt", "detach",
    }
)  # fmt: skip
# Whatever is in them may be what is meant.
_CHOICES = (ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Tuple, ast.List, ast.keyword, ast.Starred, ast.Await)


class Forms:
    """The forms of one file's operations."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices

    def has(self, form: str, home: str, place: ast.AST) -> bool:
        """Whether an operation in the chunk called `home` is written in this form."""
        return _FORMS[form](self, home, place)

    def is_of_raised(self, home: str, place: ast.AST) -> bool:
        """`torch.sqrt(x + 1e-6)`."""
        return self._is_of(place, lambda node: self._is_raised(home, node, _IN_HALF))

    def is_of_floored(self, home: str, place: ast.AST) -> bool:
        """`a / x.clamp(min=1e-12)`."""
        return self._is_of(place, lambda node: self._is_raised(home, node, _ABOVE_ZERO))

    def is_of_sum_with_number(self, home: str, place: ast.AST) -> bool:
        """`a / (x.sum() + 1)`."""
        return self._is_of(place, lambda node: self._is_raised(home, node, _ANY_NUMBER))

    def _is_of(self, place: ast.AST, test: Callable[[ast.AST], bool]) -> bool:
        """Whether `test` holds for what the operation breaks on."""
        operands = operands_of(place)
        if len(operands) > 1 and self._is_library(operands[0]):
            operands = operands[1:]
        return bool(operands) and test(operands[0])

    def is_without_diagonal(self, home: str, place: ast.AST) -> bool:
        """`torch.einsum("bij,bjk->bik", a, b)`."""
        del home
        equation = place.args[0] if isinstance(place, ast.Call) and place.args else None
        if not isinstance(equation, ast.Constant) or not isinstance(equation.value, str):
            return False
        operands = equation.value.partition("->")[0].split(",")
        letters = ([letter for letter in operand if letter.isalpha()] for operand in operands)
        return all(len(each) == len(set(each)) for each in letters)

    def is_of_selected(self, home: str, place: ast.AST) -> bool:
        """`loss(scores[mask], labels)`, or under a name."""
        return any(
            isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Constant, ast.Slice, ast.Tuple))
            for operand in operands_of(place)
            for node in self._choices(home, operand)
        )

    def is_of_sum_with_eps(self, home: str, place: ast.AST) -> bool:
        """`relu(x + eps)`, as it is written."""
        return any(
            (isinstance(node, ast.Call) and last_word(node.func) in _ADD)
            or any(self._may_be_eps(home, term) for term in _terms(node))
            for node in operands_of(place)
        )

    def is_late_eps(self, home: str, place: ast.AST) -> bool:
        """`torch.sqrt(x) + eps`, or `x ** 0.5 + eps`."""
        terms = _terms(place)
        if any(isinstance(term, (ast.Tuple, ast.List)) for term in terms):
            return False
        return not terms or any(
            self._may_be_eps(home, eps) and any(map(_is_called, self._choices(home, value)))
            for value, eps in (terms, terms[::-1])
        )

    def is_with_huge_constant(self, home: str, place: ast.AST) -> bool:
        """`scores.masked_fill(mask, -1e9)`, or under a name."""
        return any(
            not HUGE_WORDS.isdisjoint(self._slices.words_of(home, node))
            for operand in operands_of(place)
            for node in self._choices(home, operand)
            if not isinstance(node, (ast.Call, ast.Subscript)) or last_word(getattr(node, "func", node)) in _CONSTANTS
        )

    def is_call_of_own(self, home: str, place: ast.AST) -> bool:
        """`self.layer(x)`."""
        del home
        return isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute) and _is_own(place.func)

    def is_filled(self, home: str, place: ast.AST) -> bool:
        """`self.weight = nn.Parameter(torch.empty(n))`, and `nn.init.zeros_(module.weight)` anywhere in the file."""
        if not isinstance(place, ast.Call):
            return False
        memory = place.args[0] if place.args else None
        if isinstance(memory, ast.Call) and memory.args and "experts" in ast.unparse(memory.args[0]):
            return True
        nodes = self._slices.nodes_of(home)
        kept = [
            node.targets[0] if isinstance(node, ast.Assign) else node.target
            for node in nodes
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value and place in ast.walk(node.value)
        ]
        return bool(kept) and self._slices.is_filled(last_word(kept[0]))

    def _is_library(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and self._slices.is_imported(node.id)

    def _is_raised(self, home: str, node: ast.AST, by: _Numbers, depth: int = _DEEPEST) -> bool:
        """Whether such a number was added to `node`, or it was clamped to one, whichever way it came here."""
        if isinstance(node, ast.Name):
            given = list(self._given(home, node)) if depth else []
            return bool(given) and all(self._is_raised(chunk, value, by, depth - 1) for chunk, value in given)
        if isinstance(node, ast.BinOp):
            return any(self._is_one(home, term, by) for term in _terms(node))
        if isinstance(node, ast.Subscript):
            return self._is_raised(home, node.value, by, depth)
        return isinstance(node, ast.Call) and self._is_raised_by_call(home, node, by, depth)

    def _is_raised_by_call(self, home: str, node: ast.Call, by: _Numbers, depth: int) -> bool:
        if not isinstance(node.func, ast.Attribute):
            return False
        receiver, given = node.func.value, node.args
        if isinstance(receiver, ast.Name) and receiver.id in SELVES:
            return False
        if self._is_library(receiver) and given:
            receiver, given = given[0], given[1:]
        if node.func.attr in _KEEP_ABOVE:
            return self._is_raised(home, receiver, by, depth)
        bound = next((keyword.value for keyword in node.keywords if keyword.arg == "min"), given[0] if given else None)
        # A bound of which nothing is known may be anything.
        return node.func.attr in _FLOORS and max(by.least, _LEAST) <= _number(bound)

    def _is_one(self, home: str, node: ast.AST, by: _Numbers) -> bool:
        """Whether `node` is such a number, or is called an eps and nothing in the file says that it is none."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float)) and by.least <= node.value <= by.largest
        return _EPS.search(last_word(node)) is not None and self._is_setting(home, node, by, _DEEPEST)

    def _is_setting(self, home: str, node: ast.AST, by: _Numbers, depth: int) -> bool:
        """Whether `node` is given such numbers alone, and things of which nothing is known here, as `config.eps`."""
        if isinstance(node, ast.Constant):
            return not isinstance(node.value, (int, float)) or node.value >= by.least
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):  # float | None
            return all(self._is_setting(home, part, by, depth) for part in (node.left, node.right))
        if last_word(node) in {"float", "int", "Tensor"} or (isinstance(node, ast.Attribute) and not _is_own(node)):
            return True
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return isinstance(node, ast.Subscript) and last_word(node.value) == "Optional"
        given = list(self._given(home, node)) if depth else []
        return bool(given) and all(self._is_setting(chunk, value, by, depth - 1) for chunk, value in given)

    def _may_be_eps(self, home: str, node: ast.AST, depth: int = 2) -> bool:
        """Whether `node` may be a small number, or is called one; nobody knows here what another file gives."""
        return _SMALL.search(last_word(node)) is not None or any(
            self._is_small(home, choice, depth) for choice in self._choices(home, node)
        )

    def _is_small(self, home: str, node: ast.AST, depth: int) -> bool:
        if isinstance(node, ast.Constant):
            return 0 < _number(node) <= _LARGEST_EPS
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
            others = [part for part in parts if not isinstance(part, ast.Constant)]
            return depth == 0 or all(self._may_be_eps(home, part, depth - 1) for part in others)
        if isinstance(node, (ast.Name, ast.Attribute)):
            is_inherited = isinstance(node, ast.Attribute) and _is_own(node)
            return is_inherited or (self._is_library(node) and last_word(node) != "Tensor")
        is_item = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
        is_number = isinstance(node, ast.Call) and last_word(node.func) in _NUMBERS
        return (is_item or is_number) and TINY in self._slices.words_of(home, node)

    def _choices(self, home: str, node: ast.AST) -> Iterator[ast.AST]:
        """What `node` may be: itself, what its name is given, either side of a choice, any part of a tuple."""
        pending, seen = [(home, node)], set[ast.AST]()
        while pending:
            chunk, current = pending.pop()
            if current in seen:
                continue
            seen.add(current)
            if isinstance(current, _CHOICES):
                pending += [(chunk, child) for child in ast.iter_child_nodes(current)]
            elif given := list(self._given(chunk, current)):
                pending += given
            else:
                yield current

    def _given(self, home: str, node: ast.AST) -> Iterator[_Place]:
        """What a name, or an attribute of the object, is given in this file."""
        if isinstance(node, ast.Name):
            yield from self._slices.given_to(home, node.id)
        elif isinstance(node, ast.Attribute) and _is_own(node):
            yield from self._slices.given_to(home, OWN + node.attr)


_FORMS: Mapping[str, Callable[[Forms, str, ast.AST], bool]] = {
    RAISED: Forms.is_of_raised,
    FLOORED: Forms.is_of_floored,
    NUMBER_ADDED: Forms.is_of_sum_with_number,
    NO_DIAGONAL: Forms.is_without_diagonal,
    SELECTED: Forms.is_of_selected,
    EPS_ADDED: Forms.is_of_sum_with_eps,
    LATE_EPS: Forms.is_late_eps,
    FILLED: Forms.is_filled,
    OWN_CALLED: Forms.is_call_of_own,
    HUGE_CONSTANT: Forms.is_with_huge_constant,
}
DEAR = frozenset({FILLED, HUGE_CONSTANT, NUMBER_ADDED, FLOORED})
"""Forms that are told by more than a few names."""


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in SELVES


def _number(node: ast.AST | None) -> float:
    """The number that is written; 0 for anything else."""
    value = node.value if isinstance(node, ast.Constant) else 0
    return value if isinstance(value, (int, float)) else 0


def _terms(node: ast.AST) -> list[ast.AST]:
    """Both terms of a sum that is written with an operator."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [node.left, node.right]
    return [node.target, node.value] if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) else []


def _is_called(node: ast.AST) -> bool:
    is_power = isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Pow)
    return is_power or isinstance(node, ast.Call)
