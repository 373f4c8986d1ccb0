"""What holds between two operands of one operation that no interval of each alone can tell.

`x - x.max()` is never positive, `x * x` never negative, `p / p.sum()` is a share. Two expressions are the same if they read the same
bindings: names by what they hold, the rest by its text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.dtypes import format_of
from nanlint.facts.guards import stored, tightened
from nanlint.facts.mask_bounds import DEEPEST_MASK, definition, through_size, told
from nanlint.facts.parts import root
from nanlint.facts.values import UNKNOWN, Call
from nanlint.facts.written import text_of
from nanlint.ops.arithmetic import square
from nanlint.ops.interval import INF, UNIT, Interval
from nanlint.ops.names import METHODS, SIGNATURES
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.facts.evaluate import Evaluator

_LARGEST = frozenset({"torch.max", "torch.amax", "torch.logsumexp", "torch.cummax", "torch.logcumsumexp"})
_PEAKS = frozenset({"torch.max", "torch.amax"})
_SMALLEST = frozenset({"torch.min", "torch.amin", "torch.cummin"})
_NORMS = frozenset({"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm"})
# Of these orders a norm is no less than any element.
_ORDERS = (None, "fro", 1, 2, INF)
_EQUALS = frozenset({"comparison", "torch.eq"})
DIAGONALS = frozenset({"torch.eye", "torch.diag", "torch.diag_embed"})
_ADDS = frozenset({"torch.sum", "torch.nansum"})
_RAISING = frozenset({"torch.clamp", "torch.clamp_min", "torch.maximum"})
# Rounding can carry a unit vector a little past 1.
_SIGNED_SHARE = Interval(-1.0000002, 1.0000002, nan=True)
_SHARE = replace(UNIT, nan=True)
_NORMALIZE, _COSINE = "torch.nn.functional.normalize", Interval(-1.01, 1.01, nan=True)
_DEEPEST_SUM = 4

# These keep each value where it is; other views, as `x.t()`, hold the same values elsewhere.
_IN_PLACE = frozenset(
    METHODS[name] for name in ("float", "double", "half", "bfloat16", "to", "detach", "cpu", "clone", "contiguous")
)
_DRAWING = re.compile(r"\.(rand|normal|bernoulli|multinomial|poisson|\w*dropout|rrelu|gumbel|empty|new_empty|\w+_$)")
_PURE = frozenset({"len", "float", "int", "abs", "max", "min", "round", "math.sqrt", "math.log", "math.exp"})

# Whether an infinity or a NaN is among the values, the ranges of the operands tell by themselves.
NOT_POSITIVE = Interval(-INF, 0.0, minus_inf=True, nan=True)
NOT_NEGATIVE = Interval(0.0, INF, plus_inf=True, nan=True)


def related(call: Call, evaluator: Evaluator) -> Interval | None:
    """The range that the relation of its operands gives to `call`; None if they are not related.

    To be met with the range that the operands give each for itself: that tells of infinities and NaN.
    """
    relation = _RELATIONS.get(call.function)
    return relation(call, evaluator) if relation is not None else None


def same(first: cst.BaseExpression | None, second: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether two expressions of the chunk read the same values."""
    if first is None or second is None:
        return False
    if first is second:
        return True
    one, other = evaluator.values.get(first), evaluator.values.get(second)
    if one is None or other is None:
        return False
    if one is not UNKNOWN and one.identity is other.identity:
        return True
    return _repeats(first, second, evaluator)


