"""What holds between two operands of one operation that no interval of each alone can tell.

`x - x.max()` is never positive, `x * x` never negative, `p / p.sum()` is a share. Two values are the same if they have the same key.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import NOTHING, TEXT, Op, Value, made_from
from nanlint.ops.interval import INF, NONNEGATIVE, UNIT, Interval
from nanlint.ops.names import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LARGEST = frozenset(f"torch.{word}" for word in ("max", "amax", "logsumexp", "cummax", "logcumsumexp"))
_SMALLEST = frozenset(f"torch.{word}" for word in ("min", "amin", "cummin"))
_PEAKS = frozenset({"torch.max", "torch.amax"})
NORMS = frozenset({"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm"})
_ORDERS = (NOTHING, None, "fro", 1, 2, INF)
_SUMS = frozenset({"torch.sum", "torch.nansum"})
_RAISING = frozenset({"torch.clamp", "torch.clamp_min", "torch.maximum"})
_DIAGONALS = frozenset({"torch.eye", "torch.diag", "torch.diag_embed"})
_SHARE, _SIGNED_SHARE = replace(UNIT, nan=True), Interval(-1.0000002, 1.0000002, nan=True)
_NORMALIZE, _COSINE = "torch.nn.functional.normalize", Interval(-1.01, 1.01, nan=True)
_NOTHING_LEFT = Interval(0.0, 0.0, nan=True)
_COPIES = frozenset(METHODS[word] for word in ("detach", "clone", "contiguous", "cpu"))
_NOT_POSITIVE = Interval(-INF, 0.0, minus_inf=True, nan=True)
_NOT_NEGATIVE = Interval(0.0, INF, plus_inf=True, nan=True)
_AT_LEAST_ONE = Interval(1.0, INF, plus_inf=True, nan=True)
# These keep each value where it is; other views hold the same values elsewhere.
_IN_PLACE = frozenset(METHODS[word] for word in "float double half bfloat16 to detach cpu clone contiguous".split())
_MOVING = frozenset(
    METHODS[word]
    for word in "view reshape flatten squeeze unsqueeze permute transpose expand t repeat flip roll movedim unflatten view_as expand_as".split()
)
_DEEPEST = 6


def related(op: Op) -> Interval | None:
    """The range that the relation of its operands gives to `op`; None if they are not related."""
    relation = _RELATIONS.get(op.function)
    return relation(op) if relation is not None else None


def root(value: Value, *, moved: bool = True) -> Value:
    """What a value is a view of: the same numbers; with `moved` also in other places."""
    for _ in range(_DEEPEST * 4):
        op = made_from(value)
        inside = op.subject if op is not None else None
        if op is None or inside is None or not (op.function in _IN_PLACE or (moved and op.function in _MOVING)):
            return value
        value = inside
    return value


def same(first: Value | None, second: Value | None) -> bool:
    """Whether two values hold the same numbers."""
    if first is None or second is None:
        return False
    return first.key == second.key or root(first).key == root(second).key


def aligned(first: Value | None, second: Value | None) -> bool:
    """Whether two values hold the same numbers in the same places: `x` and `x.float()`, not `x` and `x.t()`."""
    if first is None or second is None:
        return False
    return first.key == second.key or root(first, moved=False).key == root(second, moved=False).key


def maker(value: Value | None, functions: frozenset[str]) -> Op | None:
    """The operation behind a value, views aside, if it is one of `functions`."""
    op = made_from(root(value)) if value is not None else None
    return op if op is not None and op.function in functions else None


def _difference(op: Op) -> Interval | None:
    left, right = op.operands.get("input"), op.operands.get("other")
    if "alpha" in op.operands:
        return None
    if left is not None and right is not None and _uncast(left).key == _uncast(right).key:
        return _NOTHING_LEFT
    if _is_no_less(right, left):
        return _NOT_POSITIVE
    return _NOT_NEGATIVE if _is_no_less(left, right) or _is_test_with_itself(left, right) else None


def _uncast(value: Value) -> Value:
    """What it is a copy of, bit by bit."""
    op = made_from(value)
    while op is not None and op.function in _COPIES and op.subject is not None:
        value = op.subject
        op = made_from(value)
    return value


def _is_test_with_itself(test: Value | None, less: Value | None) -> bool:
    """`labels == labels.t()` less `torch.eye(n)`: everything is equal to itself."""
    made = maker(test, frozenset({"torch.eq"}))
    if made is None or less is None or maker(less, _DIAGONALS) is None or less.range.high > 1:
        return False
    return same(made.operands.get("input"), made.operands.get("other"))


def _is_no_less(upper: Value | None, lower: Value | None) -> bool:
    """Whether `upper` is a maximum of what `lower` is a part or a minimum of, or `lower` a minimum of `upper`."""
    largest, smallest = maker(upper, _LARGEST), maker(lower, _SMALLEST)
    if largest and smallest and same(largest.subject, smallest.subject):
        return True
    return bool((largest and _is_of(largest, lower)) or (smallest and _is_of(smallest, upper)))


def _is_of(extreme: Op, values: Value | None) -> bool:
    return (aligned if "dim" in extreme.operands else same)(extreme.subject, values)


def _product(op: Op) -> Interval | None:
    left, right = op.operands.get("input"), op.operands.get("other")
    minus = maker(left, frozenset({"torch.neg"}))
    if minus is not None and aligned(minus.subject, right):
        return _NOT_POSITIVE
    if left is None or not aligned(left, right):
        return None
    return replace(NONNEGATIVE, plus_inf=True, nan=True, nonzero=left.range.nonzero)


def _quotient(op: Op) -> Interval | None:
    part, whole = op.operands.get("input"), op.operands.get("other")
    if part is None or "rounding_mode" in op.operands:
        return None
    if part.range.least >= 0 and holds(whole, part):
        return _SHARE
    return _SIGNED_SHARE if _holds_size(whole, part) else None


def holds(whole: Value | None, part: Value, depth: int = 0) -> bool:
    """Whether `whole` is no less than `part`, which is not negative: its sum or maximum, and what was added to that."""
    made = made_from(root(whole)) if whole is not None else None
    if made is None or depth == _DEEPEST:
        return False
    if made.function in _SUMS or made.function in _PEAKS:
        return _is_of(made, part)
    if made.function in _RAISING and "max" not in made.operands:
        return holds(made.subject, part, depth + 1)
    if made.function != "torch.add" or "alpha" in made.operands:
        return False
    terms = list(made.operands.values())
    return all(term.range.least >= 0 for term in terms) and any(
        aligned(term, part) or holds(term, part, depth + 1) for term in terms
    )


def _holds_size(whole: Value | None, part: Value, depth: int = 0) -> bool:
    """Whether `whole` is no less than the size of `part`: its norm or largest size, and what was added to that."""
    made = made_from(root(whole)) if whole is not None else None
    if made is None or depth == _DEEPEST:
        return False
    if made.function in NORMS:
        order = made.operands.get("p") or made.operands.get("ord")
        return (order is None or order.constant in _ORDERS) and _is_of(made, part)
    if made.function in _PEAKS:
        sizes = maker(made.subject, frozenset({"torch.abs"}))
        return sizes is not None and aligned(sizes.subject, part)
    if made.function in _RAISING and "max" not in made.operands:
        return _holds_size(made.subject, part, depth + 1)
    if made.function != "torch.add" or "alpha" in made.operands:
        return False
    terms = list(made.operands.values())
    return all(term.range.least >= 0 for term in terms) and any(_holds_size(term, part, depth + 1) for term in terms)


def _sum(op: Op) -> Interval | None:
    """The sum of exp(x - max(x)) holds the 1 of the largest x, if it is taken where the maximum is."""
    grown = maker(op.subject, frozenset({"torch.exp"}))
    shifted = maker(grown.subject, frozenset({"torch.sub"})) if grown else None
    peak = maker(shifted.operands.get("other"), _PEAKS) if shifted else None
    if shifted is None or peak is None or _difference(shifted) != _NOT_POSITIVE:
        return None
    along, of_peak = op.operands.get("dim"), peak.operands.get("dim")
    holds_it = along is None or (of_peak is not None and along.key == of_peak.key)
    return _AT_LEAST_ONE if holds_it else None


def _where(op: Op) -> Interval | None:
    """`where` picks values, so each side is seen under its side of the condition; the gradient is not."""
    from nanlint.analysis.interpreter.conditions import range_where  # noqa: PLC0415 - they know each other

    condition, yes, no = (op.operands.get(name) for name in ("condition", "input", "other"))
    if condition is None or yes is None or no is None:
        return None
    return range_where(yes, condition, holds=True).join(range_where(no, condition, holds=False))


def _filled(op: Op) -> Interval | None:
    """`y.masked_fill(y == 0, 1)` is never 0."""
    from nanlint.analysis.interpreter.conditions import range_where  # noqa: PLC0415 - they know each other

    mask, fill = op.operands.get("mask"), op.operands.get("value")
    if op.subject is None or mask is None or fill is None:
        return None
    return range_where(op.subject, mask, holds=False).join(fill.range)


def _dot_product(op: Op) -> Interval | None:
    """A cosine: the rows of both were divided by their lengths. Of what is not negative, a sum of products is not."""
    operands = [made_from(root(value)) for value in op.operands.values()]
    is_of_units = len(operands) > 1 and all(made is not None and made.function == _NORMALIZE for made in operands)
    if is_of_units:
        return _COSINE
    factors = [value for value in op.operands.values() if value.kind != TEXT]
    if any(value.range.constant == 0 for value in factors):
        return _NOTHING_LEFT
    return _NOT_NEGATIVE if len(factors) > 1 and all(value.range.least >= 0 for value in factors) else None


_RELATIONS: Mapping[str, Callable[[Op], Interval | None]] = {
    "torch.sub": _difference,
    "torch.mul": _product,
    "torch.div": _quotient,
    "torch.sum": _sum,
    "torch.where": _where,
    "torch.masked_fill": _filled,
    **dict.fromkeys(("torch.matmul", "torch.mm", "torch.bmm", "torch.einsum"), _dot_product),
}
