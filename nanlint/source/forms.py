"""Forms in which an operation is written, told by the expression itself and by what its names are given in the file.

In some it cannot break: an eps under the root, an einsum without a diagonal. Others a rule is about alone: what was selected
by an index, an eps that is added to a result. Where nobody can tell, the analysis gets to look, and knows better.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanlint.source.below import all_below
from nanlint.source.choices import Choices, is_own
from nanlint.source.constants import ASKED_OF_CONSTANTS, Constants
from nanlint.source.filled import is_empty
from nanlint.source.kinds import (
    BY_NAME_CALLED,
    CAST_AND_HUGE,
    COMPARED,
    EPS_ADDED,
    EPS_GIVEN,
    FILLED,
    FLOORED,
    HUGE_CONSTANT,
    INFINITE_CONSTANT,
    LATE_EPS,
    LEARNED,
    LEAST_TWICE,
    MAY_BE_LEARNED,
    NO_DIAGONAL,
    NUMBER_ADDED,
    OF_EMPTY,
    OF_VARIANCE,
    OWN_CALLED,
    POWERS,
    RAISED,
    SELECTED,
    TINY,
    UNCOUNTED,
    WIDE_LIMIT,
)
from nanlint.source.makeup import operands_of
from nanlint.source.measures import COMPARING, Measures
from nanlint.source.raised import ABOVE_ZERO, ANY_NUMBER, IN_HALF, LARGEST_EPS, Raised, number, terms
from nanlint.source.references import last_word
from nanlint.source.selected import are_selected
from nanlint.source.uncounted import Uncounted
from nanlint.source.variances import Variances

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.source.slices import Slices

_SMALL = re.compile(r"eps|tiny|smooth|jitter", re.IGNORECASE)
_ADD = frozenset({"add", "add_"})
ASKED_OF_FORMS = ASKED_OF_CONSTANTS | {TINY}
"""The words that are looked for behind an expression to tell its form."""
_CASTS = frozenset({"to", "type_as", "type", "half"})
_NUMBERS = frozenset({"float", "int", "max", "min", "abs"})
_ASKING = COMPARING | {
    "isnan",
    "isinf",
    "isfinite",
    "isclose",
    "logical_and",
    "logical_or",
    "logical_not",
    "logical_xor",
    "bool",
}


class Forms:
    """The forms of one file's operations."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices
        self._choices = Choices(slices)
        self._raised = Raised(self._choices)
        self._constants = Constants(slices, self._choices)
        self._variances = Variances(self._choices)
        self._measures = Measures(slices, self._choices)
        self._uncounted = Uncounted(slices, self._choices, self._measures)

    def has(self, form: str, home: str, place: ast.AST) -> bool:
        """Whether an operation in the chunk called `home` is written in this form."""
        return _FORMS[form](self, home, place)

    def is_of_raised(self, home: str, place: ast.AST) -> bool:
        """`torch.sqrt(x + 1e-6)`."""
        return self._is_of(place, lambda node: self._raised.is_raised(home, node, IN_HALF))

    def is_of_floored(self, home: str, place: ast.AST) -> bool:
        """`a / x.clamp(min=1e-12)`."""
        return self._is_of(place, lambda node: self._raised.is_raised(home, node, ABOVE_ZERO))

    def is_of_sum_with_number(self, home: str, place: ast.AST) -> bool:
        """`a / (x.sum() + 1)`."""
        return self._is_of(place, lambda node: self._raised.is_raised(home, node, ANY_NUMBER))

    def is_of_learned(self, home: str, place: ast.AST) -> bool:
        """`x / weights.sum()`, where nothing is compared, so that nothing is counted either."""
        return self._is_of(place, lambda node: self._measures.are_of_learned(home, node))

    def is_of_uncounted(self, home: str, place: ast.AST) -> bool:
        """`x.sum() / mask.sum()`, of a mask that was handed in."""
        return self._is_of(place, lambda node: self._uncounted.is_one(home, node))

    def _is_of(self, place: ast.AST, test: Callable[[ast.AST], bool]) -> bool:
        """Whether `test` holds for what the operation breaks on; nobody knows here which that is of a call with several."""
        operands = operands_of(place)
        if isinstance(place, ast.Call):
            operands = [operand for operand in operands if not self._choices.is_library(operand)]
            if len(operands) > 1 and last_word(place.func) not in POWERS:
                return False
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
        """`loss(scores[mask], labels)`, `loss(scores.masked_select(mask), labels)`, or under a name, or computed from it."""
        return are_selected(home, operands_of(place), self._choices)

    def is_by_comparison(self, home: str, place: ast.AST) -> bool:
        """`torch.where(x > 0, a, b)`, or under a name."""
        if not isinstance(place, ast.Call) or last_word(place.func) != "where":
            return True
        return any(_compares(node) for operand in operands_of(place) for node in self._choices.of(home, operand))

    def is_of_sum_with_eps(self, home: str, place: ast.AST) -> bool:
        """`relu(x + eps)`, as it is written."""
        return any(
            (isinstance(node, ast.Call) and last_word(node.func) in _ADD)
            or any(self._may_be_eps(home, term) for term in terms(node))
            for node in operands_of(place)
        )

    def is_late_eps(self, home: str, place: ast.AST) -> bool:
        """`torch.sqrt(x) + eps`, or `x ** 0.5 + eps`."""
        both = terms(place)
        if any(isinstance(term, (ast.Tuple, ast.List)) for term in both):
            return False
        return not both or any(
            self._may_be_eps(home, eps) and any(map(_is_called, self._choices.of(home, value)))
            for value, eps in (both, both[::-1])
        )

    def is_with_huge_constant(self, home: str, place: ast.AST) -> bool:
        """`scores.masked_fill(mask, -1e9)`, or under a name."""
        return self._constants.are_among(home, operands_of(place))

    def is_with_wide_limit(self, home: str, place: ast.AST) -> bool:
        """`scores.masked_fill(mask, torch.finfo(torch.float32).min)`, or under a name."""
        return self._constants.are_wide_among(home, operands_of(place))

    def is_with_cast_and_constant(self, home: str, place: ast.AST) -> bool:
        """`(1 - mask.to(scores)) * -1e9`: cast as it is written, the constant maybe under a name."""
        operands = operands_of(place)
        are_cast = any(
            isinstance(inner, ast.Attribute) and inner.attr in _CASTS for each in operands for inner in all_below(each)
        )
        return are_cast and self._constants.are_among(home, operands)

    def is_with_infinity(self, home: str, place: ast.AST) -> bool:
        """`mask * float("-inf")`, or under a name."""
        return self._constants.are_infinite_among(home, operands_of(place))

    def is_of_what_may_be_learned(self, home: str, place: ast.AST) -> bool:
        """`logits / self.temperature`."""
        return any(self._constants.may_be_learned(home, operand) for operand in operands_of(place))

    def is_given_eps(self, home: str, place: ast.AST) -> bool:
        """`torch.logit(x, eps=1e-6)`."""
        del home
        return isinstance(place, ast.Call) and any(keyword.arg == "eps" for keyword in place.keywords)

    def is_of_variance(self, home: str, place: ast.AST) -> bool:
        """`torch.sqrt((x * x).mean() - x.mean() ** 2)`."""
        return self._variances.are_among(home, operands_of(place))

    def is_of_least_twice(self, home: str, place: ast.AST) -> bool:
        """`mask + causal`, both of which are filled with the least number of a format."""
        return sum(self._constants.is_plane_of_least(home, operand) for operand in operands_of(place)) > 1

    def is_call_of_own(self, home: str, place: ast.AST) -> bool:
        """`self.layer(x)`."""
        del home
        return isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute) and is_own(place.func)

    def is_called_by_name(self, home: str, place: ast.AST) -> bool:
        """`max(a, b)`, `self.largest(a, b)`, `builtins.max(a, b)`; `a.max()` and `torch.max(a)` are torch's."""
        del home
        function = place.func if isinstance(place, ast.Call) else None
        if not isinstance(function, ast.Attribute) or is_own(function):
            return True
        return self._slices.meaning_of(last_word(function.value)) == "builtins"

    def is_of_empty(self, home: str, place: ast.AST) -> bool:
        """`torch.empty(n) - x`, `2 * torch.empty_like(x).to(device)`."""
        del home
        return any(map(is_empty, operands_of(place)))

    def is_filled(self, home: str, place: ast.AST) -> bool:
        """`self.weight = nn.Parameter(torch.empty(n))`, and `nn.init.zeros_(module.weight)` anywhere in the file."""
        if not isinstance(place, ast.Call):
            return False
        memory = place.args[0] if place.args else None
        if isinstance(memory, ast.Call) and memory.args and "expert" in ast.unparse(memory.args[0]):
            return True
        nodes = self._slices.nodes_of(home)
        kept = [
            node.targets[0] if isinstance(node, ast.Assign) else node.target
            for node in nodes
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value and place in all_below(node.value)
        ]
        return bool(kept) and self._slices.is_filled(last_word(kept[0]))

    def _may_be_eps(self, home: str, node: ast.AST, depth: int = 2) -> bool:
        """Whether `node` may be a small number, or is called one; nobody knows here what another file gives."""
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


