"""Bounds that a format rounds away: an eps that is 0 in it, a ceiling below 1 that is 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.dtypes import format_of
from nanlint.analysis.in_format import is_limit
from nanlint.analysis.op_graph import NUMBER, TENSOR, Op, Value
from nanlint.analysis.patterns.eps import raised
from nanlint.analysis.patterns.probabilities import rest_to_one
from nanlint.analysis.patterns.tensors import is_data
from nanlint.analysis.patterns.tensors import is_of_tensors as is_called
from nanlint.analysis.relations import op_behind
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Iterator

FLOORS = {"torch.clamp": "min", "torch.clamp_min": "min", "torch.maximum": "other", "torch.max": "other"}
CEILINGS = {"torch.clamp": "max", "torch.clamp_max": "max", "torch.minimum": "other", "torch.min": "other"}
OWN_EPS = {"torch.nn.functional.normalize": 1e-12, "torch.cosine_similarity": 1e-8}
"""Operations that hold a norm above an eps of their own, in the dtype of their input."""
# A rest of 1 that was written as `1 - p`, or has its sign turned for log1p; and roots of what is kept above 0.
_SEEN_THROUGH = torch_names("neg sqrt abs")
_DRAWN = torch_names("randn randn_like rand rand_like")
_DRAWN_BELOW_ONE = torch_names("rand rand_like")
_DEEPEST = 5


class LostBound(NamedTuple):
    """The operation that was to keep `value` from `limit`, and which of its operands is the bound."""

    op: Op
    name: str
    value: Value
    value_name: str
    limit: float

    @property
    def bound(self) -> Value:
        """The number that is rounded to the limit."""
        return self.op.operands[self.name]


def lost_bound(value: Value, dtype: str) -> LostBound | None:
    """The bound behind a value that `dtype` rounds away; None if there is none, or it survives."""
    for op, is_rest in _behind(value):
        found = _ceiling(op, dtype) if is_rest else _floor(op, dtype)
        if found is not None:
            return found
    return None


def is_of_tensors(lost: LostBound, user: Op) -> bool:
    """Whether tensors are what the bound holds: a Python number is rounded to no half format."""
    return lost.value.kind is TENSOR or any(map(is_data, (lost.value, *user.operands.values()))) or is_called(user)


def may_be_a_row_of_zeros(value: Value) -> bool:
    """Whether a row of it may be 0 as a whole: not one that a layer with weights has computed, nor one of weights or of noise."""
    made = op_behind(value)
    return made is None or not (value.learned or made.where == "network" or made.function in _DRAWN)


def lost_ceiling(value: Value, dtype: str) -> LostBound | None:
    """The bound that was to keep a value below 1, and does not in `dtype`."""
    op = op_behind(value)
    return _ceiling(op, dtype) if op is not None else None


def own_eps(op: Op) -> float | None:
    """The eps of an operation that has one of its own, as it is given or by default; None if nobody knows it."""
    stated = op.operands.get("eps")
    return OWN_EPS.get(op.function) if stated is None else stated.number


def _behind(value: Value) -> Iterator[tuple[Op, bool]]:
    """The operation that made a value and those seen through it, and whether what is left of it to 1 is what counts."""
    is_rest = False
    for _ in range(_DEEPEST):
        rest = rest_to_one(value)
        op = op_behind(value)
        if op is None:
            return
        yield op, is_rest
        if rest is not None:
            value, is_rest = list(rest.operands.values())[-1], True
        elif op.function in _SEEN_THROUGH and op.subject is not None:
            value, is_rest = op.subject, is_rest or op.function == "torch.neg"
        else:
            return


def _floor(op: Op, dtype: str) -> LostBound | None:
    sum_of = raised(op)
    if sum_of is not None:
        other = next(name for name, each in op.operands.items() if each is sum_of.value)
        return LostBound(op, sum_of.eps_name, sum_of.value, other, 0.0) if _rounds(sum_of.eps, 0.0, dtype) else None
    return _bound(op, FLOORS, 0.0, dtype)


def _ceiling(op: Op, dtype: str) -> LostBound | None:
    found = _bound(op, CEILINGS, 1.0, dtype)
    drawn = op_behind(found.value) if found is not None else None
    return found if drawn is None or drawn.function not in _DRAWN_BELOW_ONE else None


def _bound(op: Op, names: dict[str, str], limit: float, dtype: str) -> LostBound | None:
    subject = next(iter(op.operands), "")
    pairs = [(names.get(op.function, ""), subject)]
    if pairs[0][0] == "other":
        pairs.append((subject, "other"))
    for name, value_name in pairs:
        bound = op.operands.get(name)
        if bound is not None and value_name in op.operands and _rounds(bound, limit, dtype):
            return LostBound(op, name, op.operands[value_name], value_name, limit)
    return None


def _rounds(bound: Value, limit: float, dtype: str) -> bool:
    """Whether a number between 0 and 1 is rounded to one of them."""
    number = bound.number if bound.number is not None else bound.range.constant
    is_number = number is not None and bound.kind is NUMBER and not is_limit(bound)
    return number is not None and is_number and 0 < number < 1 and format_of(dtype).round(number) == limit
