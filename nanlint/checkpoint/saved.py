"""What a checkpoint is made of, as data: tensors that are named and not loaded, names, and objects of unknown classes.

Nothing here imports torch; a dtype is its name.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.reading import UnreadableCheckpoint, damaged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanlint.checkpoint.region import Region

ITEM_BYTES = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2,
    "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
    "complex32": 4, "complex64": 8, "complex128": 16,
    "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8, "bool": 1,
    "qint8": 1, "quint8": 1, "qint32": 4,
}  # fmt: skip
"""Bytes per element of every dtype we can look into."""


MOST_DIMENSIONS = 64
"""torch's own limit."""

LARGEST = 1 << 62
"""Sizes and counts stay below; torch's are of 63 bits."""

LONGEST_KEY = 200


def plain(value: object) -> str:
    """A value of a file for people: short texts and numbers as they are, of all else the type.

    Nothing that a file holds is made into text in another way: a tuple of a tuple twice, forty times over, takes years.
    """
    if isinstance(value, str):
        return value if len(value) <= LONGEST_KEY else f"{value[:LONGEST_KEY]}..."
    if isinstance(value, float | bool | None) or (isinstance(value, int) and abs(value) < LARGEST):
        return str(value)
    if (
        isinstance(value, tuple | list)
        and len(value) <= MOST_DIMENSIONS
        and not any(isinstance(each, tuple | list) for each in value)
    ):
        return f"({', '.join(map(plain, value))})"
    return f"a very large {type(value).__name__}" if isinstance(value, int) else f"a {type(value).__name__}"


def is_count(value: object) -> bool:
    """Whether it is a whole number that a size, an offset or a step can be."""
    return type(value) is int and 0 <= value < LARGEST


def sizes(values: Any) -> tuple[int, ...]:
    """A shape or strides as a file has them, if a tensor can have them."""
    if not isinstance(values, tuple | list) or len(values) > MOST_DIMENSIONS or not all(map(is_count, values)):
        many = (
            f"{len(values):,} dimensions" if isinstance(values, tuple | list) and len(values) > MOST_DIMENSIONS else ""
        )
        raise damaged(f"a tensor has {many or f'the shape or strides {plain(values)}'}")
    return tuple(values)


def is_inexact(dtype: str) -> bool:
    """Whether values of this dtype can be NaN or infinite."""
    return dtype.startswith(("float", "bfloat", "complex"))


@dataclass(frozen=True, slots=True)
class Name:
    """A class or function that a pickle names. It is never looked up."""

    full: str


@dataclass(frozen=True, eq=False, slots=True)
class Storage:
    """The values that one or several tensors share; `region` is found when somebody looks."""

    dtype: str
    items: int
    key: str
    locate: Callable[[], Region]
    pieces: Callable[[], Iterator[Region]] | None = None
    """Of values that are compressed: all of them, piece by piece; `locate` then has the first one."""

    def region(self) -> Region:
        """The bytes, of which there are as many as the dtype needs."""
        found = self.locate()
        return found.part(0, self.items * ITEM_BYTES.get(self.dtype, 1), f"the data of storage {self.key}")


@dataclass(frozen=True, eq=False, slots=True)
class SavedTensor:
    """A tensor as its file describes it; without storage it is a meta tensor, which has no values."""

    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int = 0
    storage: Storage | None = None
    big_endian: bool = False

    @property
    def items(self) -> int:
        """How many values it has."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """How many bytes its values take, if nothing is shared."""
        return self.items * ITEM_BYTES.get(self.dtype, 1)

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for two names of the same values."""
        return (id(self.storage), self.dtype, self.offset, self.shape, self.stride)

    def checked(self) -> SavedTensor:
        """Itself, if it lies inside its storage."""
        if len(self.shape) != len(self.stride) or not is_count(self.offset) or self.bytes >= LARGEST:
            raise damaged(
                f"a tensor has the shape {plain(self.shape)}, the strides {plain(self.stride)} and the offset {plain(self.offset)}"
            )
        last = self.offset + sum((size - 1) * step for size, step in zip(self.shape, self.stride, strict=True))
        if self.storage is not None and self.items and last >= self.storage.items:
            raise damaged(
                f"a tensor of shape {plain(self.shape)} ends at element {last:,}, its storage {plain(self.storage.key)} "
                f"at {self.storage.items:,}"
            )
        return self


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a tensor whose values lie in order."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


@dataclass(eq=False, repr=False, slots=True)
class Opaque:
    """An object of a class that we do not know and do not need: what it was made from, and what it holds.

    `meaning` is the tensor that it stands for, if it is one after all.
    """

    name: str
    arguments: tuple[Any, ...] = ()
    state: Any = None
    elements: list[Any] = field(default_factory=list)
    entries: dict[Any, Any] = field(default_factory=dict)
    meaning: SavedTensor | None = None

    def children(self) -> Iterator[tuple[Any, Any]]:
        """What is inside, with the name or the place it has there."""
        if isinstance(self.state, dict):
            yield from self.state.items()
        elif self.state is not None:
            yield "state", self.state
        yield from enumerate(self.arguments)
        yield from enumerate(self.elements)
        yield from self.entries.items()


_STRUCTS = {"float64": "<d", "float32": "<f", "float16": "<e", "int64": "<q", "int32": "<i"}


def number_of(value: Any) -> float | None:
    """The number that a file holds, plain or as a tensor of one element; None for anything else."""
    if isinstance(value, Opaque):
        value = value.meaning
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if isinstance(value, float) or abs(value) < LARGEST else None
    if isinstance(value, SavedTensor) and value.storage is not None and value.items == 1 and value.dtype in _STRUCTS:
        return _read_number(value, value.storage)
    return None


def _read_number(tensor: SavedTensor, storage: Storage) -> float | None:
    """The value itself; None in a damaged file, which is told when the tensor is looked at."""
    size = ITEM_BYTES[tensor.dtype]
    try:
        raw = storage.region().bytes_at(tensor.offset * size, size, "a number")
    except UnreadableCheckpoint:
        return None
    return float(struct.unpack(_STRUCTS[tensor.dtype], raw)[0])