def is_raised(largest: Call, low: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether `largest` is `torch.max(x, low + eps)`."""
    made = (evaluator.values.get(operand, UNKNOWN).origin for operand in largest.arguments.values())
    sums = [each for each in made if each is not None and each.function == "torch.add"]
    return any(same(each.subject, low, evaluator) for each in sums)


def aligned(first: cst.BaseExpression | None, second: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether two expressions read the same values in the same places: `x` and `x.float()`, not `x` and `x.t()`."""
    if first is None or second is None or not same(first, second, evaluator):
        return False
    if first is second or evaluator.values[first] is evaluator.values[second] or _repeats(first, second, evaluator):
        return True
    return not (_is_moved(first, evaluator) or _is_moved(second, evaluator))


def _is_moved(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether a view on the way to `node` puts its values elsewhere."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    for _ in range(DEEPEST_MASK):
        if value.made_by is None or value.same_as is None or value.made_by.subject is None:
            return False
        if value.made_by.function in SIGNATURES and value.made_by.function not in _IN_PLACE:
            return True
        value = evaluator.values.get(value.made_by.subject, UNKNOWN)
    return True


def _repeats(first: cst.BaseExpression, second: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether the two are one text that gives the same values each time: nothing in it is drawn, or of unknown making."""
    if text_of(first) != text_of(second) or not _reads_the_same(first, second, evaluator):
        return False
    made = [evaluator.calls.get(inner) for inner in walk(first) if isinstance(inner, cst.Call)]
    return all(
        call is not None
        and (call.function in _PURE or (call.function in SIGNATURES and not _DRAWING.search(call.function)))
        for call in made
    )


def _reads_the_same(first: cst.BaseExpression, second: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether the names behind two equal texts were not assigned in between."""
    then, now = evaluator.envs.get(first), evaluator.envs.get(second)
    if then is None or now is None or then.layers is now.layers:
        return then is not None
    root = text_of(first).partition(".")[0].partition("[")[0].partition("(")[0]
    held = ((then.get(name), now.get(name)) for name in then.differing(now) if name.partition(".")[0] == root)
    return all((value or UNKNOWN).identity is before.identity for before, value in held if before is not None)


def _made(node: cst.BaseExpression | None, functions: frozenset[str], evaluator: Evaluator) -> Call | None:
    """The call behind `node`, views aside, if it is one of `functions`."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    return value.origin if value.origin is not None and value.origin.function in functions else None


def _difference(call: Call, evaluator: Evaluator) -> Interval | None:
    left, right = call.arguments.get("input"), call.arguments.get("other")
    if "alpha" in call.arguments:
        return None
    if _is_no_less(right, left, evaluator):
        return NOT_POSITIVE
    holds = _is_no_less(left, right, evaluator) or _is_test_with_itself(left, right, evaluator)
    return NOT_NEGATIVE if holds else None


def _is_test_with_itself(
    test: cst.BaseExpression | None, less: cst.BaseExpression | None, evaluator: Evaluator
) -> bool:
    """`labels == labels.t()` less `torch.eye(n)`: everything is equal to itself."""
    made, taken = _made(test, _EQUALS, evaluator), _made(less, DIAGONALS, evaluator)
    if made is None or taken is None or less is None or evaluator.values[less].range.high > 1:
        return False
    if not isinstance(made.node, cst.Comparison):
        left, right = made.subject, made.arguments.get("other")
    else:
        (compared, *others) = made.node.comparisons
        left, right = made.node.left, compared.comparator
        if others or not isinstance(compared.operator, cst.Equal):
            return False
    return left is not None and right is not None and same(root(left, evaluator), root(right, evaluator), evaluator)


def _is_no_less(upper: cst.BaseExpression | None, lower: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether `upper` is a maximum of what `lower` is a part or a minimum of, or `lower` a minimum of `upper`."""
    largest, smallest = _made(upper, _LARGEST, evaluator), _made(lower, _SMALLEST, evaluator)
    if largest and smallest and same(largest.subject, smallest.subject, evaluator):
        return True
    if largest and _is_of(largest, lower, evaluator):
        return True
    return smallest is not None and _is_of(smallest, upper, evaluator)


def _is_of(extreme: Call, values: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether `values` are those that the extreme was taken of: along one dimension, in the same places."""
    alike = aligned if "dim" in extreme.arguments else same
    return alike(extreme.subject, values, evaluator)


def _product(call: Call, evaluator: Evaluator) -> Interval | None:
    minus = _made(call.subject, frozenset({"torch.neg"}), evaluator)
    if minus is not None and aligned(minus.subject, call.arguments.get("other"), evaluator):
        return NOT_POSITIVE
    if not aligned(call.arguments.get("input"), call.arguments.get("other"), evaluator):
        return None
    factor = evaluator.range_of(call.arguments["input"])
    return square(format_of(evaluator.values[call.arguments["input"]].dtype), factor)


def _quotient(call: Call, evaluator: Evaluator) -> Interval | None:
    part, whole = call.arguments.get("input"), call.arguments.get("other")
    if part is None or "rounding_mode" in call.arguments:
        return None
    if evaluator.range_of(part).least >= 0 and _holds(whole, part, evaluator):
        return _SHARE
    return _SIGNED_SHARE if _holds_size(whole, part, evaluator) else None


def _holds(whole: cst.BaseExpression | None, part: cst.BaseExpression, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether `whole` is no less than `part`, which is not negative: its sum or maximum, and what was added to that."""
    made = evaluator.values.get(whole, UNKNOWN).origin if whole is not None else None
    if made is None or depth == _DEEPEST_SUM:
        return False
    if made.function in _ADDS | _PEAKS:
        return _is_of(made, part, evaluator)
    if made.function in _RAISING and "max" not in made.arguments:
        return _holds(made.subject, part, evaluator, depth + 1)
    if made.function != "torch.add" or "alpha" in made.arguments:
        return False
    terms = [made.arguments.get("input"), made.arguments.get("other")]
    return all(evaluator.range_of(term).least >= 0 for term in terms) and any(
        aligned(term, part, evaluator) or _holds(term, part, evaluator, depth + 1) for term in terms
    )


def _holds_size(
    whole: cst.BaseExpression | None, part: cst.BaseExpression, evaluator: Evaluator, depth: int = 0
) -> bool:
    """Whether `whole` is no less than the size of `part`: its norm or largest size, and what was added to that."""
    made = evaluator.values.get(whole, UNKNOWN).origin if whole is not None else None
    if made is None or depth == _DEEPEST_SUM:
        return False
    if made.function in _NORMS:
        order = made.arguments.get("p") or made.arguments.get("ord")
        is_usual = order is None or evaluator.values.get(order, UNKNOWN).constant in _ORDERS
        return is_usual and _is_of(made, part, evaluator)
    if made.function in _PEAKS:
        sizes = _made(made.subject, frozenset({"torch.abs"}), evaluator)
        return sizes is not None and aligned(sizes.subject, part, evaluator)
    if made.function in _RAISING and "max" not in made.arguments:
        return _holds_size(made.subject, part, evaluator, depth + 1)
    if made.function != "torch.add" or "alpha" in made.arguments:
        return False
    terms = [made.arguments.get("input"), made.arguments.get("other")]
    return all(evaluator.range_of(term).least >= 0 for term in terms) and any(
        _holds_size(term, part, evaluator, depth + 1) for term in terms
    )


def _sum(call: Call, evaluator: Evaluator) -> Interval | None:
    """The sum of exp(x - max(x)) holds the 1 of the largest x, if it is taken where the maximum is."""
    grown = _made(call.subject, frozenset({"torch.exp"}), evaluator)
    shifted = _made(grown.subject, frozenset({"torch.sub"}), evaluator) if grown else None
    peak = _made(shifted.arguments.get("other"), _PEAKS, evaluator) if shifted else None
    if shifted is None or peak is None or _difference(shifted, evaluator) != NOT_POSITIVE:
        return None
    along, of_peak = call.arguments.get("dim"), peak.arguments.get("dim")
    holds_it = along is None or (of_peak is not None and text_of(along) == text_of(of_peak))
    return Interval(1.0, INF, plus_inf=True, nan=True) if holds_it else None


def _where(call: Call, evaluator: Evaluator) -> Interval | None:
    """`where` picks values, so each side is seen under its side of the condition; the gradient is not."""
    condition, yes, no = (call.arguments.get(name) for name in ("condition", "input", "other"))
    if condition is None or yes is None or no is None:
        return None
    test = definition(condition, evaluator)
    return range_under(yes, test, evaluator, holds=True).join(range_under(no, test, evaluator, holds=False))


def _filled(call: Call, evaluator: Evaluator) -> Interval | None:
    """`y.masked_fill(y == 0, 1)` is never 0."""
    mask, fill = call.arguments.get("mask"), call.arguments.get("value")
    if call.subject is None or mask is None or fill is None:
        return None
    kept = range_under(call.subject, definition(mask, evaluator), evaluator, holds=False)
    return kept.join(evaluator.range_of(fill))


def range_under(node: cst.BaseExpression, test: cst.BaseExpression, evaluator: Evaluator, *, holds: bool) -> Interval:
    """The range of `node` where `test` holds, for operands that the test names."""
    known, form = evaluator.range_of(node), format_of(evaluator.values[node].dtype)
    for said in told(test, evaluator, holds=holds):
        for bound in through_size(stored(said, form), evaluator):
            if aligned(bound.node, node, evaluator):
                known = tightened(known, bound)
    return known if evaluator.range_of(node).nan else known.without_nan()


def _dot_product(call: Call, evaluator: Evaluator) -> Interval | None:
    """A cosine: the rows of both were divided by their lengths."""
    operands = [evaluator.values.get(node, UNKNOWN).origin for node in call.arguments.values()]
    is_of_units = len(operands) > 1 and all(made is not None and made.function == _NORMALIZE for made in operands)
    return _COSINE if is_of_units else None


_RELATIONS: Mapping[str, Callable[[Call, Evaluator], Interval | None]] = {
    "torch.sub": _difference,
    "torch.mul": _product,
    "torch.div": _quotient,
    "torch.sum": _sum,
    "torch.where": _where,
    "torch.masked_fill": _filled,
    **dict.fromkeys(("torch.matmul", "torch.mm", "torch.bmm"), _dot_product),
}
