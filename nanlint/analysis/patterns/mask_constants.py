"""Constants that are written where something is masked: as a fill, as a mask that is added, as the least number of a dtype."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.dtypes import dtype_made
from nanlint.analysis.op_graph import ARRAY, ATTRIBUTE, ELEMENT, JOIN, NUMBER, PARAMETER, Op, Value, made_from
from nanlint.analysis.patterns.probabilities import rest_to_one
from nanlint.analysis.relations import maker, op_behind, root
from nanlint.analysis.selection import SUBSCRIPT, VIEWS
from nanlint.analysis.sources import suggests_masking, suggests_scores
from nanlint.ops.formats import AUTOCAST, FORMATS, HALF
from nanlint.ops.names import tensor_methods
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from nanlint.analysis.project.index import Function

FILL, WHERE, PRODUCT, SUM, PLACED = "torch.masked_fill", "torch.where", "torch.mul", "torch.add", "torch.index_put"
RAISING = torch_names("clamp clamp_min max maximum")
# The first number that float16 rounds to an infinity; what is infinite already is no constant of this kind.
FLOAT16_OVERFLOW = 65520.0
_CASTS = tensor_methods("to type_as type half")
_SUMS, _PRODUCTS = torch_names("add sub"), torch_names("mul div")
_PLANES = torch_names("mul full full_like Tensor.new_full") | {FILL, WHERE}
# What is filled stays so in these: a causal mask is the upper triangle of a full plane.
_PARTS = VIEWS | {FILL, "torch.triu", "torch.tril", SUBSCRIPT, ELEMENT}
_SOFTMAXES = torch_names("softmax log_softmax")
_NO_HALF = word_set("float32 float64 bfloat16 int bool")
_WIDE = word_set("float32 float64 bfloat16")
_LEAST = {form.min for form in FORMATS.values()}
_DEEPEST = 8


class Constant(NamedTuple):
    """A number that is written where something is masked, by the names of the operands."""

    scores_name: str
    value_name: str
    number: float

    def scores(self, op: Op) -> Value:
        """What is masked."""
        return op.operands[self.scores_name]


def filled(op: Op) -> Constant | None:
    """The number that a filling writes past the end of float16; None for any other operation or number."""
    names = {FILL: ("input", "value"), JOIN: ("0", "1"), WHERE: ("input", "other")}.get(op.function)
    if names is None or not all(name in op.operands for name in names):
        return None
    numbers = [_number(op.operands[name]) for name in names]
    # Of two numbers, as in a mask that is added, the lower one masks.
    if op.function == WHERE and numbers[0] is not None and (numbers[1] is None or numbers[0] < numbers[1]):
        names, numbers = names[::-1], numbers[::-1]
    number = numbers[1]
    return Constant(*names, number) if number is not None and _overflows(-abs(number)) else None


def multiplied(op: Op, function: Function) -> Constant | None:
    """`(1 - mask) * -1e9`, or `1e9 * (1 - mask)` that is subtracted."""
    is_subtracted = any(
        each.function == "torch.sub" and made_from(each.operands["other"]) is op
        for each in function.ops
        if "other" in each.operands
    )
    for mask_name, value_name in (("input", "other"), ("other", "input")):
        mask, number = op.operands.get(mask_name), _number(op.operands.get(value_name))
        if mask is None or number is None or not _overflows(-number if is_subtracted else number):
            continue
        if mask.dtype in {"", "float16"} and mask.kind not in {NUMBER, ARRAY} and _is_mask(mask):
            return Constant(mask_name, value_name, number)
    return None


def is_cast_to_another(value: Value, depth: int = _DEEPEST) -> bool:
    """Whether it was cast to the dtype of something else on the way: `1 - mask.to(scores.dtype)`."""
    op = value.op
    if op is None or not depth:
        return False
    is_cast = op.function in _CASTS and not dtype_made(op.function, op.operands) and not _moves(op)
    return is_cast or any(is_cast_to_another(each, depth - 1) for each in op.operands.values())


def can_be_half(value: Value, depth: int = _DEEPEST) -> bool:
    """Whether it is float16, or is what autocast and `.half()` make float16: a product of matrices, attention scores."""
    if value.dtype in _NO_HALF or value.kind in {NUMBER, ARRAY} or not depth:
        return False
    op = op_behind(value)
    if value.dtype == "float16" or op is None:
        return value.dtype == "float16"
    if op.function in {PARAMETER, ATTRIBUTE, ELEMENT}:
        return suggests_scores(value)
    if AUTOCAST.get(op.function) == HALF or op.where == "network":
        return True
    if op.module is None and op.function not in _SUMS | _PRODUCTS | {FILL, WHERE, JOIN}:
        return False
    operands = [each for name, each in op.operands.items() if name not in {"mask", "condition", "value"}]
    return not any(each.dtype in _WIDE for each in operands) and any(can_be_half(each, depth - 1) for each in operands)


def uses_softmax(function: Function) -> bool:
    """Whether a softmax is computed in the function."""
    return any(op.function in _SOFTMAXES for op in function.ops)


def is_about_scores(op: Op, function: Function) -> bool:
    """Whether a mask that is added is for a softmax: one is computed here, or it is called so, or scores are what it is added to."""
    added = (
        each
        for each in function.ops
        if each.function in _SUMS and any(op_behind(value) is op for value in each.operands.values())
    )
    values = (value for each in (op, *added) for value in each.operands.values())
    return uses_softmax(function) or any(suggests_scores(_whole(value)) for value in values)


def written(number: float) -> str:
    """-1e9, as people write it."""
    return f"{number:g}".replace("e+0", "e").replace("e+", "e")


def is_cast_back(op: Op, users: list[Op]) -> bool:
    """Whether what was filled in a wide dtype is then cast to that of something else: `.type_as(x)`."""
    return any(
        user.function in _CASTS and not dtype_made(user.function, user.operands) and made_from(user.subject) is op
        for user in users
        if user.subject is not None and not _moves(user)
    )


def holds_least(value: Value | None, depth: int = _DEEPEST) -> bool:
    """Whether it is filled with the least number of its dtype where something is masked."""
    op = op_behind(value)
    if op is None or not depth:
        return False
    if op.function == JOIN or "stored" in op.operands:
        return any(holds_least(each, depth - 1) for each in op.operands.values())
    if op.function in _PLANES and any(map(is_least, op.operands.values())):
        return True
    if op.function == SUM:  # scores are small beside it
        return any(holds_least(each, depth - 1) for each in op.operands.values())
    return op.function in _PARTS and holds_least(op.subject, depth - 1)


def is_least(value: Value, depth: int = 3) -> bool:
    """`torch.finfo(dtype).min`, of a dtype that is known or not."""
    op = value.op
    if value.number in _LEAST:
        return True
    if op is None or not depth:
        return False
    inside = op.operands.values() if op.function in {JOIN, "torch.tensor"} else ()
    return op.where == "torch.finfo.min" or any(is_least(each, depth - 1) for each in inside)


def is_raised(op: Op, function: Function) -> bool:
    """Whether the result of `op` is held above something, here or in a function that is called."""
    return any(
        each.function in RAISING and each.subject is not None and op_behind(each.subject) is op for each in function.ops
    )


def raises_scores(function: Function) -> bool:
    """Whether a function of the file lifts scores to the least number before its softmax: `torch.max(scores, torch.finfo(dtype).min)`."""
    functions = function.module.all_functions()
    return any(uses_softmax(each) and any(map(_lifts, each.ops)) for each in functions)


def _lifts(op: Op) -> bool:
    return op.function in RAISING and any(map(is_least, op.operands.values()))


def _number(value: Value | None) -> float | None:
    """The number that it is, or a tensor made of one number."""
    made = maker(value, torch_names("tensor full_like full")) if value is not None else None
    inner = made.operands.get("fill_value", made.subject) if made is not None else value
    number = inner.number if inner is not None else None
    return number if number is None or math.isfinite(number) else None


def _overflows(number: float) -> bool:
    return number <= -FLOAT16_OVERFLOW


def _is_mask(value: Value) -> bool:
    whole = _whole(value)
    return root(whole).dtype == "bool" or suggests_masking(whole)


def _whole(value: Value) -> Value:
    """`m` of `1 - m`."""
    rest = rest_to_one(value)
    return list(rest.operands.values())[-1] if rest is not None else value


def _moves(op: Op) -> bool:
    """`x.to(device)`."""
    place = list(op.operands.values())[1] if len(op.operands) == 2 else None
    return place is not None and place.op is not None and "device" in place.op.where.rpartition(".")[2]
