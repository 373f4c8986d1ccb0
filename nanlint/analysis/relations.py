"""What holds between two operands of one operation that no interval of each alone can tell.

`x - x.max()` is never positive, `x * x` never negative, `p / p.sum()` is a share. Two values are the same if they have the same key.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.analysis.dtypes import rounded_to
from nanlint.analysis.op_graph import NOTHING, Op, Value, made_from
from nanlint.analysis.selection import kept_by_test
from nanlint.ops.interval import INF, NONNEGATIVE, UNIT, Interval, point
from nanlint.ops.names import tensor_methods
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LARGEST = torch_names("max amax logsumexp cummax logcumsumexp")
_SMALLEST = torch_names("min amin cummin")
_PEAKS = torch_names("max amax")
NORMS = torch_names("norm linalg.norm linalg.vector_norm")
_ORDERS = (NOTHING, None, "fro", 1, 2, INF)
_ROOTS = torch_names("sqrt pow")
_SUMS = torch_names("sum nansum")
_JOINS = torch_names("cat stack")
_RAISING = torch_names("clamp clamp_min maximum")
_DIAGONALS = torch_names("eye diag diag_embed")
_SHARE, _SIGNED_SHARE = replace(UNIT, nan=True), Interval(-1.0000002, 1.0000002, nan=True)
_NOTHING_LEFT = Interval(0.0, 0.0, nan=True)
_COPIES = tensor_methods("detach clone contiguous cpu")
_NOT_POSITIVE = Interval(-INF, 0.0, minus_inf=True, nan=True)
_NOT_NEGATIVE = Interval(0.0, INF, plus_inf=True, nan=True)
_AT_LEAST_ONE = Interval(1.0, INF, plus_inf=True, nan=True)
# These keep each value where it is; other views hold the same values elsewhere.
_IN_PLACE = tensor_methods("float double half bfloat16 to detach cpu clone contiguous")
_MOVING = tensor_methods("""
    view reshape flatten squeeze unsqueeze permute transpose expand t repeat flip roll movedim unflatten view_as
    expand_as
