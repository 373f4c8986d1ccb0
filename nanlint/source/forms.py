"""Forms in which an operation is written, told by the expression itself and by what its names are given in the file.

In some it cannot break: an eps under the root, an einsum without a diagonal. Others a rule is about alone: what was selected
by an index, an eps that is added to a result. Where nobody can tell, the analysis gets to look, and knows better.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.source.added_eps import AddedEps
from nanlint.source.asked_for import is_asked_for
from nanlint.source.below import all_below
from nanlint.source.call_forms import CALL_FORMS
from nanlint.source.choices import Choices, is_own
from nanlint.source.constants import ASKED_OF_CONSTANTS, Constants
from nanlint.source.kinds import (
    AMPLIFIED,
    ASKED_FOR,
    BY_NAME_CALLED,
    CAST_AND_HUGE,
    COMPARED,
    EPS_ADDED,
    FILLED,
    FLOORED,
    HUGE_CONSTANT,
    INFINITE_CONSTANT,
    LATE_EPS,
    LEARNED,
    LEAST_TWICE,
    MAY_BE_LEARNED,
    NUMBER_ADDED,
    OF_TESTED,
    OF_VARIANCE,
    POWERS,
    RAISED,
    SELECTED,
    TINY,
    UNCOUNTED,
    WIDE_LIMIT,
)
from nanlint.source.makeup import operands_of
from nanlint.source.measures import COMPARING, Measures
from nanlint.source.raised import ABOVE_ZERO, ANY_NUMBER, IN_HALF, Raised
from nanlint.source.references import last_word
from nanlint.source.selected import are_selected
from nanlint.source.tested import Tested
from nanlint.source.uncounted import Uncounted
from nanlint.source.variances import Variances

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.source.slices import Slices

ASKED_OF_FORMS = ASKED_OF_CONSTANTS | {TINY}
"""The words that are looked for behind an expression to tell its form."""
_CASTS = frozenset({"to", "type_as", "type", "half"})
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
        self._added_eps = AddedEps(slices, self._choices)
        self._tested = Tested(slices, self._choices)
        self._variances = Variances(self._choices)
        self._measures = Measures(slices, self._choices)
        self._uncounted = Uncounted(slices, self._choices, self._measures)

    def has(self, form: str, home: str, place: ast.AST) -> bool:
        """Whether an operation in the chunk called `home` is written in this form."""
        written = CALL_FORMS.get(form)
        return written(place) if written is not None else _FORMS[form](self, home, place)

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

    def is_of_asked_for(self, home: str, place: ast.AST) -> bool:
        """`x / n`, where `n = mask.sum()`, and `n > 0` somewhere behind."""
        return self._is_of(place, lambda node: is_asked_for(home, node, self._slices))

    def _is_of(self, place: ast.AST, test: Callable[[ast.AST], bool]) -> bool:
        """Whether `test` holds for what the operation breaks on; nobody knows here which that is of a call with several."""
        operands = operands_of(place)
        if isinstance(place, ast.Call):
            operands = [operand for operand in operands if not self._choices.is_library(operand)]
            if len(operands) > 1 and last_word(place.func) not in POWERS:
                return False
        return bool(operands) and test(operands[0])

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
        return any(self._added_eps.is_added(home, operand) for operand in operands_of(place))

    def is_late_eps(self, home: str, place: ast.AST) -> bool:
        """`torch.sqrt(x) + eps`, or `x ** 0.5 + eps`."""
        return self._added_eps.is_late(home, place)

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

    def is_of_tested(self, home: str, place: ast.AST) -> bool:
        """`torch.exp(x)`, and `x < 50` somewhere."""
        return self._tested.are_among(home, operands_of(place))

    def is_with_infinity(self, home: str, place: ast.AST) -> bool:
        """`mask * float("-inf")`, or under a name."""
        return self._constants.are_infinite_among(home, operands_of(place))

    def is_of_amplified(self, home: str, place: ast.AST) -> bool:
        """`torch.exp(x / eps)`, or under a name."""
        return self._constants.are_amplified_among(home, operands_of(place))

    def is_of_what_may_be_learned(self, home: str, place: ast.AST) -> bool:
        """`logits / self.temperature`."""
        return any(self._constants.may_be_learned(home, operand) for operand in operands_of(place))

    def is_of_variance(self, home: str, place: ast.AST) -> bool:
        """`torch.sqrt((x * x).mean() - x.mean() ** 2)`."""
        return self._variances.are_among(home, operands_of(place))

    def is_of_least_twice(self, home: str, place: ast.AST) -> bool:
        """`mask + causal`, both of which are filled with the least number of a format."""
        return sum(self._constants.is_plane_of_least(home, operand) for operand in operands_of(place)) > 1

    def is_called_by_name(self, home: str, place: ast.AST) -> bool:
        """`max(a, b)`, `self.largest(a, b)`, `builtins.max(a, b)`; `a.max()` and `torch.max(a)` are torch's."""
        del home
        function = place.func if isinstance(place, ast.Call) else None
        if not isinstance(function, ast.Attribute) or is_own(function):
            return True
        return self._slices.meaning_of(last_word(function.value)) == "builtins"

    def is_filled(self, home: str, place: ast.AST) -> bool:
        """`self.weight = nn.Parameter(torch.empty(n))`, and `nn.init.zeros_(module.weight)` anywhere in the file."""
        if not isinstance(place, ast.Call):
            return False
        memory = place.args[0] if place.args else None
        if isinstance(memory, ast.Call) and memory.args and "expert" in ast.unparse(memory.args[0]):
            return True
        nodes = self._slices.nodes_of(home)
        self._slices.spend(len(nodes))
        kept = [
            node.targets[0] if isinstance(node, ast.Assign) else node.target
            for node in nodes
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value and place in all_below(node.value)
        ]
        return bool(kept) and self._slices.is_filled(last_word(kept[0]))


_FORMS: Mapping[str, Callable[[Forms, str, ast.AST], bool]] = {
    RAISED: Forms.is_of_raised,
    FLOORED: Forms.is_of_floored,
    NUMBER_ADDED: Forms.is_of_sum_with_number,
    LEARNED: Forms.is_of_learned,
    UNCOUNTED: Forms.is_of_uncounted,
    SELECTED: Forms.is_of_selected,
    COMPARED: Forms.is_by_comparison,
    EPS_ADDED: Forms.is_of_sum_with_eps,
    LATE_EPS: Forms.is_late_eps,
    FILLED: Forms.is_filled,
    AMPLIFIED: Forms.is_of_amplified,
    ASKED_FOR: Forms.is_of_asked_for,
    HUGE_CONSTANT: Forms.is_with_huge_constant,
    WIDE_LIMIT: Forms.is_with_wide_limit,
    OF_VARIANCE: Forms.is_of_variance,
    OF_TESTED: Forms.is_of_tested,
    INFINITE_CONSTANT: Forms.is_with_infinity,
    MAY_BE_LEARNED: Forms.is_of_what_may_be_learned,
    CAST_AND_HUGE: Forms.is_with_cast_and_constant,
    LEAST_TWICE: Forms.is_of_least_twice,
    BY_NAME_CALLED: Forms.is_called_by_name,
}
DEAR = frozenset(
    {
        AMPLIFIED,
        ASKED_FOR,
        LEARNED,
        UNCOUNTED,
        FILLED,
        HUGE_CONSTANT,
        WIDE_LIMIT,
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
