"""Changes to a case that cannot run yet: read from torch's complaint first, then what is worth a try in any case.

A move knows nothing of the function; a wrong one costs a fraction of a millisecond.
"""

from __future__ import annotations

import copy
import itertools
import math
import re
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from nanlint.confirm.composites import children, replaced
from nanlint.confirm.evidence import Uses
from nanlint.confirm.inputs import COMMON_SHAPES, attribute, tensor, value
from nanlint.confirm.names import count, fraction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]
_SIZES = (1, 2, 4, 8, 16)
_MOST_ALIGNED = 6
_WIDEST = 4096


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


def _one_shape(case: Json, chosen: str, change: Callable[[list[int]], list[int]]) -> Json:
    return reshaped(case, lambda name, shape: change(list(shape)) if name == chosen else shape)


def _last(case: Json, size: int, old: int | None = None) -> Iterator[Json]:
    """Last dimensions set to `size`: those that were `old` together, then each alone."""
    yield reshaped(case, lambda _, shape: [*shape[:-1], size] if shape and (old is None or shape[-1] == old) else shape)
    for name, _ in leaves(case):
        yield _one_shape(case, name, lambda shape: [*shape[:-1], size] if shape else shape)


def _place(case: Json, place: int, size: int, old: int | None = None) -> Iterator[Json]:
    def change(shape: list[int]) -> list[int]:
        if len(shape) <= place or (old is not None and shape[place] != old):
            return shape
        return [*shape[:place], size, *shape[place + 1 :]]

    yield reshaped(case, lambda _, shape: change(list(shape)))
    for name, _ in leaves(case):
        yield _one_shape(case, name, change)


def ranked(shape: list[int], rank: int) -> list[int]:
    """A shape of the rank, with the ends of the old one."""
    common = list(COMMON_SHAPES.get(rank, [2] * rank))
    if shape and common and rank > 1 and len(shape) > 1:
        common[-1] = shape[-1] if rank < 4 else common[-1]
    return common


def _rank(case: Json, rank: int, old: int | None = None) -> Iterator[Json]:
    yield reshaped(case, lambda _, shape: ranked(shape, rank) if old is None or len(shape) == old else shape)
    for name, spec in leaves(case):
        if len(spec["shape"]) != rank:
            yield _one_shape(case, name, lambda shape: ranked(shape, rank))


def _swapping(old: int, new: int) -> Callable[[str, list[int]], list[int]]:
    return lambda _, shape: [new if size == old else size for size in shape]


def _swap_sizes(case: Json, a: int, b: int) -> Iterator[Json]:
    for old, new in ((a, b), (b, a)):
        yield reshaped(case, _swapping(old, new))
        for name, _ in leaves(case):
            yield _one_shape(case, name, partial(_swapping(old, new), name))


def _redomained(case: Json, domain: str, only: Callable[[Json], bool] = lambda _: True) -> Iterator[Json]:
    for name, spec in leaves(case):
        if spec["domain"] != domain and only(spec):
            changed = copy.deepcopy(case)
            for other, inner in leaves(changed):
                if other == name:
                    inner.update(tensor(name, len(inner["shape"]), domain=domain) | {"shape": inner["shape"]})
            yield changed


def _in_unit(case: Json, _: re.Match[str]) -> Iterator[Json]:
    """Values between 0 and 1 for all tensors that may have any: images, probabilities."""
    changed = copy.deepcopy(case)
    for _name, spec in leaves(changed):
        spec["domain"] = "unit" if spec["domain"] == "real" else spec["domain"]
    yield changed


def by_complaint(case: Json, text: str) -> Iterator[Json]:
    """Moves that the error message asks for."""
    for pattern, answer in _COMPILED:
        found = pattern.search(text)
        if found:
            yield from answer(case, found)


def is_about_shapes(text: str) -> bool:
    """Whether a complaint says that sizes do not go together."""
    return bool(_ABOUT_SHAPES.search(text))


def _numbers(found: re.Match[str]) -> list[int]:
    return [int(group) for group in found.groups() if group is not None and group.lstrip("-").isdigit()]


def _missing(case: Json, found: re.Match[str]) -> Iterator[Json]:
    part = "ctor" if "__init__" in found.string else "call"
    changed = copy.deepcopy(case)
    for name in re.findall(r"'(\w+)'", found[1]):
        changed[part][name] = value(count(name)) if part == "ctor" else tensor(name, 2)
    yield changed


