"""Sums, squares, areas and products that pass 65504, the end of float16, on ordinary values."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from nanlint.analysis.dtypes import dtype_made
from nanlint.analysis.op_graph import ATTRIBUTE, ELEMENT, JOIN, NUMBER, PARAMETER, Op, Value
from nanlint.analysis.patterns.norms import is_square_root
from nanlint.analysis.patterns.tensors import is_data
from nanlint.analysis.relations import NORMS as VECTOR_NORMS
from nanlint.analysis.relations import op_behind, same
from nanlint.analysis.sources import suggests_gradient, suggests_keys, suggests_values
from nanlint.ops.formats import AUTOCAST, SINGLE
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.project.index import Function

SUMS = torch_names("sum nansum cumsum")
NORMS = VECTOR_NORMS | {"torch.linalg.matrix_norm"}
POWERS = torch_names("pow square")
AREAS = torch_names("mul prod")
AVERAGES = torch_names("mean var var_mean")
MATRIX_PRODUCTS = torch_names("matmul bmm mm einsum baddbmm")
QUOTIENT = "torch.div"
LARGEST = 65504.0
_ROOT_OF_LARGEST = 256.0
# What is scaled or normalised first stays small.
_SCALINGS = torch_names("mul nn.functional.normalize softmax") | {QUOTIENT}
_CUT_OFF = torch_names("clamp clamp_min relu")
_COLUMNS = frozenset({"subscript", ELEMENT})
_WIDE = word_set("float32 float64")
_THROUGH = torch_names("add sub mul clamp clamp_min mean sum") | {ELEMENT}
_DEEPEST = 6


def is_half(op: Op) -> bool:
    """Whether it takes float16 and makes float16."""
    value = op.subject
    is_single = bool(op.autocast) and AUTOCAST.get(op.function) == SINGLE
    return value is not None and value.dtype == "float16" == dtype_made(op.function, op.operands) and not is_single


def overflows(op: Op) -> bool:
    """Whether a sum, norm, power or square of float16 passes its end on values that are possible there."""
    reach = op.subject.range if op.subject is not None else None
    largest = max(-reach.least, reach.greatest) if reach is not None else 0.0
    if op.function in SUMS | NORMS:
        return largest > 1  # of values up to 1 it takes more than 65504 to get there
    is_power = op.function == "torch.pow"
    exponent = op.operands["exponent"].number or 0.0 if is_power else 2.0 * (_squared(op) is not None)
    return exponent >= 2 and largest > LARGEST ** (1 / exponent)


def is_open(op: Op) -> bool:
    """Whether nothing says which dtype it runs in, and nothing on the way was cast to a wide one."""
    values = [value for value in op.operands.values() if value.kind is not NUMBER]
    is_single = bool(op.autocast) and AUTOCAST.get(op.function) == SINGLE
    if is_single or "dtype" in op.operands or any(value.dtype for value in values):
        return False
    return not any(map(is_widened, values))


def is_widened(value: Value, depth: int = _DEEPEST) -> bool:
    """Whether what it was made of was cast to a wide format on some path."""
    op = value.op
    if value.dtype in _WIDE:
        return True
    if op is None or not depth:
        return False
    held = op.operands.get("stored")
    inner = [held] if held is not None else op.operands.values()
    return any(is_widened(each, depth - 1) for each in inner if each.kind is not NUMBER)


def is_large(op: Op, function: Function) -> bool:
    """Whether it passes the end of float16 on ordinary values, if it runs in it: by what is added up, and what becomes of it."""
    if op.function in SUMS | NORMS and "dim" not in op.operands and suggests_gradient(op.subject):
        return True
    if op.function in SUMS and "dim" in op.operands and _made(op.subject, "torch.log_softmax"):
        return True
    return _is_sum_of_squares(op, function) or _is_linear_attention(op) or is_count_over_pixels(op, function)


def is_area(op: Op) -> bool:
    """`(x2 - x1) * (y2 - y1)`, `sides[:, 0] * sides[:, 1]` of such differences, or `(high - low).prod(-1)`."""
    if op.function == "torch.prod":
        return op.subject is not None and "dim" in op.operands and _is_edge(op.subject, is_whole=True)
    sides = list(op.operands.values()) if op.function == "torch.mul" else []
    return len(sides) == 2 and not same(sides[0], sides[1]) and all(map(_is_edge, sides))


def is_scaled_late(op: Op, function: Function) -> bool:
    """`(q @ k) / sqrt(d)` in front of a softmax: what is scaled down afterwards may be inf before."""
    is_scaling = op.function in {"torch.mul", QUOTIENT}
    scores, scale = (op.operands.get(name) if is_scaling else None for name in ("input", "other"))
    product = op_behind(scores)
    if product is None or scale is None or product.function not in MATRIX_PRODUCTS or not _is_scale(scale):
        return False
    is_scaled_before = any(_made(value, *_SCALINGS) for value in product.operands.values())
    return not is_scaled_before and any(each.function == "torch.softmax" for each in function.ops)


def is_count_over_pixels(op: Op, function: Function) -> bool:
    """A sum that is divided by a total of two sums: the overlap that a loss of segmentation counts over a picture."""
    return op.function in SUMS and op in _overlaps(function, len(function.ops))


@lru_cache(maxsize=16)
def _overlaps(function: Function, _count: int) -> frozenset[Op]:
    """The terms of what a function divides by a total of two sums; `_count` is how many operations it has by now."""
    quotients = (each for each in function.ops if each.function == QUOTIENT and "other" in each.operands)
    totals = (each for each in quotients if _sums_in(each.operands["other"]) > 1)
    return frozenset(term for each in totals for term in _terms(each.operands["input"]))


def _sums_in(value: Value) -> int:
    """How many sums were added up; the sum of a sum counts as two."""
    sums = [term.subject for term in _terms(value) if term.function in SUMS]
    return sum(1 + _made(each, "torch.add") for each in sums)


def _terms(value: Value, depth: int = _DEEPEST) -> Iterator[Op]:
    op = op_behind(value)
    if op is None or not depth:
        return
    yield op
    if op.function in _THROUGH:
        for each in op.operands.values():
            yield from _terms(each, depth - 1)


def _is_scale(value: Value) -> bool:
    """A number, a setting, or what a function was given that no operation made."""
    op = value.op
    is_given = op is not None and op.function in {PARAMETER, ATTRIBUTE} and value.number is None and not is_data(value)
    return value.kind is NUMBER or value.number is not None or is_given


def _is_edge(value: Value, *, is_whole: bool = False) -> bool:
    """A difference of two things that are no numbers, cut off at 0 or not; or one coordinate of such differences."""
    op, is_column = op_behind(value), False
    for _ in range(_DEEPEST):
        is_seen_through = op is not None and op.function in _CUT_OFF | _COLUMNS
        is_column = is_column or (op is not None and op.function in _COLUMNS)
        if op is None or op.subject is None or not is_seen_through:
            break
        op = op_behind(op.subject)
    if op is None or op.function != "torch.sub":
        return False
    ends = list(op.operands.values())
    if len(ends) != 2 or any(end.number is not None or end.kind is NUMBER for end in ends):
        return False
    return is_column or is_whole or any(map(_is_part, ends))


def _is_part(value: Value) -> bool:
    """Whether it is a column of something, or the larger or smaller of two such: a corner of a box."""
    op = op_behind(value)
    if op is None:
        return False
    if op.function in {"torch.maximum", "torch.minimum", "torch.max", "torch.min"}:
        return any(map(_is_part, op.operands.values()))
    return op.function in {"subscript", ELEMENT}


def _is_sum_of_squares(op: Op, function: Function) -> bool:
    """The sum or mean of squares, or a variance, of which the root is taken."""
    if op.subject is None or op.function not in {"torch.sum", *AVERAGES}:
        return False
    base = op.subject if op.function in {"torch.var", "torch.var_mean"} else _squared(op_behind(op.subject))
    if base is None or max(-base.range.least, base.range.greatest) < _ROOT_OF_LARGEST:
        return False
    # A sum of squared differences is a distance, which is as small as what it is compared with.
    is_distance = op.function == "torch.sum" and _made(base, "torch.sub")
    return not is_distance and op in _under_roots(function, len(function.ops))


@lru_cache(maxsize=16)
def _under_roots(function: Function, _count: int) -> frozenset[Op]:
    """The terms of what a function takes roots of; `_count` is how many operations it has by now."""
    roots = (op for op in function.ops if is_square_root(op) and "input" in op.operands)
    return frozenset(term for each in roots for term in _terms(each.operands["input"]))


def _squared(op: Op | None) -> Value | None:
    """`x` of `x ** 2` and of `x * x`."""
    if op is None or op.subject is None:
        return None
    is_square = op.function == "torch.square" or (op.function == "torch.pow" and op.operands["exponent"].number == 2)
    is_product = op.function == "torch.mul" and same(*list(op.operands.values())[:2])
    return op.subject if is_square or is_product else None


def _is_linear_attention(op: Op) -> bool:
    """`k.transpose(-2, -1) @ v`: keys meet values, summed up over all tokens, neither of them scaled or normalised before."""
    factors = [value for name, value in op.operands.items() if name != "equation"][-2:]
    if op.function not in MATRIX_PRODUCTS or len(factors) != 2 or any(_made(value, *_SCALINGS) for value in factors):
        return False
    return suggests_keys(factors[0]) and suggests_values(factors[1])


def _made(value: Value | None, *functions: str, depth: int = 2) -> bool:
    """Whether one of these operations made it, its sign aside, on some path."""
    op = op_behind(value)
    if op is None or not depth:
        return False
    if op.function in {"torch.neg", JOIN}:
        return any(_made(each, *functions, depth=depth - 1) for each in op.operands.values())
    return op.function in functions
