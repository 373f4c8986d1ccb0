"""Changes to a case: other shapes, other specs, and what is worth a try whatever it complains of.

A move knows nothing of the function; a wrong one costs a fraction of a millisecond.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from nanlint.confirm.composites import children, replaced
from nanlint.confirm.inputs import COMMON_SHAPES, tensor, value
from nanlint.confirm.names import count, fraction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]
_SIZES = (1, 2, 4, 8, 16)
_MOST_ALIGNED = 6


def with_spec(case: Json, part: str, name: str, spec: Json | None) -> Json:
    """The case with one spec replaced; None leaves the argument out."""
    kept = {known: old for known, old in case[part].items() if known != name or spec is not None}
    return {**case, part: {**kept, name: spec} if spec is not None else kept}


def leaves(case: Json) -> Iterator[tuple[str, Json]]:
    """The tensors of the call, with those in lists and dicts."""
    for name, spec in case["call"].items():
        yield from _leaves(name, spec)


def _leaves(name: str, spec: Json) -> Iterator[tuple[str, Json]]:
    if spec["kind"] == "tensor":
        yield name, spec
    for label, child in children(spec):
        yield from _leaves(f"{name}.{label}", child)


def reshaped(case: Json, change: Callable[[str, list[int]], list[int]]) -> Json:
    """The case with the shape of every tensor changed."""
    return {**case, "call": {name: _reshaped(name, spec, change) for name, spec in case["call"].items()}}


def _reshaped(name: str, spec: Json, change: Callable[[str, list[int]], list[int]]) -> Json:
    if spec["kind"] == "tensor":
        return {**spec, "shape": list(change(name, spec["shape"]))}
    for label, child in children(spec):
        moved = _reshaped(f"{name}.{label}", child, change)
        spec = replaced(spec, (label,), moved) if moved is not child else spec
    return spec


def one_shape(case: Json, chosen: str, change: Callable[[list[int]], list[int]]) -> Json:
    """The case with the shape of one tensor changed."""
    return reshaped(case, lambda name, shape: change(list(shape)) if name == chosen else shape)


def _numbers_reshaped(case: Json, change: Callable[[list[int]], list[int]]) -> Json:
    """The case with other shapes for all tensors that are no labels; of labels, if there is nothing else."""
    numbers = {name for name, spec in leaves(case) if spec["domain"] != "index"} or {name for name, _ in leaves(case)}
    return reshaped(case, lambda name, shape: change(shape) if name in numbers else shape)


def with_last(case: Json, size: int, old: int | None = None) -> Iterator[Json]:
    """Last dimensions set to `size`: those that were `old` together, then each alone."""
    yield _numbers_reshaped(
        case, lambda shape: [*shape[:-1], size] if shape and (old is None or shape[-1] == old) else shape
    )
    for name, _ in leaves(case):
        yield one_shape(case, name, lambda shape: [*shape[:-1], size] if shape else shape)


def with_place(case: Json, place: int, size: int, old: int | None = None) -> Iterator[Json]:
    """One dimension set to `size`, where it was `old`: of all tensors, then of each alone."""

    def change(shape: list[int]) -> list[int]:
        if len(shape) <= place or (old is not None and shape[place] != old):
            return shape
        return [*shape[:place], size, *shape[place + 1 :]]

    yield reshaped(case, lambda _, shape: change(list(shape)))
    for name, _ in leaves(case):
        yield one_shape(case, name, change)


def ranked(shape: list[int], rank: int) -> list[int]:
    """A shape of the rank, with the ends of the old one."""
    common = list(COMMON_SHAPES.get(rank, [2] * rank))
    if shape and common and rank > 1 and len(shape) > 1:
        common[-1] = shape[-1] if rank < 4 else common[-1]
    return common


def with_rank(case: Json, rank: int, old: int | None = None) -> Iterator[Json]:
    """So many dimensions, for those that have `old`: of all tensors, then of each alone."""
    yield _numbers_reshaped(case, lambda shape: ranked(shape, rank) if old is None or len(shape) == old else shape)
    for name, spec in leaves(case):
        if len(spec["shape"]) != rank:
            yield one_shape(case, name, lambda shape: ranked(shape, rank))


def swapping(old: int, new: int) -> Callable[[str, list[int]], list[int]]:
    """A change of shapes: one size for another wherever it stands."""
    return lambda _, shape: [new if size == old else size for size in shape]


def swapped_sizes(case: Json, a: int, b: int) -> Iterator[Json]:
    """One of two sizes for the other: in all tensors, then in each alone."""
    for old, new in ((a, b), (b, a)):
        yield reshaped(case, swapping(old, new))
        for name, _ in leaves(case):
            yield one_shape(case, name, partial(swapping(old, new), name))


def aligned(case: Json) -> Iterator[Json]:
    """Shapes that belong together: one tensor gets the shape of another, or that without its last or second dimension."""
    shapes = {name: spec["shape"] for name, spec in leaves(case)}
    known = [list(shape) for shape in dict.fromkeys(map(tuple, shapes.values()))]
    for shape in known:
        yield reshaped(case, lambda _, old, shape=shape: list(shape) if len(old) == len(shape) else old)  # type: ignore[misc] # bound now
        yield reshaped(case, lambda _, old, shape=shape: shape[: len(old)] if len(old) < len(shape) else old)  # type: ignore[misc] # same
    for name, old in list(shapes.items())[:_MOST_ALIGNED]:
        for shape in known[:_MOST_ALIGNED]:
            for wanted in (shape, shape[:-1], [*shape[:1], *shape[2:]], shape[1:], shape[1:-1], shape[:1], shape[-1:]):
                if wanted != old:
                    yield one_shape(case, name, lambda _, wanted=wanted: list(wanted))  # type: ignore[misc] # same


def others(case: Json, part: str, alternatives: dict[str, dict[str, list[Json]]]) -> Iterator[Json]:
    """Another spec for one argument, the likelier ones of all arguments first."""
    choices = alternatives[part]
    for place in range(max(map(len, choices.values()), default=0)):
        for name, found in choices.items():
            if place < len(found) and found[place] != case[part].get(name):
                yield with_spec(case, part, name, found[place])


def anyway(case: Json) -> Iterator[Json]:
    """Moves that any complaint about a call may be answered with: other ranks, other sizes."""
    for rank in (3, 4, 1, 2, 5, 0):
        yield from with_rank(case, rank)
    for size in _SIZES:
        yield from with_last(case, size)
    yield reshaped(case, lambda _, shape: [4] * len(shape))


def kinds(name: str, rank: int) -> list[Json]:
    """Everything that a parameter of unknown kind might take, for the last resort."""
    shaped = tensor(name, rank)
    return [
        value(count(name)),
        tensor(name, rank, domain="mask"),
        tensor(name, rank, domain="index"),
        value(fraction(name)),
        {"kind": "list", "items": [shaped, shaped]},
        {"kind": "module", "name": "identity"},
        {"kind": "module", "name": "any"},
        {"kind": "config"},
        value(None),
        value([count(name)] * 2),
        value(1),
        value("mean"),
        value(True),  # noqa: FBT003 - one of the things it might be
    ]
