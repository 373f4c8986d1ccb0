"""Scores that a mask fills with -inf: by which operation, and whether it can take a whole row.

Of a row of nothing but -inf softmax computes -inf - -inf. A mask spares something of every row by what it is made of: a causal one keeps
each position for itself, one of ranks or of the scores themselves keeps the best. Of a mask from elsewhere nobody knows.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.op_graph import ELEMENT, JOIN, NONE, PARAMETER, Op, Value, made_from
from nanlint.analysis.patterns.kept import AND, FILL, NOT, OR, WHERE, Kept, kept
from nanlint.analysis.project.syntax_names import defaults_of
from nanlint.analysis.relations import maker, op_behind, root, same
from nanlint.analysis.selection import SUBSCRIPT, VIEWS
from nanlint.analysis.sources import suggests_causal
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.project.index import Function

_SUMS = torch_names("add sub")
# What is -inf stays so in these.
_HOLDING = VIEWS | {"torch.mul", "torch.div", FILL, SUBSCRIPT, ELEMENT}
_PEAKS = torch_names("max amax")
_RANKS = torch_names("topk sort argsort kthvalue cumsum multinomial")
_POSITIONS = torch_names("arange triu_indices tril_indices")
_FULL_OF_ONES = torch_names("ones ones_like")
_FULL = _FULL_OF_ONES | torch_names("zeros zeros_like")
_BY_ROW = torch_names("all any")
# A mask of numbers is compared with one: where this holds, it is 0.
_IS_ZERO, _IS_ONE = torch_names("eq lt le"), torch_names("ne gt ge")
_DEEPEST = 10


class Filling(NamedTuple):
    """`scores.masked_fill(mask, -inf)`, or a `where` that says the same."""

    kept: Kept
    is_added: bool = False
    """It makes a mask that is then added to the scores, so that their gradient is not cut off."""
    is_alone: bool = True
    """No other mask lies over the same scores, or under it."""

    @property
    def op(self) -> Op:
        """The operation that fills."""
        return self.kept.op

    @property
    def mask(self) -> Value:
        """What says where."""
        return self.kept.condition or Value()

    @property
    def mask_name(self) -> str:
        """The operand that says where."""
        return "mask" if self.op.function == FILL else "condition"

    @property
    def fill_name(self) -> str:
        """The operand that is written there."""
        return "value" if self.op.function == FILL else "other" if self.kept.operand == "input" else "input"


def is_filled(value: Value) -> bool:
    """Whether a mask has written -inf into a value."""
    return next(_fillings(value), None) is not None


def whole_row_behind(value: Value, function: Function) -> Filling | None:
    """Of the masks on these scores, the first that can take a whole row, and of which nobody asks whether it has."""
    found = list(_fillings(value))
    taking = [each for each in found if not spares_something(each.mask, each.kept.value, hides=not each.kept.holds)]
    if not taking or any(_is_asked_by_row(each.mask, function) for each in found):
        return None
    return taking[-1]._replace(is_alone=len(found) == 1)


def _fillings(value: Value, depth: int = _DEEPEST, *, is_added: bool = False) -> Iterator[Filling]:
    """The operations that have written -inf into a value, the last first."""
    op = op_behind(value)
    if op is None or not value.range.minus_inf or not depth:
        return
    if op.function == JOIN:
        for each in op.operands.values():
            yield from _fillings(each, depth - 1, is_added=is_added)
        return
    filled = _filled(op)
    if filled is not None:
        yield Filling(filled, is_added)
        yield from _fillings(filled.value, depth - 1, is_added=is_added)
    elif op.function in _SUMS:
        for each in op.operands.values():
            yield from _fillings(each, depth - 1, is_added=True)
    elif op.function in _HOLDING and op.subject is not None:
        yield from _fillings(op.subject, depth - 1, is_added=is_added)


def is_filled_with_infinity(value: Value) -> bool:
    """Whether a mask has written +inf into scores, as `-float("-inf")` is: no softmax of such a row is a number."""
    op = made_from(root(value))
    if op is not None and op.function == JOIN:
        return any(is_filled_with_infinity(each) for name, each in op.operands.items() if not name.startswith("round"))
    sides = [kept(op, name) for name in ("input", "other")] if op is not None and op.function in {FILL, WHERE} else []
    fills = [each.fill.range for each in sides if each is not None and each.fill is not None]
    return any(reach.plus_inf and not reach.has_finite for reach in fills)


def _filled(op: Op) -> Kept | None:
    """What is kept of the scores, where the rest is nothing but -inf."""
    sides = [kept(op, name) for name in ("input", "other")] if op.function in {FILL, WHERE} else []
    return next((each for each in sides if each is not None and _is_minus_inf(each.fill)), None)


def _is_minus_inf(fill: Value | None) -> bool:
    return fill is not None and fill.range.minus_inf and not fill.range.has_finite


def spares_something(mask: Value, scores: Value | None, *, hides: bool, depth: int = _DEEPEST) -> bool:  # noqa: C901, PLR0911 - one way for each kind
    """Whether a mask leaves an element of each row, whatever is in it; it hides what it is true for, or keeps that."""
    if suggests_causal(mask):
        return True
    op = op_behind(mask)
    if op is None or not depth:
        return False
    parts = [each for each in op.operands.values() if each.kind is not NONE]

    def spares(part: Value, *, hides: bool = hides) -> bool:
        return spares_something(part, scores, hides=hides, depth=depth - 1)

    if op.function in NOT:
        return any(spares(each, hides=not hides) for each in parts)
    if op.function in {"torch.triu", "torch.tril"}:
        return _spares_the_diagonal(op, hides=hides)
    if op.function in _RANKS | {"torch.eye"}:
        return True
    if op.function in AND | OR | torch_names("mul add"):
        is_more = (op.function in OR | {"torch.add"}) is hides
        return all(map(spares, parts)) if is_more else any(map(spares, parts))
    if op.function in _IS_ZERO | _IS_ONE and len(parts) > 1:
        return _spares_by_comparison(op, parts, scores, hides=hides) or spares(
            parts[0], hides=hides is (op.function in _IS_ONE)
        )
    if op.function == JOIN:
        # What is written element by element leaves the rest as it was.
        left = parts[:1] if op.where == "element" else parts
        return bool(left) and all(_hides_nothing(each, hides=hides) or spares(each) for each in left)
    if op.function == "torch.sub" and parts[0].number == 1:
        return spares(parts[-1], hides=not hides)
    return any(map(spares, parts))


def _hides_nothing(mask: Value, *, hides: bool) -> bool:
    """`torch.ones(n)` of what is kept, `torch.zeros(n)` of what is hidden."""
    op = op_behind(mask)
    return op is not None and op.function in _FULL and (op.function in _FULL_OF_ONES) is not hides


def _spares_the_diagonal(op: Op, *, hides: bool) -> bool:
    """A triangle of ones: hidden, it must lie beyond the diagonal; kept, it must hold it."""
    stated = op.operands.get("diagonal")
    start = 0 if stated is None else stated.number
    if start is None:
        return True
    return (start > 0) if hides and op.function == "torch.triu" else (start < 0) if hides else True


def _spares_by_comparison(op: Op, parts: list[Value], scores: Value | None, *, hides: bool) -> bool:
    """Positions with positions, scores with what was made of them, labels with themselves."""
    one, two = parts[:2]
    if all(_is_made_by(each, _POSITIONS) for each in (one, two)):
        return True
    of_scores = [scores is not None and _is_made_of(each, scores) for each in (one, two)]
    is_of_itself = op.function == ("torch.ne" if hides else "torch.eq") and same(one, two)
    return any(of_scores) or is_of_itself


def _behind(value: Value, depth: int = _DEEPEST) -> Iterator[Value]:
    yield value
    op = made_from(value)
    for each in op.operands.values() if op is not None and depth else ():
        yield from _behind(each, depth - 1)


def _is_made_by(value: Value, functions: frozenset[str]) -> bool:
    return any((op := made_from(each)) is not None and op.function in functions for each in _behind(value))


def _is_made_of(value: Value, scores: Value) -> bool:
    """Whether it was computed of the numbers of the scores, not of their shape alone."""
    made = op_behind(value)
    is_shape = made is not None and made.function.endswith(("_like", ".shape", ".size"))
    return not is_shape and any(same(each, scores) for each in _behind(value, 6))


def _is_asked_by_row(mask: Value, function: Function) -> bool:
    """Whether something asks of each row whether the mask takes all of it: `mask.all(dim=-1)`. One question about the whole asks no row."""
    keys = {root(each).key for each in _bare(mask)}
    asked = (op.subject or Value() for op in function.ops if op.function in _BY_ROW and "dim" in op.operands)
    return any(root(each).key in keys for subject in asked for each in _bare(subject))


def _bare(mask: Value) -> Iterator[Value]:
    """The mask, and what it is the inverse of or was compared to make it."""
    for _ in range(_DEEPEST):
        yield mask
        op = op_behind(mask)
        if op is None or op.subject is None or op.function not in NOT | _IS_ZERO | _IS_ONE | VIEWS | {SUBSCRIPT}:
            return
        mask = op.subject


def is_everyday(found: Filling) -> bool:
    """Two masks meet, as of queries and of keys: together they take whole rows daily. One that callers may leave out is theirs."""
    op = op_behind(next(reversed(list(_bare(found.mask)))))
    meets = op is not None and op.function in AND | OR | {"torch.mul"}
    return (meets or not found.is_alone) and not (op is not None and is_optional(op))


def is_optional(op: Op) -> bool:
    """Whether it is a parameter with the default None."""
    node = op.scope.node if op.scope is not None and op.function == PARAMETER else None
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    default = defaults_of(node.args).get(op.where)
    return isinstance(default, ast.Constant) and default.value is None


def is_shifted_by_peak(op: Op) -> bool:
    """`x - x.amax(dim)`: of a row of nothing but -inf that is -inf less itself."""
    peak = maker(op.operands.get("other"), _PEAKS)
    return peak is not None and "dim" in peak.operands and same(op.operands.get("input"), peak.subject)


def is_log_softmax(scores: Value, function: Function) -> bool:
    """Whether `x - logsumexp(x)` is computed, which is -inf - -inf where all is masked."""
    return any(
        op.function == "torch.sub"
        and (less := maker(op.operands.get("other"), "torch.logsumexp")) is not None
        and same(op.operands.get("input"), less.subject)
        and same(less.subject, scores)
        for op in function.ops
    )