def _missing_key(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """A dictionary that lacks what the code looks up."""
    for name, spec in case["call"].items():
        if spec["kind"] == "dict" and found[1] not in spec["items"]:
            yield with_spec(case, "call", name, {**spec, "items": {**spec["items"], found[1]: tensor(found[1], 2)}})


def _missing_attribute(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """A shell that lacks what its method reads."""
    name = f"self.{found[2]}"
    if name not in case["call"] and case.get("shell"):
        for spec in attribute(name, Uses()):
            yield with_spec(case, "call", name, spec)


def _tensors(case: Json, _: re.Match[str]) -> Iterator[Json]:
    """A tensor for a number."""
    for name, spec in case["call"].items():
        if spec["kind"] == "value" and type(spec["value"]) in {int, float}:
            yield with_spec(case, "call", name, tensor(name, 2))


def _arrays(case: Json, _: re.Match[str]) -> Iterator[Json]:
    """Arrays of numpy for tensors: one at a time, then all."""
    for name, spec in case["call"].items():
        if spec["kind"] == "tensor" and not spec.get("numpy"):
            yield with_spec(case, "call", name, {**spec, "numpy": True})
    yield {**case, "call": {name: {**spec, "numpy": True} for name, spec in case["call"].items()}}


def _unexpected(case: Json, found: re.Match[str]) -> Iterator[Json]:
    for part in ("call", "ctor"):
        if found[1] in case[part]:
            yield with_spec(case, part, found[1], None)


def _fewer_classes(case: Json, _: re.Match[str]) -> Iterator[Json]:
    for high in (2, 1):
        changed = copy.deepcopy(case)
        for _name, spec in leaves(changed):
            if spec["domain"] == "index":
                spec["high"] = high
        yield changed


def _labels(case: Json, _: re.Match[str]) -> Iterator[Json]:
    """One label for each row: the shape of the scores without the classes."""
    scores = max((spec["shape"] for _name, spec in leaves(case) if spec["domain"] != "index"), key=len, default=[2, 3])
    for shape in ([scores[0], *scores[2:]] if scores else [], scores[:-1]):
        changed = copy.deepcopy(case)
        for _name, spec in leaves(changed):
            if spec["domain"] == "index":
                spec["shape"] = list(shape)
                spec["high"] = scores[1] if len(scores) > 1 else 2
        yield changed


def _divisible(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """A view that does not fit: the shape that it makes, or last dimensions that hold what it wants of them."""
    sizes = [int(size) for size in found[1].split(",") if size.strip()]
    whole = [2 if size == -1 else size for size in sizes]
    if len(sizes) > 1 and math.prod(whole) <= 2 * _WIDEST:
        yield reshaped(case, lambda _, shape: whole if len(shape) == len(whole) else shape)
    behind = sizes[sizes.index(-1) + 1 :] if -1 in sizes else sizes[1:]
    for wanted in dict.fromkeys([math.prod(behind), math.prod(sizes[-2:]), math.prod(sizes[-1:])]):
        if 0 < wanted <= _WIDEST:
            yield from _last(case, wanted)


_TYPES: dict[str, Json] = {
    "str": value("text"),
    "int": value(2),
    "float": value(0.5),
    "bool": value(True),  # noqa: FBT003 - of its type
    "list": value([]),
    "dict": {"kind": "dict", "items": {}},
    "Module": {"kind": "module", "name": "any"},
}


def _of_type(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """An argument of the type that an assertion asks for."""
    name, wanted = found[1], found[2].rpartition(".")[2]
    spec = tensor(name, 2) if wanted == "Tensor" else _TYPES.get(wanted)
    for part in ("call", "ctor"):
        if spec is not None and name in case[part]:
            yield with_spec(case, part, name, spec)


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
                    yield _one_shape(case, name, lambda _, wanted=wanted: list(wanted))  # type: ignore[misc] # same


def _of_pattern(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """A shape that the code states by names and numbers, as ["B", "1", "H", "W"]."""
    names = found[1].split("x") if found[1].startswith("Bx") else re.findall(r"[\w*]+", found[1])
    if "*" not in names:
        common = COMMON_SHAPES.get(len(names), [2] * len(names))
        shape = [int(name) if name.isdigit() else size for name, size in zip(names, common, strict=True)]
        yield reshaped(case, lambda _, old: shape if len(old) == len(shape) else old)
        for chosen, _ in leaves(case):
            yield _one_shape(case, chosen, lambda _: list(shape))


def _stated_size(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """`x.shape[1] >= 8`, as the code itself demands; several of them together, then the first."""
    for place, size in found.re.findall(found.string)[1:]:
        if int(place) >= 0:
            first, *_ = _place(case, int(found[1]), int(found[2])) if int(found[1]) >= 0 else [case]
            yield from itertools.islice(_place(first, int(place), int(size)), 1)
    place, size = int(found[1]), int(found[2])
    if place >= 0:
        yield from _place(case, place, size)
    else:
        yield reshaped(case, lambda _, shape: [*shape[:place], size, *(shape[place + 1 :] if place < -1 else [])])


def _of_matrices(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """A batch of matrices of a stated size."""
    rows, columns = int(found[1]), int(found[2])
    yield reshaped(case, lambda _, shape: [*(shape[:1] or [2]), rows, columns])
    for name, _ in leaves(case):
        yield _one_shape(case, name, lambda shape: [*(shape[:1] or [2]), rows, columns])


def _of_names(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """A jaxtyping pattern: as many dimensions as it has words."""
    names = [name for name in found[1].split() if not name.startswith(("*", "..."))]
    yield from _rank(case, len(names))
    sizes = [int(name) if name.isdigit() else 0 for name in names]
    common = COMMON_SHAPES.get(len(names), [2] * len(names))
    if any(sizes):
        yield reshaped(case, lambda _, __: [size or usual for size, usual in zip(sizes, common, strict=True)])


def _in_chunks(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """An axis that does not divide: the next size that does."""
    old, chunk = _numbers(found)
    yield reshaped(case, _swapping(old, -(-old // chunk) * chunk))
    yield reshaped(case, _swapping(old, chunk))


_ABOUT_SHAPES = re.compile(r"shape|size|length|dimension|must match|broadcast|expand", re.IGNORECASE)


_ANSWERS: tuple[tuple[str, Any], ...] = (
    (
        r"cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        lambda case, found: _last(case, _numbers(found)[2], _numbers(found)[1]),
    ),
    (
        r"to have (\d+) channels, but got (\d+)",
        lambda case, found: _place(case, 1, _numbers(found)[0], _numbers(found)[1]),
    ),
    (r"expected input with shape \[\*(?:, \d+)*, (\d+)\]", lambda case, found: _last(case, _numbers(found)[0])),
    (
        r"input.size\(-1\) must be equal to input_size. Expected (\d+)",
        lambda case, found: _last(case, _numbers(found)[0]),
    ),
    (
        r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)",
        lambda case, found: _swap_sizes(case, *_numbers(found)),
    ),
    (
        r"[Ee]xpected size for first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]",
        lambda case, found: _swap_sizes(case, _numbers(found)[1], _numbers(found)[3]),
    ),
    (r"Expected size (\d+) but got size (\d+)", lambda case, found: _swap_sizes(case, *_numbers(found))),
    (
        r"not enough values to unpack \(expected (?:at least )?(\d+), got (\d+)\)",
        lambda case, found: _rank(case, *_numbers(found)),
    ),
    (r"too many values to unpack \(expected (\d+)", lambda case, found: _rank(case, _numbers(found)[0])),
    (r"values to unpack \(expected (\d+)", lambda case, found: _last(case, _numbers(found)[0])),
    (r"values to unpack \(expected (\d+)", lambda case, found: _place(case, 0, _numbers(found)[0])),
    (
        r"Dimension out of range \(expected to be in range of \[-(\d+), \d+\], but got (-?\d+)\)",
        lambda case, found: _rank(case, _needed_rank(_numbers(found)[1]), _numbers(found)[0]),
    ),
    (r"shape '\[([-\d, ]+)\]' is invalid for input of size (\d+)", _divisible),
    (r"isinstance\((\w+), *\(?([\w.]+)", _of_type),
    (r"[Ee]xpected (\d)D? ?(?:or|\(unbatched\) or) (\d)D", lambda case, found: _rank(case, _numbers(found)[1])),
    (r"[Ee]xpected (\d)-?D", lambda case, found: _rank(case, _numbers(found)[0])),
    (r"expected (\d+) dims. Received (\d+)-dim", lambda case, found: _rank(case, *_numbers(found))),
    (
        r"same number of dimensions: got (\d+) and (\d+)",
        lambda case, found: chain(_rank(case, *_numbers(found)), _rank(case, *_numbers(found)[::-1])),
    ),
    (r"must be Tensor, not (?:int|float)|'(?:int|float)' object has no attribute '(?!item)", _tensors),
    (r"number of dims.*?(\d+).*?(\d+)", lambda case, found: _rank(case, _numbers(found)[0])),
    (r"must be a?n? ?(\d)-?D", lambda case, found: _rank(case, _numbers(found)[0])),
    (r"(\d)D tensors? expected|(\d)-dimensional", lambda case, found: _rank(case, _numbers(found)[0])),
    (
        r"number of subscripts in the equation \((\d)\) does not match the number of dimensions \((\d)\)",
        lambda case, found: _rank(case, *_numbers(found)),
    ),
    (
        r"permute\(.*?input.dim\(\) = (\d) is not equal to len\(dims\) = (\d)",
        lambda case, found: _rank(case, _numbers(found)[1], _numbers(found)[0]),
    ),
    (
        r"too many indices for tensor of dimension (\d)",
        lambda case, found: _rank(case, _numbers(found)[0] + 1, _numbers(found)[0]),
    ),
    (r"batch(?:es)? of (\d+) ?x ?(\d+) [Tt]ensors", _of_matrices),
    (r"\(\*, ?(\d+), ?(\d+)\)", _of_matrices),
    (r"\[[\w.]*(?:Tensor|Array)[^,]*, ?[\"']([^\"']+)[\"']\]", _of_names),
    (r"can't divide axis of length (\d+) in chunks of (\d+)", _in_chunks),
    (r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)", _missing),
    (
        r"expected np.ndarray|could not infer output dtype|numpy\(\) on Tensor|object has no attribute 'astype'|not 'Tensor' with 'ndarray'",
        _arrays,
    ),
    (r"unexpected keyword argument '(\w+)'", _unexpected),
    (r"KeyError: '(\w+)'", _missing_key),
    (r"'(\w+)' object has no attribute '(\w+)'", _missing_attribute),
    (r"index out of range|out of bounds|Class values must be|is out of range", _fewer_classes),
    (r"Target \d+ is out of bounds", _fewer_classes),
    (
        r"[Ee]xpected (?:input )?batch_size|multi-target not supported|0D or 1D target|Expected target size|expected scalar type Long|expected target size|dtype to be Long",
        _labels,
    ),
    (
        r"scalar type Long|must be long|scalar types: Long|int64|integer tensor|LongTensor",
        lambda case, _: _redomained(case, "index"),
    ),
    (
        r"only implemented on integer and Boolean|boolean|Boolean|bool tensor",
        lambda case, _: _redomained(case, "mask"),
    ),
    (
        r"two bool tensors|bool tensor is not supported|Bool'|not implemented for 'Bool'|dtype.*Bool|for 'Long'|Long'|dtype: Got|dtype.*got Long|output type (?:Long|Bool)",
        lambda case, _: _redomained(case, "real", lambda spec: spec["domain"] in {"mask", "index"}),
    ),
    (r"greater (?:than )?or equal (?:to|than) 0|non-?negative|\[0(?:\.0)?, ?1(?:\.0)?\]|between 0 and 1", _in_unit),
    (r"(?:shape\[|size\()(-?\d)[\])] *(?:==|>=|>|!=|<|not in \(|in \() *(\d+)", _stated_size),
    (
        r"(?:\.n?dim\w*(?:\(\))?|len\([\w.]+\.(?:shape|size\(\))\)) *(?:==|!=|<|not in|in) *[(\[{]?(\d)",
        lambda case, found: _rank(case, _numbers(found)[0]),
    ),
    (r"classes but got weight tensor of shape: \[(\d+)\]", lambda case, found: _last(case, _numbers(found)[0])),
    (r"""\[((?:["'][\w*]+["'],? *)+)\]""", _of_pattern),
    (r"\[?(Bx\w+(?:x\w+)*)", _of_pattern),
    (r"expected (\d+),? (?:but )?got (\d+)", lambda case, found: _swap_sizes(case, *_numbers(found))),
    (r"last dim\w* *(?:==|of|must be|to be|=) *(\d+)", lambda case, found: _last(case, _numbers(found)[0])),
    (
        r"positive.definite|is singular|not invertible",
        lambda case, _: (
            reshaped(one, lambda _, shape: [*shape[:-2], 3, 3] if len(shape) > 1 else shape)
            for one in _redomained(case, "spd")
        ),
    ),
    (
        r"must be square|square matri|at least 2 dim",
        lambda case, _: iter([reshaped(case, lambda _, shape: [*shape[:-2], 3, 3])]),
    ),
)

# Compiled where torch is imported, and not again in each child.
_COMPILED = tuple((re.compile(pattern), answer) for pattern, answer in _ANSWERS)


def _needed_rank(dim: int) -> int:
    return dim + 1 if dim >= 0 else -dim


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
        yield from _rank(case, rank)
    for size in _SIZES:
        yield from _last(case, size)
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
