"""How a value comes to be 0: nothing was counted, everything summed up was 0, the data was constant, two things were equal.

It is asked of values whose range holds 0. What came from outside, and of which nothing is known, is no way to be 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis import origins
from nanlint.analysis.op_graph import ARRAY, ATTRIBUTE, JOIN, NUMBER, TENSOR, TUPLE, Op, Value, made_from
from nanlint.analysis.patterns.partitions import leave_nothing_out
from nanlint.analysis.patterns.rarely_zero import has_ordinary_zero_rows, is_tally
from nanlint.analysis.patterns.tensors import SIZES, sliced
from nanlint.analysis.relations import NORMS, aligned, has_a_diagonal, maker, op_behind, spans_its_data
from nanlint.analysis.selection import is_mask, may_be_empty, selected_by_name
from nanlint.ops.interval import TRUTH
from nanlint.ops.names import METHODS
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

COUNT, SUM, NORM, SPREAD, DIFFERENCE, CROSSING, VALUE = (
    "count",
    "sum",
    "norm",
    "spread",
    "difference",
    "crossing",
    "value",
)
SUMS = torch_names("sum nansum cumsum count_nonzero")
_WHEN = {
    COUNT: " when nothing is counted",
    NORM: " when its operand is all zeros",
    SPREAD: " when the data is constant",
}
_COMPARISONS = torch_names("eq ne lt le gt ge")
_DEEPEST = 8


class Zero(NamedTuple):
    """A way for a value to be 0."""

    kind: str
    op: Op
    """Where it comes from: the sum, the norm, the difference."""
    is_ordinary: bool = True
    """Everyday data does it: an empty mask, a silent clip, a constant image. Else it takes a coincidence."""
    is_exact: bool = True
    """The value is what `op` made, and no arithmetic on it."""
    is_by_name: bool = False
    """Nothing but the name of something from outside says so."""

    @property
    def when(self) -> str:
        """When that is, as a message goes on; empty if the kind does not tell."""
        is_made_by_counting = self.kind != COUNT or self.op.function in SUMS
        return _WHEN.get(self.kind, "") if self.is_exact and is_made_by_counting else ""

    @property
    def rarely(self) -> Zero:
        """The same, where more must come together."""
        return self._replace(is_ordinary=False)


def why_zero(value: Value, depth: int = _DEEPEST) -> Zero | None:  # noqa: PLR0911 - one for each kind of making
    """The way in which some input makes `value` 0; None if its range excludes 0, or nothing is known of it."""
    if not value.range.has_zero or not depth:
        return None
    op = op_behind(value)
    if op is None:
        return None
    if op.function == ATTRIBUTE and "stored" in op.operands:
        return why_zero(op.operands["stored"], depth - 1)
    if value.learned:
        return Zero(VALUE, op) if _starts_at_zero(op) else None
    if op.function == JOIN:
        return _first(op, depth)
    if op.where == "network":
        return Zero(VALUE, op, is_ordinary=False)
    way = _WAYS.get(op.function)
    return way(op, value, depth) if way is not None else None


def _first(op: Op, depth: int) -> Zero | None:
    """Whichever of several values it is: the first that can be 0."""
    if op.where == "element":  # a tensor of which elements were set
        return None
    found = [zero for each in op.operands.values() if (zero := why_zero(each, depth - 1)) is not None]
    return min(found, key=lambda zero: not zero.is_ordinary, default=None)


def _starts_at_zero(op: Op) -> bool:
    start = op.subject
    return start is not None and start.range.constant == 0


def _inside(op: Op, _: Value, depth: int) -> Zero | None:
    """It is 0 exactly where its operand is: `x.abs()`, `n.sqrt()`, `count.item()`, `float(n)`, `torch.tensor([n])`."""
    subject = op.subject
    if subject is not None and subject.kind is TUPLE and len(subject.parts) == 1:
        subject = subject.parts[0]
    return why_zero(subject, depth - 1) if subject is not None else None


def _size(op: Op, value: Value, depth: int) -> Zero | None:
    """The size of something is 0 where it is; of anything at all that takes a coincidence."""
    return _inside(op, value, depth) or Zero(CROSSING, op, is_ordinary=False)


def _summed(op: Op, _: Value, depth: int) -> Zero | None:  # noqa: PLR0911 - one for each kind of what is summed up
    subject = op.subject
    if subject is None or (subject.kind is TUPLE and not subject.parts) or (subject.some and "dim" not in op.operands):
        return None
    listed = made_from(subject)
    if listed is not None and listed.where == "comprehension":
        found = _inside(listed, subject, depth)
        if found is None and maker(listed.subject, SIZES) is not None:
            return Zero(COUNT, op, is_ordinary=False)  # of all that a batch lists, such as its boxes, there may be none
        return found._replace(op=op) if found is not None else None
    if _counts(subject):
        return Zero(COUNT, op, is_ordinary=not (is_of_lengths(subject) or is_tally(subject)))
    added = maker(subject, "torch.add")
    if added is not None and any(has_a_diagonal(each) or _is_floor(each) for each in added.operands.values()):
        return None
    squares = maker(subject, torch_names("pow square abs"))
    if squares is not None or _is_square(subject):
        return Zero(NORM, op)
    if _is_exponential(subject):
        return None
    return Zero(SUM, op, is_ordinary=_is_plain_sum(subject))


def _counts(value: Value) -> bool:
    """Whether the sum of it is a number of things: truth values, and products and parts of such."""
    if is_mask(value) or (value.range.is_subset(TRUTH) and value.range.integer):
        return True
    op = op_behind(value)
    if op is None or op.subject is None:
        return False
    if op.function in {"subscript", "torch.masked_fill", "torch.scatter", JOIN}:
        return _counts(op.subject)
    if op.function == "torch.sub":
        return value.range.least >= 0 and _counts(op.subject)
    return op.function == "torch.mul" and all(_counts(each) or each.range.integer for each in op.operands.values())


def is_of_lengths(mask: Value) -> bool:
    """`torch.arange(n) < lengths`: none is counted only for a length of 0."""
    test = maker(mask, _COMPARISONS)
    return test is not None and origins.is_of_lengths(test)


def _is_plain_sum(value: Value) -> bool:
    """The sum of weights, of a mask from outside or of what a mask has left; not that of products or differences of both signs."""
    op = op_behind(value)
    if op is None or op.function not in {"torch.mul", "torch.sub", "torch.div", "torch.add"}:
        return True
    is_scaled = op.function == "torch.mul" and any(each.range.least >= 0 for each in op.operands.values())
    return is_scaled or any(_counts(each) for each in op.operands.values()) or value.range.least >= 0


def _is_square(value: Value) -> bool:
    product = maker(value, "torch.mul")
    return product is not None and aligned(product.operands.get("input"), product.operands.get("other"))


def _is_exponential(value: Value) -> bool:
    """Exponentials and shares are above 0 but for an underflow."""
    return maker(value, _POSITIVE) is not None


_POSITIVE = torch_names("exp softmax sigmoid exp2 nn.functional.softplus")


def _counted(op: Op, _: Value, depth: int) -> Zero | None:
    del depth
    return Zero(COUNT, op)


def _sized(op: Op, _: Value, depth: int) -> Zero | None:
    """How many a mask has selected; of other things there are some."""
    del depth
    subject = op.subject
    if subject is None or subject.kind not in {TENSOR, ARRAY}:
        return None
    is_by_name = not may_be_empty(subject)
    return Zero(COUNT, op, is_by_name=is_by_name) if not is_by_name or selected_by_name(subject) else None


def _measured(op: Op, value: Value, depth: int) -> Zero | None:
    del depth
    is_of_rows = op.function in NORMS and ("dim" in op.operands or value.kind is ARRAY)
    return Zero(NORM, op, is_ordinary=not is_of_rows or has_ordinary_zero_rows(op.subject))


def _spread(op: Op, _: Value, depth: int) -> Zero | None:
    del depth
    return Zero(SPREAD, op)


def _averaged(op: Op, _: Value, depth: int) -> Zero | None:
    """A mean of what is not negative is 0 when all of it is; of anything else, such as weights from outside, that is rare."""
    subject = op.subject
    if subject is None or subject.range.least < 0:
        is_plain = subject is not None and not subject.some and _is_plain_sum(subject)
        return Zero(SUM, op, is_ordinary=False) if is_plain else None
    if _counts(subject):
        return Zero(COUNT, op, is_exact=False)
    found = why_zero(subject, depth - 1)
    return found.rarely._replace(is_exact=False) if found is not None else None


def _extreme(op: Op, value: Value, depth: int) -> Zero | None:
    """The largest of what is not negative is 0 when all of it is; that of anything else by coincidence."""
    subject, along = op.subject, op.operands.get("dim")
    if subject is None:
        return None
    if "other" in op.operands or (along is not None and along.kind is TENSOR):
        return _larger(op, value, depth)
    sizes = maker(subject, torch_names("abs square pow"))
    if sizes is not None and op.function in {"torch.max", "torch.amax"}:
        return Zero(NORM, op)
    return why_zero(subject, depth - 1) or (Zero(VALUE, op, is_ordinary=False) if value.kind is not NUMBER else None)


def _larger(op: Op, _: Value, depth: int) -> Zero | None:
    """Of two: the larger is 0 if both can be, the smaller if one can be."""
    found = [why_zero(each, depth - 1) for each in list(op.operands.values())[:2]]
    ways = [zero for zero in found if zero is not None]
    is_larger = op.function in {"torch.max", "torch.maximum"}
    return ways[0].rarely._replace(is_exact=False) if ways and (not is_larger or len(ways) == len(found)) else None


def _clamped(op: Op, _: Value, depth: int) -> Zero | None:
    """Clamped at 0 it is exactly 0 for half of all values; clamped at what the caller says it is not known to be."""
    low = op.operands.get("min")
    if low is not None and low.range.constant is None:
        return None
    at_zero = low is not None and low.range.constant == 0 and op.subject is not None and op.subject.range.has_negative
    return Zero(CROSSING, op) if at_zero else _inside(op, Value(), depth)


def _rectified(op: Op, _: Value, depth: int) -> Zero | None:
    del depth
    return Zero(CROSSING, op)


def _subtracted(op: Op, value: Value, depth: int) -> Zero | None:
    left, right = op.operands.get("input"), op.operands.get("other")
    if left is None or right is None:
        return None
    if spans_its_data(left, right):
        return Zero(SPREAD, op)
    first, second = _amount(left), _amount(right)
    if first and second:
        return Zero(COUNT, op, is_ordinary=right.range.constant is None)
    if value.kind is NUMBER or (_is_given_number(left) and _is_given_number(right)):
        return None
    del depth
    if any(one.range.constant is not None and _is_from_outside(two) for one, two in ((left, right), (right, left))):
        return None
    return Zero(DIFFERENCE, op, is_ordinary=False)


def _amount(value: Value) -> bool:
    """Whether it is a number of things, or a whole number that is taken from one."""
    op = op_behind(value)
    if value.range.constant is not None and value.range.integer:
        return True
    if op is None:
        return False
    if op.function in {METHODS["item"], "float", "int"}:
        return op.subject is not None and _amount(op.subject)
    is_size = op.function in SIZES and op.subject is not None and op.subject.kind in {TENSOR, ARRAY}
    return is_size or (op.function in SUMS and op.subject is not None and _counts(op.subject))


def _is_given_number(value: Value) -> bool:
    """A number that the caller or a setting says: nobody knows what it is, and it is not data."""
    op = op_behind(value)
    return value.kind is NUMBER and (op is None or op.function.startswith("<") or op.function in SIZES)


def _is_from_outside(value: Value) -> bool:
    """What is added to something may be an eps, as long as nothing says that it is data: `eps`, `self.eps`, `group["eps"]`."""
    op = op_behind(value)
    is_plain = op is None or (op.function.startswith("<") and op.function != JOIN and sliced(value) is None)
    return is_plain and value.kind not in {TENSOR, ARRAY}


_SIZED = torch_names("abs square")


def _is_floor(value: Value) -> bool:
    """What is added to keep a sum above 0: a number above 0, or one that the caller says."""
    return (
        value.range.low > 0
        or (value.range.nonzero and value.range.low >= 0)
        or (value.kind is NUMBER and not value.range.has_zero)
    )


def _added(op: Op, value: Value, depth: int) -> Zero | None:
    """A sum of things that are not negative is 0 if each is; any other by coincidence."""
    terms = [op.operands[name] for name in ("input", "other") if name in op.operands]
    if any(
        _is_floor(each) or (_is_from_outside(each) and each.range.constant != 0) or has_a_diagonal(each)
        for each in terms
    ):
        return None
    if leave_nothing_out(_counted_masks(value)):
        return None
    if value.range.least >= 0:
        if all(maker(each, _SIZED) is not None for each in terms):
            return Zero(NORM, op, is_exact=False)
        ways = [why_zero(each, depth - 1) for each in terms]
        first = ways[0]
        return first._replace(is_exact=False) if first is not None and None not in ways else None
    if value.kind is NUMBER or all(each.kind is NUMBER for each in terms):
        return None
    found = [zero for each in terms if (zero := why_zero(each, depth - 1)) is not None]
    return Zero(SUM, op, is_ordinary=len(found) == len(terms) and any(zero.is_ordinary for zero in found))


def _counted_masks(value: Value) -> list[Value]:
    """The masks of which a sum adds up the counts."""
    op = op_behind(value)
    if op is None or op.subject is None:
        return []
    if op.function == "torch.add":
        return [mask for each in op.operands.values() for mask in _counted_masks(each)]
    return [op.subject] if op.function == "torch.sum" and is_mask(op.subject) else []


def _multiplied(op: Op, _: Value, depth: int) -> Zero | None:
    """A product is 0 where a factor is."""
    found = (why_zero(each, depth - 1) for each in op.operands.values())
    ways = [zero._replace(is_exact=False) for zero in found if zero is not None]
    return min(ways, key=lambda zero: not zero.is_ordinary, default=None)


def _divided(op: Op, _: Value, depth: int) -> Zero | None:
    found = why_zero(op.subject, depth - 1) if op.subject is not None else None
    return found._replace(is_exact=False) if found is not None else None


def _crossing(op: Op, _: Value, depth: int) -> Zero | None:
    """Contractions, determinants, sines and signs: of either sign, and 0 in between."""
    del depth
    if op.subject is not None and (op.function in _DETERMINANTS and _is_regular(op.subject)):
        return None
    lengths = (maker(part, NORMS) for each in op.operands.values() for part in (each, *each.parts))
    return Zero(CROSSING, op, is_ordinary=any(length is not None for length in lengths))


_DETERMINANTS = torch_names("det linalg.det trace")


def _is_regular(matrix: Value) -> bool:
    """A matrix to which a diagonal was added: `x.T @ x + torch.eye(n)`."""
    added = maker(matrix, "torch.add")
    return added is not None and any(has_a_diagonal(each) for each in added.operands.values())


def _part(op: Op, _: Value, depth: int) -> Zero | None:
    """A part of what was computed; of what was given only its relation to what is divided tells (see `is_own_part`)."""
    return why_zero(op.subject, depth - 1) if op.subject is not None else None


def _tested(op: Op, _: Value, depth: int) -> Zero | None:
    """A mask is 0 wherever it is False."""
    del depth
    return Zero(COUNT, op)


def _scattered(op: Op, _: Value, depth: int) -> Zero | None:
    """What was added up by index: nothing, where no index points."""
    del depth
    start = op.subject
    return Zero(COUNT, op) if start is not None and start.range.constant == 0 else None


def _logarithm(op: Op, _: Value, depth: int) -> Zero | None:
    """`log(n + 1)` is 0 where `n` is."""
    total = maker(op.subject, "torch.add") if op.subject is not None else None
    terms = list(total.operands.values()) if total is not None else []
    rest = [each for each in terms if each.number != 1]
    found = why_zero(rest[0], depth - 1) if len(terms) == 2 and len(rest) == 1 else None
    return found._replace(kind=VALUE, is_exact=False) if found is not None else None


def _raised(op: Op, value: Value, depth: int) -> Zero | None:
    exponent = op.operands.get("exponent")
    is_positive = exponent is not None and exponent.range.low > 0
    return _inside(op, value, depth) or _given(op) if is_positive else None


def _given(op: Op) -> Zero | None:
    """A power of a part of something: of a depth, of the last coordinate."""
    part = maker(op.subject, word_set("subscript <element>")) if op.subject is not None else None
    return Zero(VALUE, op, is_ordinary=False) if part is not None else None


_WAYS: Mapping[str, Callable[[Op, Value, int], Zero | None]] = {
    **dict.fromkeys(SUMS - {"torch.count_nonzero"}, _summed),
    **dict.fromkeys(torch_names("count_nonzero bincount histc"), _counted),
    **dict.fromkeys(SIZES, _sized),
    **dict.fromkeys(NORMS | torch_names("linalg.matrix_norm cdist dist pairwise_distance"), _measured),
    **dict.fromkeys(torch_names("nn.functional.pairwise_distance hypot"), _measured),
    **dict.fromkeys(torch_names("std var"), _spread),
    **dict.fromkeys(torch_names("mean median nanmean"), _averaged),
    **dict.fromkeys(torch_names("max amax min amin"), _extreme),
    **dict.fromkeys(torch_names("maximum minimum"), _larger),
    **dict.fromkeys(torch_names("clamp clamp_min"), _clamped),
    **dict.fromkeys(torch_names("relu nn.functional.relu nn.functional.relu6"), _rectified),
    "torch.abs": _size,
    "torch.sub": _subtracted,
    "torch.add": _added,
    "torch.mul": _multiplied,
    "torch.prod": _inside,
    "torch.div": _divided,
    "torch.pow": _raised,
    "torch.log": _logarithm,
    "torch.log1p": _inside,
    **dict.fromkeys(
        torch_names("""
        einsum matmul mm bmm dot inner vdot mv linalg.vecdot det linalg.det trace sin tan sign tanh
    """),
        _crossing,
    ),
    "torch.rand": _crossing,
    "torch.rand_like": _crossing,
    "subscript": _part,
    **dict.fromkeys(
        torch_names("""
        sqrt square neg masked_fill where stack cat tensor as_tensor floor index_select clamp_max
    """),
        _inside,
    ),
    **dict.fromkeys((METHODS["item"], "float", "int", "torch.nn.functional.one_hot"), _inside),
    **dict.fromkeys(
        torch_names("eq ne lt le gt ge logical_and logical_or bitwise_and bitwise_or"),
        _tested,
    ),
    **dict.fromkeys(torch_names("scatter_add index_add scatter_reduce"), _scattered),
}
