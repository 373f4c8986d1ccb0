"""Forms of an operation that are told by how it is written, and by nothing else."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.source.choices import is_own
from nanlint.source.filled import is_empty
from nanlint.source.kinds import EPS_GIVEN, MARK_GIVEN, NO_DIAGONAL, NOT_LEARNED, OF_EMPTY, OWN_CALLED, WIDE_SCORES
from nanlint.source.makeup import operands_of
from nanlint.source.references import last_word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_FILLING = frozenset({"masked_fill", "masked_fill_"})
_BEFORE_MARK = 2


def is_without_diagonal(place: ast.AST) -> bool:
    """`torch.einsum("bij,bjk->bik", a, b)`."""
    equation = place.args[0] if isinstance(place, ast.Call) and place.args else None
    if not isinstance(equation, ast.Constant) or not isinstance(equation.value, str):
        return False
    operands = equation.value.partition("->")[0].split(",")
    letters = ([letter for letter in operand if letter.isalpha()] for operand in operands)
    return all(len(each) == len(set(each)) for each in letters)


def is_given_eps(place: ast.AST) -> bool:
    """`torch.logit(x, eps=1e-6)`."""
    return isinstance(place, ast.Call) and any(keyword.arg == "eps" for keyword in place.keywords)


def is_given_mark(place: ast.AST) -> bool:
    """`F.cross_entropy(x, y, ignore_index=-100)`; before it come two arguments at least, and `*` and `**` hand on any."""
    return isinstance(place, ast.Call) and (
        len(place.args) > _BEFORE_MARK
        or any(keyword.arg in {"ignore_index", None} for keyword in place.keywords)
        or any(isinstance(argument, ast.Starred) for argument in place.args)
    )


def is_not_learned(place: ast.AST) -> bool:
    """`nn.Parameter(x, requires_grad=False)`."""
    return isinstance(place, ast.Call) and any(
        keyword.arg == "requires_grad" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        for keyword in place.keywords
    )


def is_of_wide_scores(place: ast.AST) -> bool:
    """`scores.float().masked_fill(mask, -1e9)`; `torch.where(mask, 0.0, -1e9)`, of numbers, which have no format."""
    if not isinstance(place, ast.Call):
        return False
    function, word = place.func, last_word(place.func)
    if word == "where":
        chosen = place.args[1:]
        return len(chosen) > 1 and all(map(_is_literal, chosen))
    filled = function.value if isinstance(function, ast.Attribute) and word in _FILLING else None
    return isinstance(filled, ast.Call) and isinstance(filled.func, ast.Attribute) and filled.func.attr == "float"


def _is_literal(node: ast.AST) -> bool:
    """`0.0`, `-1e9`."""
    bare = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(bare, ast.Constant) and isinstance(bare.value, (int, float))


def is_of_empty(place: ast.AST) -> bool:
    """`torch.empty(n) - x`, `2 * torch.empty_like(x).to(device)`."""
    return any(map(is_empty, operands_of(place)))


def is_call_of_own(place: ast.AST) -> bool:
    """`self.layer(x)`."""
    return isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute) and is_own(place.func)


CALL_FORMS: Mapping[str, Callable[[ast.AST], bool]] = {
    EPS_GIVEN: is_given_eps,
    MARK_GIVEN: is_given_mark,
    NO_DIAGONAL: is_without_diagonal,
    NOT_LEARNED: is_not_learned,
    OF_EMPTY: is_of_empty,
    OWN_CALLED: is_call_of_own,
    WIDE_SCORES: is_of_wide_scores,
}
