"""Answers to the complaint of a case that cannot run: what an error message, a test or an assertion asks for.

Patterns of complaints, of torch and of other libraries, and the moves that they lead to.
"""

from __future__ import annotations

import copy
import itertools
import math
import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from nanlint.confirm.inputs import COMMON_SHAPES, attribute, tensor, value
from nanlint.confirm.names import count
from nanlint.confirm.worker.evidence import Uses
from nanlint.confirm.worker.moves import (
    leaves,
    one_shape,
    ranked,
    reshaped,
    swapped_sizes,
    swapping,
    with_last,
    with_place,
    with_rank,
    with_spec,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]
_WIDEST = 4096


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


def _sequences(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """A list of a number for the number, first for what the complaint speaks of."""
    numbers = [
        (part, name, spec)
        for part in ("ctor", "call")
        for name, spec in case[part].items()
        if spec["kind"] == "value" and type(spec["value"]) in {int, float, bool}
    ]
    for part, name, spec in sorted(numbers, key=lambda one: not re.search(rf"\b{one[1]}\b", found.string)):
        for length in (1, 2):
            yield with_spec(case, part, name, value([spec["value"]] * length))


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
            yield from with_last(case, wanted)


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


def _of_pattern(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """A shape that the code states by names and numbers, as ["B", "1", "H", "W"]."""
    names = found[1].split("x") if found[1].startswith("Bx") else re.findall(r"[\w*]+", found[1])
    if "*" not in names:
        common = COMMON_SHAPES.get(len(names), [2] * len(names))
        shape = [int(name) if name.isdigit() else size for name, size in zip(names, common, strict=True)]
        yield reshaped(case, lambda _, old: shape if len(old) == len(shape) else old)
        for chosen, _ in leaves(case):
            yield one_shape(case, chosen, lambda _: list(shape))


def _stated_size(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """`x.shape[1] >= 8`, as the code itself demands; several of them together, then the first."""
    for place, size in found.re.findall(found.string)[1:]:
        if int(place) >= 0:
            first, *_ = with_place(case, int(found[1]), int(found[2])) if int(found[1]) >= 0 else [case]
            yield from itertools.islice(with_place(first, int(place), int(size)), 1)
    place, size = int(found[1]), int(found[2])
    if place >= 0:
        yield from with_place(case, place, size)
    else:
        yield reshaped(case, lambda _, shape: [*shape[:place], size, *(shape[place + 1 :] if place < -1 else [])])


def _stated_shape(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """`means.shape == (n, 2)`, `x.shape[-1] != 2`, `a.size(0) == b.size(1)`: the tensors of these names, all together."""
    stated = list(found.re.finditer(found.string))
    shapes = {name.rpartition(".")[2]: spec["shape"] for name, spec in leaves(case)}

    def change(name: str, shape: list[int]) -> list[int]:
        for one in stated:
            if one["name"] == name.rpartition(".")[2]:
                shape = _with_sizes(shape, one["place"] or "", _sizes(one["sizes"], shapes))
        return shape

    yield reshaped(case, change)


def _sizes(text: str, shapes: dict[str, list[int]]) -> list[int]:
    """Sizes as they are written: those of another tensor, numbers, or names, which may be any number."""
    other = re.fullmatch(r"(\w+)\.(?:shape|size\b)(?:[\[(](-?\d*)[\])])?", text)
    if other is not None:
        known = shapes.get(other[1], [])
        return known[int(other[2]) :][:1] if other[2] else known
    names = re.findall(r"[\w.\[\]-]+", text)
    usual = COMMON_SHAPES.get(len(names), [2] * len(names))
    return [int(name) if name.isdigit() else size for name, size in zip(names, usual, strict=True)]


def _with_sizes(shape: list[int], place: str, sizes: list[int]) -> list[int]:
    """The shape with these sizes: in its place, from a place on, or at the end."""
    numbers = re.findall(r"-?\d+", place)
    if not numbers or not sizes:
        return list(sizes) if sizes and not numbers else shape
    start = int(numbers[0])
    missing = (start + len(sizes) if start >= 0 else -start) - len(shape)
    shape = [*([2] * missing), *shape]
    first = start if start >= 0 else len(shape) + start
    return [*shape[:first], *sizes, *shape[first + len(sizes) :]]


def _stated_rank(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """`weight.dim() == 1`: the tensor of this name, then all."""
    name, rank = found["name"], int(found["rank"])
    for known, _ in leaves(case):
        if known.rpartition(".")[2] == name:
            yield one_shape(case, known, lambda shape: ranked(shape, rank))
    yield from with_rank(case, rank)


def _of_matrices(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """A batch of matrices of a stated size."""
    rows, columns = int(found[1]), int(found[2])
    yield reshaped(case, lambda _, shape: [*(shape[:1] or [2]), rows, columns])
    for name, _ in leaves(case):
        yield one_shape(case, name, lambda shape: [*(shape[:1] or [2]), rows, columns])


def _of_names(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """A jaxtyping pattern: as many dimensions as it has words."""
    names = [name for name in found[1].split() if not name.startswith(("*", "..."))]
    yield from with_rank(case, len(names))
    sizes = [int(name) if name.isdigit() else 0 for name in names]
    common = COMMON_SHAPES.get(len(names), [2] * len(names))
    if any(sizes):
        yield reshaped(case, lambda _, __: [size or usual for size, usual in zip(sizes, common, strict=True)])


def _in_chunks(case: Json, found: re.Match[str]) -> Iterator[Json]:
    """An axis that does not divide: the next size that does."""
    old, chunk = _numbers(found)
    yield reshaped(case, swapping(old, -(-old // chunk) * chunk))
    yield reshaped(case, swapping(old, chunk))


_ABOUT_SHAPES = re.compile(r"shape|size|length|dimension|must match|broadcast|expand", re.IGNORECASE)


_ANSWERS: tuple[tuple[str, Any], ...] = (
    (
        r"cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        lambda case, found: with_last(case, _numbers(found)[2], _numbers(found)[1]),
    ),
    (
        r"to have (\d+) channels, but got (\d+)",
        lambda case, found: with_place(case, 1, _numbers(found)[0], _numbers(found)[1]),
    ),
    (r"expected input with shape \[\*(?:, \d+)*, (\d+)\]", lambda case, found: with_last(case, _numbers(found)[0])),
    (
        r"input.size\(-1\) must be equal to input_size. Expected (\d+)",
        lambda case, found: with_last(case, _numbers(found)[0]),
    ),
    (
        r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)",
        lambda case, found: swapped_sizes(case, *_numbers(found)),
    ),
    (
        r"[Ee]xpected size for first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]",
        lambda case, found: swapped_sizes(case, _numbers(found)[1], _numbers(found)[3]),
    ),
    (r"Expected size (\d+) but got size (\d+)", lambda case, found: swapped_sizes(case, *_numbers(found))),
    (
        r"not enough values to unpack \(expected (?:at least )?(\d+), got (\d+)\)",
        lambda case, found: with_rank(case, *_numbers(found)),
    ),
    (r"too many values to unpack \(expected (\d+)", lambda case, found: with_rank(case, _numbers(found)[0])),
    (r"values to unpack \(expected (\d+)", lambda case, found: with_last(case, _numbers(found)[0])),
    (r"values to unpack \(expected (\d+)", lambda case, found: with_place(case, 0, _numbers(found)[0])),
    (
        r"Dimension out of range \(expected to be in range of \[-(\d+), \d+\], but got (-?\d+)\)",
        lambda case, found: with_rank(case, _needed_rank(_numbers(found)[1]), _numbers(found)[0]),
    ),
    (r"shape '\[([-\d, ]+)\]' is invalid for input of size (\d+)", _divisible),
    (r"isinstance\((\w+), *\(?([\w.]+)", _of_type),
    (r"[Ee]xpected (\d)D? ?(?:or|\(unbatched\) or) (\d)D", lambda case, found: with_rank(case, _numbers(found)[1])),
    (r"[Ee]xpected (\d)-?D", lambda case, found: with_rank(case, _numbers(found)[0])),
    (r"expected (\d+) dims. Received (\d+)-dim", lambda case, found: with_rank(case, *_numbers(found))),
    (
        r"same number of dimensions: got (\d+) and (\d+)",
        lambda case, found: chain(with_rank(case, *_numbers(found)), with_rank(case, *_numbers(found)[::-1])),
    ),
    (
        r"(?P<name>\w+)\.(?:shape|size\((?=-?\d+\)))(?P<place>\[-?\d+:?\]|-?\d+\))? *(?:==|!=) *(?P<sizes>\([^()]*\)|\d+|\w+\.(?:size\(-?\d*\)|shape\[-?\d+\]|shape))",
        _stated_shape,
    ),
    (
        r"must be Tensor, not (?:int|float)|'(?:int|float)' object has no attribute '(?!item)|got \((?:int|float), Tensor|got \(Tensor, (?:int|float)",
        _tensors,
    ),
    (
        r"(?:int|float|bool)'.*?(?:is not iterable|is not subscriptable|has no len)|must be an iterable, not (?:int|float|bool)",
        _sequences,
    ),
    (r"number of dims.*?(\d+).*?(\d+)", lambda case, found: with_rank(case, _numbers(found)[0])),
    (r"must be a?n? ?(\d)-?D", lambda case, found: with_rank(case, _numbers(found)[0])),
    (r"(\d)D tensors? expected|(\d)-dimensional", lambda case, found: with_rank(case, _numbers(found)[0])),
    (
        r"number of subscripts in the equation \((\d)\) does not match the number of dimensions \((\d)\)",
        lambda case, found: with_rank(case, *_numbers(found)),
    ),
    (
        r"permute\(.*?input.dim\(\) = (\d) is not equal to len\(dims\) = (\d)",
        lambda case, found: with_rank(case, _numbers(found)[1], _numbers(found)[0]),
    ),
    (
        r"too many indices for tensor of dimension (\d)",
        lambda case, found: with_rank(case, _numbers(found)[0] + 1, _numbers(found)[0]),
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
        r"(?:len\()?(?P<name>\w+)(?:\.n?dim\w*(?:\(\))?|\.(?:shape|size\(\))\)) *(?:==|!=|<|not in|in) *[(\[{]?(?P<rank>\d)",
        _stated_rank,
    ),
    (r"classes but got weight tensor of shape: \[(\d+)\]", lambda case, found: with_last(case, _numbers(found)[0])),
    (r"""\[((?:["'][\w*]+["'],? *)+)\]""", _of_pattern),
    (r"\[?(Bx\w+(?:x\w+)*)", _of_pattern),
    (r"expected (\d+),? (?:but )?got (\d+)", lambda case, found: swapped_sizes(case, *_numbers(found))),
    (r"last dim\w* *(?:==|of|must be|to be|=) *(\d+)", lambda case, found: with_last(case, _numbers(found)[0])),
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