""")
SAME_PLACES = _IN_PLACE
"""Operations whose result holds the numbers of their input, each where it was."""
SAME_NUMBERS = _IN_PLACE | _MOVING
"""Operations whose result holds the numbers of their input."""
_DEEPEST = 6


def related(op: Op) -> Interval | None:
    """The range that the relation of its operands gives to `op`; None if they are not related."""
    relation = _RELATIONS.get(op.function)
    return relation(op) if relation is not None else None


def root(value: Value, *, moved: bool = True) -> Value:
    """What a value is a view of: the same numbers; with `moved` also in other places."""
    for _ in range(_DEEPEST * 4):
        op = made_from(value)
        if op is None or not (op.function in _IN_PLACE or (moved and (op.function in _MOVING or _takes_all(op)))):
            return value
        inside = op.subject
        if inside is None:
            return value
        value = inside
    return value


def _takes_all(op: Op) -> bool:
    """`x[:, None]`: every value of x, in another shape."""
    if op.function != "subscript" or not isinstance(op.node, ast.Subscript):
        return False
    index = op.node.slice
    return all(
        (isinstance(each, ast.Slice) and each.lower is each.upper is each.step is None)
        or (isinstance(each, ast.Constant) and (each.value is None or each.value is ...))
        for each in (index.elts if isinstance(index, ast.Tuple) else (index,))
    )


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


def op_behind(value: Value | None) -> Op | None:
    """The operation that computed a value, seen through views and guards; None for no value."""
    return made_from(root(value)) if value is not None else None


def maker(value: Value | None, functions: str | frozenset[str]) -> Op | None:
    """The operation behind a value, if it is one of `functions`."""
    op, known = op_behind(value), {functions} if isinstance(functions, str) else functions
    return op if op is not None and op.function in known else None


def has_a_diagonal(value: Value) -> bool:
    """Whether it is a matrix with something on its diagonal alone: `torch.eye(n)`, `eps * torch.eye(n)`."""
    op = op_behind(value)
    if op is not None and op.function == "torch.mul":
        return any(has_a_diagonal(each) for each in op.operands.values())
    return op is not None and op.function in _DIAGONALS


def spans_its_data(upper: Value, lower: Value) -> bool:
    """`x.max() - x.min()`: how far the data spreads, in either order."""
    pairs = ((maker(upper, _LARGEST), maker(lower, _SMALLEST)), (maker(upper, _SMALLEST), maker(lower, _LARGEST)))
    return any(one is not None and two is not None and same(one.subject, two.subject) for one, two in pairs)


def _difference(op: Op) -> Interval | None:
    left, right = op.operands.get("input"), op.operands.get("other")
    if "alpha" in op.operands:
        return None
    if left is not None and right is not None and copied_from(left).key == copied_from(right).key:
        return point(0.0) if left.range.is_finite else _NOTHING_LEFT
    above = _is_above(left, right)
    if above is not None:
        return above
    if _is_no_less(right, left) or _is_no_less_by_making(right, left):
        return _NOT_POSITIVE
    is_above = _is_no_less(left, right) or _is_no_less_by_making(left, right) or _is_test_with_itself(left, right)
    return _NOT_NEGATIVE if is_above else None


def _is_no_less_by_making(upper: Value | None, lower: Value | None) -> bool:
    from nanlint.analysis.orders import is_no_less  # noqa: PLC0415 - they know each other

    return is_no_less(upper, lower)


def copied_from(value: Value) -> Value:
    """What it is a copy of, bit by bit."""
    op = made_from(value)
    while op is not None and op.function in _COPIES and op.subject is not None:
        value = op.subject
        op = made_from(value)
    return value


def _is_above(upper: Value | None, lower: Value | None) -> Interval | None:
    """`max(a, b + eps) - b` is at least eps, and `a + b - min(a, b)` is the larger of the two."""
    larger = maker(upper, torch_names("maximum max"))
    for each in larger.operands.values() if larger is not None and lower is not None else ():
        raised = maker(each, "torch.add")
        if raised is not None and aligned(raised.operands.get("input"), lower):
            return (
                Interval(max(raised.operands["other"].range.low, 0.0), INF)
                if raised.operands["other"].range.low > 0
                else None
            )
    total, smaller = maker(upper, "torch.add"), maker(lower, torch_names("minimum min"))
    if total is None or smaller is None or "other" not in smaller.operands:
        return None
    one, two = total.operands["input"], total.operands["other"]
    is_of_both = any(
        aligned(one, a) and aligned(two, b)
        for a, b in (tuple(smaller.operands.values())[:2], tuple(smaller.operands.values())[1::-1])
    )
    return Interval(max(one.range.least, two.range.least), INF, plus_inf=True, nan=True) if is_of_both else None


def _is_test_with_itself(test: Value | None, less: Value | None) -> bool:
    """`labels == labels.t()` less `torch.eye(n)`: everything is equal to itself."""
    made = maker(test, "torch.eq")
    if made is None or less is None or maker(less, _DIAGONALS) is None or less.range.high > 1:
        return False
    return same(made.operands.get("input"), made.operands.get("other"))


def _is_no_less(upper: Value | None, lower: Value | None) -> bool:
    """Whether `upper` is a maximum of what `lower` is a part or a minimum of, or `lower` a minimum of `upper`."""
    largest, smallest = maker(upper, _LARGEST) or _largest_by_its_place(upper), maker(lower, _SMALLEST)
    if largest and smallest and same(largest.subject, smallest.subject):
        return True
    return bool((largest and _is_of(largest, lower)) or (smallest and _is_of(smallest, upper)))


def _is_of(extreme: Op, values: Value | None) -> bool:
    return (aligned if "dim" in extreme.operands else same)(extreme.subject, values) or _is_picked(extreme, values)


def _largest_by_its_place(value: Value | None) -> Op | None:
    """`x.gather(1, x.argmax(1))`: a maximum, by the place where it is."""
    picked = maker(value, torch_names("gather take_along_dim"))
    place = root(picked.operands.get("index", Value())) if picked is not None else None
    found = made_from(place)
    is_place = found is not None and (found.function == "torch.argmax" or (found.function in _PEAKS and place is not None and place.name == "indices"))  # fmt: skip
    return (
        found if is_place and found is not None and picked is not None and same(found.subject, picked.subject) else None
    )


def _is_picked(extreme: Op, value: Value | None) -> bool:
    """`x[..., 0]`, where the extreme was taken along the last dimension of x, or over all of it."""
    picked = made_from(value)
    along = extreme.operands.get("dim")
    if picked is None or picked.function != "subscript" or not aligned(picked.subject, extreme.subject):
        return False
    index = getattr(picked.node, "slice", None)
    is_last = isinstance(index, ast.Tuple) and len(index.elts) == 2 and ast.unparse(index.elts[0]) == "..."
    return along is None or (along.constant == -1 and is_last)


def _total(op: Op) -> Interval | None:
    """`x + (x == 0) * eps`, of an x that is not negative: something is added where there is nothing."""
    terms = list(op.operands.values())
    for value, added in (terms[:2], terms[1::-1]):
        product = maker(added, "torch.mul")
        for test, step in (
            ((one, two) for one, two in (tuple(product.operands.values()), tuple(product.operands.values())[::-1]))
            if product is not None and value.range.least >= 0
            else ()
        ):
            zero = maker(test, "torch.eq")
            if step.range.low > 0 and zero is not None and zero.operands["other"].range.constant == 0 and aligned(zero.subject, value):  # fmt: skip
                return Interval(0.0, INF, plus_inf=value.range.plus_inf, nan=value.range.nan, nonzero=True)
    return None


def _product(op: Op) -> Interval | None:
    left, right = op.operands.get("input"), op.operands.get("other")
    minus = maker(left, "torch.neg")
    if minus is not None and aligned(minus.subject, right):
        return _NOT_POSITIVE
    if left is None or right is None or not aligned(left, right):
        return kept_by_test(left, right)
    # Each value meets itself: 0 * inf does not occur.
    return replace(NONNEGATIVE, plus_inf=True, nan=left.range.nan, nonzero=left.range.nonzero)


def _quotient(op: Op) -> Interval | None:
    part, whole = op.operands.get("input"), op.operands.get("other")
    if part is None or "rounding_mode" in op.operands:
        return None
    if part.range.least >= 0 and holds(whole, part):
        return _SHARE
    return _SIGNED_SHARE if holds_size(whole, part) else None


def holds(whole: Value | None, part: Value, depth: int = 0) -> bool:
    """Whether `whole` is no less than `part`, which is not negative: its sum or maximum, and what was added to that."""
    made = op_behind(whole)
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


def holds_size(  # noqa: PLR0911 - one way out for each way to write a length
    whole: Value | None, part: Value, depth: int = 0, *, is_of_rows: bool = False
) -> bool:
    """Whether `whole` is no less than the size of `part`: its norm or largest size, and what was added to that.

    With `is_of_rows` it is no less than the length of the row that the part is in.
    """
    made = op_behind(whole)
    if made is None or depth == _DEEPEST:
        return False
    if made.function in NORMS:
        order = made.operands.get("p") or made.operands.get("ord")
        orders = _ORDERS[:-1] if is_of_rows else _ORDERS
        return (order is None or order.constant in orders) and _is_of(made, part)
    if made.function in _PEAKS and not is_of_rows:
        sizes = maker(made.subject, "torch.abs")
        return sizes is not None and aligned(sizes.subject, part)
    if made.function in _RAISING and "max" not in made.operands:
        return holds_size(made.subject, part, depth + 1, is_of_rows=is_of_rows)
    if made.function in _ROOTS:
        return _is_root_of_squares(made, part)
    if made.function != "torch.add" or "alpha" in made.operands:
        return False
    terms = list(made.operands.values())
    return all(term.range.least >= 0 for term in terms) and any(
        holds_size(term, part, depth + 1, is_of_rows=is_of_rows) for term in terms
    )


def _is_root_of_squares(made: Op, part: Value) -> bool:
    """`x.pow(2).sum(1, keepdim=True).sqrt()`: a length, written out; `torch.sqrt(x @ x)` as well."""
    exponent = made.operands.get("exponent")
    total = op_behind(made.subject)
    while total is not None and total.function in {"torch.add", *_RAISING} and "max" not in total.operands:
        others = list(total.operands.values())[1:]
        if any(each.range.least < 0 for each in others):
            return False
        total = op_behind(total.subject)
    if total is None or (exponent is not None and exponent.number != 1 / 2):
        return False
    if total.function in {"torch.dot", "torch.vdot"}:
        return all(aligned(each, part) for each in total.operands.values())
    squares = maker(total.subject, torch_names("pow square mul")) if total.function in _SUMS else None
    if squares is None:
        return False
    power = squares.operands.get("exponent")
    factors = [each for name, each in squares.operands.items() if name != "exponent"]
    return (power is None or power.number == 2) and all(aligned(each, part) for each in factors)


def _sum(op: Op) -> Interval | None:
    """What a sum of products is, if it is a cosine, or what a sum of exponentials is, if the largest is 1."""
    from nanlint.analysis.picks import sum_of_picks  # noqa: PLC0415 - they know each other
    from nanlint.analysis.unit_rows import holds_its_diagonal  # noqa: PLC0415 - they know each other

    product = maker(op.subject, "torch.mul")
    cosine = _dot_product(product) if product is not None else None
    if cosine is None and holds_its_diagonal(op):
        return Interval(0.0, INF, nan=True, nonzero=True)
    return sum_of_picks(op) or cosine or _sum_of_powers(op)


def _diagonal(op: Op) -> Interval | None:
    from nanlint.analysis.picks import is_matrix  # noqa: PLC0415 - they know each other

    return op.subject.range if op.subject is not None and is_matrix(op.subject) else None


def _sum_of_powers(op: Op) -> Interval | None:
    """The sum of exp(x - max(x)) holds the 1 of the largest x, if it is taken where the maximum is."""
    grown = maker(op.subject, "torch.exp")
    shifted = maker(grown.subject, "torch.sub") if grown else None
    below = shifted.operands.get("other") if shifted else None
    peak = maker(below, _PEAKS) or _largest_by_its_place(below)
    if shifted is None or peak is None or _difference(shifted) != _NOT_POSITIVE:
        return None
    along, of_peak = op.operands.get("dim"), peak.operands.get("dim")
    holds_it = along is None or (of_peak is not None and along.key == of_peak.key)
    return _AT_LEAST_ONE if holds_it else None


def _norm_of_joined(op: Op) -> Interval | None:
    """The norm of a row that holds a column of ones is at least 1: a ray through a pixel, a homogeneous point."""
    joined, along = maker(op.subject, _JOINS), op.operands.get("dim")
    parts = joined.subject.parts if joined is not None and joined.subject is not None else ()
    order = op.operands.get("p") or op.operands.get("ord")
    floor = max((max(part.range.low, -part.range.high) for part in parts), default=0.0)
    first = joined.operands.get("dim") if joined is not None else None
    is_along = along is None or along.number == (first.number if first is not None else 0)
    is_usual = order is None or order.constant in _ORDERS
    return Interval(floor, INF, plus_inf=True, nan=True) if floor > 0 and is_usual and is_along else None


def _largest_share(op: Op) -> Interval | None:
    """The largest of shares that add up to 1 is not 0."""
    shares = maker(op.subject, "torch.softmax")
    return Interval(0.0, 1.0, nan=True, nonzero=True) if shares is not None and "other" not in op.operands else None


def _counted_where_it_is(op: Op) -> Interval | None:
    """`torch.bincount(ids)[ids]`: each of them was counted."""
    counted = counted_by(op.subject)
    index = op.operands.get("index")
    return _AT_LEAST_ONE if counted is not None and index is not None and same(counted, index) else None


def counted_by(tally: Value | None) -> Value | None:
    """The indices of which a tensor holds how often each occurs."""
    made = maker(tally, torch_names("bincount scatter_add index_add"))
    if made is None or made.function == "torch.bincount":
        return made.subject if made is not None and "weights" not in made.operands else None
    each = made.operands.get("src") or made.operands.get("source")
    return made.operands.get("index") if each is not None and each.range.low >= 1 else None


def holds_somewhere(op: Op) -> bool:
    """A test that some value passes: `x == x.min()`, `x >= x.median()` from either side, and `labels == label` for each label of `labels.unique()`."""
    values, other = op.operands.get("input"), op.operands.get("other")
    broken = maker(values, "torch.isnan") if op.function in {"torch.bitwise_not", "torch.logical_not"} else None
    if broken is not None and broken.subject is not None:
        return broken.subject.is_known and not broken.subject.range.nan
    reached = _REACHED.get(op.function)
    if reached is None or values is None or other is None:
        return False
    for one, two in ((values, other), (other, values)):
        own = maker(two, reached)
        if own is not None and "other" not in own.operands and same(own.subject, one):
            return True
        part = op_behind(two)
        source = (
            maker(part.subject, "torch.unique")
            if part is not None and part.function in {"subscript", "<element>"}
            else None
        )
        if op.function == "torch.eq" and source is not None and same(source.subject, one):
            return True
        if op.function == "torch.eq" and _is_one_of_the_places(one, part):
            return True
    return False


def _is_one_of_the_places(places: Value, part: Op | None) -> bool:
    """`classes, places = x.unique(return_inverse=True)`: each of `range(len(classes))` is among the places."""
    inverse = made_from(places)
    steps = part.subject.op if part is not None and part.function == "<element>" and part.subject is not None else None
    count = (
        made_from(steps.subject)
        if steps is not None and steps.function == "range" and len(steps.operands) == 1 and steps.subject is not None
        else None
    )
    classes = made_from(count.subject) if count is not None and count.subject is not None else None
    if inverse is None or classes is None or not inverse.function == classes.function == "<element>":
        return False
    source = maker(inverse.subject, "torch.unique")
    return source is not None and same(inverse.subject, classes.subject)


_MIDDLES = torch_names("mean median quantile")
_REACHED = {
    "torch.eq": torch_names("min amin max amax median"),
    "torch.ge": _SMALLEST | _PEAKS | _MIDDLES,
    "torch.le": _SMALLEST | _PEAKS | _MIDDLES,
}


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
    return range_where(op.subject, mask, holds=False).join(rounded_to(fill.range, op.subject.dtype))


def _dot_product(op: Op) -> Interval | None:
    from nanlint.analysis.unit_rows import dot_product  # noqa: PLC0415 - they know each other

    return dot_product(op)


_RELATIONS: Mapping[str, Callable[[Op], Interval | None]] = {
    "torch.add": _total,
    "torch.sub": _difference,
    "torch.mul": _product,
    "torch.div": _quotient,
    "torch.sum": _sum,
    "torch.diag": _diagonal,
    **dict.fromkeys(torch_names("max amax"), _largest_share),
    "subscript": _counted_where_it_is,
    **dict.fromkeys(NORMS, _norm_of_joined),
    "torch.where": _where,
    "torch.masked_fill": _filled,
    **dict.fromkeys(
        torch_names("matmul mm bmm einsum dot vdot nn.functional.linear"),
        _dot_product,
    ),
}
