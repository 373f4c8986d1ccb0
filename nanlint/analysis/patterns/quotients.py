"""What a numerator and its denominator have to do with each other: shares, weighted means, places between two ends, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ATTRIBUTE, ELEMENT, JOIN, PARAMETER, made_from
from nanlint.analysis.patterns.tensors import sliced
from nanlint.analysis.patterns.zeros import SUMS
from nanlint.analysis.relations import aligned, maker, op_behind, same
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Value


_PARTS = frozenset({"subscript", ELEMENT})
_TENSORS = torch_names("tensor as_tensor Tensor from_numpy FloatTensor")


def is_weighted_mean(above: Value | None, below: Value) -> bool:
    """`(x * w).sum() / w.sum()`: the weights, or the mask, are summed up on both sides."""
    upper, lower = maker(above, SUMS), maker(below, SUMS)
    product = maker(upper.subject, "torch.mul") if upper is not None else None
    return (
        lower is not None
        and product is not None
        and any(same(each, lower.subject) for each in product.operands.values())
    )


def is_place_between(part: Value | None, whole: Value) -> bool:
    """`(x - low) / (high - low)`: where between two ends that may be the same."""
    above, below = maker(part, torch_names("sub add")), maker(whole, "torch.sub")
    if above is None or below is None:
        return False
    taken = above.operands.get("other")
    minus = maker(taken, "torch.neg") if above.function == "torch.add" else None
    low = minus.subject if minus is not None else taken if above.function == "torch.sub" else None
    return same(low, below.operands.get("other"))


def are_ends_given(whole: Value) -> bool:
    """Whether the ends of a range are stated and not measured: the corners of a box, or what a module was built with."""
    below = maker(whole, "torch.sub")
    ends = list(below.operands.values()) if below is not None else []
    corners = [made.subject for each in ends if (made := maker(each, _PARTS)) is not None and made.subject is not None]
    is_box = len(corners) > 1 and (same(*corners) or len({_held_under(each) for each in corners} - {""}) == 1)
    return bool(ends) and (is_box or all(map(_is_built_in, ends)))


def _held_under(value: Value) -> str:
    """The name of the attribute that it is; each time it is read it may be another value."""
    op = made_from(value)
    return op.where if op is not None and op.function == ATTRIBUTE else ""


def _is_built_in(value: Value, depth: int = 6) -> bool:
    """What the constructor was given, as it is or as a tensor."""
    op = op_behind(value)
    if op is None or not depth:
        return False
    if op.function == PARAMETER:
        return op.scope is not None and op.scope.name == "__init__"
    inner = [*op.operands.values(), *op.rest] if op.function in {ATTRIBUTE, JOIN, *_TENSORS} else []
    return bool(inner) and _is_built_in(inner[0], depth - 1)


def is_by_its_peak(part: Value | None, peak: Value) -> bool:
    """`x / x.max()`: of a silent clip, or a black image, everything is 0."""
    made = maker(peak, torch_names("max amax"))
    return part is not None and made is not None and same(made.subject, part)


def is_share(part: Value | None, whole: Value) -> bool:
    """Whether a total is what its own terms are divided by: then it is 0 only if all of them are."""
    total = maker(whole, SUMS)
    if part is None or total is None or total.subject is None or not same(total.subject, part):
        return False
    product = maker(total.subject, torch_names("mul masked_fill where"))
    return product is None


def is_own_part(part: Value, of: Value | None) -> bool:
    """Whether both are parts of one thing, as coordinates are, or one a part of the other: `p[..., :2] / p[..., -1:]`."""
    return any(_is_own_part(inner, outer) for inner in _either(part) for outer in _either(of))


def _is_own_part(part: Value, of: Value) -> bool:
    inner, outer = sliced(part), sliced(of)
    if inner is None:
        return False
    return same(inner.subject, of) or (outer is not None and same(inner.subject, outer.subject))


def is_aspect_ratio(above: Value | None, below: Value) -> bool:
    """`(x2 - x1) / (y2 - y1)` of the corners of boxes: those without a height are everyday, drawn as a line or predicted early on."""
    sides = [maker(each, frozenset({"torch.sub"})) for each in (above, below)]
    corners = [corner for side in sides if side is not None for corner in side.operands.values()]
    boxes = [sliced(next(_either(corner))) for corner in corners]
    wholes = [box.subject for box in boxes if box is not None]
    return len(wholes) == 4 and all(same(wholes[0], each) for each in wholes) and not same(above, below)


def _either(value: Value | None) -> Iterator[Value]:
    """What a value may be: itself, or each of those that are joined in it."""
    op = op_behind(value) if value is not None else None
    if value is not None:
        yield from (
            op.operands.values() if op is not None and op.function == JOIN and op.where != "element" else (value,)
        )


def is_relative_error(error: Value | None, of: Value) -> bool:
    """`(guess - target).abs() / target`: errors are measured against data, and that may be 0."""
    inside = maker(error, torch_names("abs square"))
    difference = maker(inside.subject if inside is not None else error, "torch.sub")
    size = maker(of, "torch.abs")
    whole = size.subject if size is not None and size.subject is not None else of
    made = op_behind(whole)
    if made is None or not made.function.startswith("<"):
        return False
    return difference is not None and any(aligned(each, whole) for each in difference.operands.values())