_FORMS: Mapping[str, Callable[[Forms, str, ast.AST], bool]] = {
    RAISED: Forms.is_of_raised,
    FLOORED: Forms.is_of_floored,
    NUMBER_ADDED: Forms.is_of_sum_with_number,
    LEARNED: Forms.is_of_learned,
    UNCOUNTED: Forms.is_of_uncounted,
    NO_DIAGONAL: Forms.is_without_diagonal,
    SELECTED: Forms.is_of_selected,
    COMPARED: Forms.is_by_comparison,
    EPS_ADDED: Forms.is_of_sum_with_eps,
    LATE_EPS: Forms.is_late_eps,
    FILLED: Forms.is_filled,
    OF_EMPTY: Forms.is_of_empty,
    OWN_CALLED: Forms.is_call_of_own,
    HUGE_CONSTANT: Forms.is_with_huge_constant,
    WIDE_LIMIT: Forms.is_with_wide_limit,
    OF_VARIANCE: Forms.is_of_variance,
    INFINITE_CONSTANT: Forms.is_with_infinity,
    MAY_BE_LEARNED: Forms.is_of_what_may_be_learned,
    EPS_GIVEN: Forms.is_given_eps,
    CAST_AND_HUGE: Forms.is_with_cast_and_constant,
    LEAST_TWICE: Forms.is_of_least_twice,
    BY_NAME_CALLED: Forms.is_called_by_name,
}
DEAR = frozenset(
    {
        LEARNED,
        FILLED,
        HUGE_CONSTANT,
        WIDE_LIMIT,
        CAST_AND_HUGE,
        INFINITE_CONSTANT,
        LEAST_TWICE,
        OF_VARIANCE,
        NUMBER_ADDED,
        FLOORED,
    }
)
"""Forms that are told by more than a few names."""


def _compares(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, (ast.Invert, ast.Not))
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor))
    return isinstance(node, ast.Compare) or (isinstance(node, ast.Call) and last_word(node.func) in _ASKING)


def _is_called(node: ast.AST) -> bool:
    is_power = isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Pow)
    return is_power or isinstance(node, ast.Call)
