"""The numbers about a tensor's values, read once, in chunks, in place.

`aminmax` decides whether a chunk is finite: NaN and infinity always come through it, and it is twenty times faster than
asking `isfinite` of every value. Only a chunk that is not finite is looked at closely. How many values are zero or
subnormal, and how large they are on average, is known from a sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from nanlint.checkpoint.reading import Reading, hostile
from nanlint.checkpoint.saved import ITEM_BYTES, is_inexact, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanlint.checkpoint.region import Region
    from nanlint.checkpoint.saved import SavedTensor

CHUNK = 16 << 20
"""Bytes looked at together."""

FEW = 64
"""A checkpoint has thousands of tensors of one value or a handful, for which calling torch is not worth it."""

SAMPLE = 4096
"""Values of a chunk that the shares and the average are estimated from."""

_TINY = {dtype: torch.finfo(dtype).tiny for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16)}
_COMPLEX = {"complex32": torch.float16, "complex64": torch.float32, "complex128": torch.float64}


@dataclass(frozen=True)
class Statistics:
    """What is known of a tensor's values after reading them; low and high are of the finite ones."""

    items: int = 0
    nans: int = 0
    positive_infs: int = 0
    negative_infs: int = 0
    low: float = math.inf
    high: float = -math.inf
    first_bad: int | None = None
    sampled: int = 0
    zeros: int = 0
    subnormals: int = 0
    squares: float = 0.0

    @property
    def bad(self) -> int:
        """How many values are not finite."""
        return self.nans + self.positive_infs + self.negative_infs

    @property
    def largest(self) -> float:
        """The largest magnitude of a finite value; 0 if there is none."""
        return max(abs(self.low), abs(self.high)) if self.low <= self.high else 0.0

    @property
    def is_zero(self) -> bool:
        """Whether there are values and every one is 0."""
        return self.items > 0 and not self.bad and self.low == 0.0 == self.high

    @property
    def rms(self) -> float:
        """The root of the mean square of the sampled values."""
        return math.sqrt(self.squares / self.sampled) if self.sampled else 0.0

    @property
    def subnormal_share(self) -> float:
        """The share of values too small for the format's full precision, among the sampled."""
        return self.subnormals / self.sampled if self.sampled else 0.0


def can_be_scanned(tensor: SavedTensor) -> bool:
    """Whether it has values, and they can be NaN or infinite."""
    known = tensor.dtype in ITEM_BYTES and (tensor.dtype in _COMPLEX or hasattr(torch, tensor.dtype))
    return tensor.storage is not None and is_inexact(tensor.dtype) and known


def scan(tensor: SavedTensor, reading: Reading, progress: Callable[[int], object]) -> Statistics:
    """The statistics of all values; `progress` is told the bytes of each chunk, `reading` sees that there are not too many."""
    found = Statistics()
    if tensor.storage is None or not tensor.items:
        return found
    for region in [tensor.storage.region()] if tensor.storage.pieces is None else tensor.storage.pieces():
        for chunk in _chunks(tensor, region, reading):
            found = _added(found, chunk)
            progress(chunk.numel() * chunk.element_size())
            if chunk.numel() > SAMPLE:
                region.forget()
    if found.first_bad is None or tensor.dtype not in _COMPLEX:
        return found
    return replace(found, first_bad=found.first_bad // 2)


def _added(before: Statistics, chunk: torch.Tensor) -> Statistics:
    values = chunk.float() if chunk.dtype.itemsize == 1 else chunk  # torch has no aminmax for floats of eight bits
    if not before.items and values.numel() <= FEW:
        return _of_few(values.tolist(), _TINY[values.dtype])
    low, high = (bound.item() for bound in torch.aminmax(values))
    known = _sampled(before, values)
    if math.isfinite(low) and math.isfinite(high):
        return replace(
            known, items=before.items + values.numel(), low=min(before.low, low), high=max(before.high, high)
        )
    return _close_look(known, values)


def _of_few(values: list[float], tiny: float) -> Statistics:
    finite = [value for value in values if math.isfinite(value)]
    return Statistics(
        len(values),
        sum(map(math.isnan, values)),
        values.count(math.inf),
        values.count(-math.inf),
        min(finite, default=math.inf),
        max(finite, default=-math.inf),
        next((place for place, value in enumerate(values) if not math.isfinite(value)), None),
        len(finite),
        finite.count(0.0),
        sum(0 < abs(value) < tiny for value in finite),
        math.fsum(min(abs(value), 1e150) ** 2 for value in finite),
    )


def _close_look(before: Statistics, values: torch.Tensor) -> Statistics:
    finite = torch.isfinite(values)
    good = values[finite]
    low, high = (bound.item() for bound in torch.aminmax(good)) if good.numel() else (math.inf, -math.inf)
    first = before.items + int((~finite).int().argmax())
    return replace(
        before,
        items=before.items + values.numel(),
        nans=before.nans + int(torch.isnan(values).sum()),
        positive_infs=before.positive_infs + int((values == math.inf).sum()),
        negative_infs=before.negative_infs + int((values == -math.inf).sum()),
        low=min(before.low, low),
        high=max(before.high, high),
        first_bad=first if before.first_bad is None else before.first_bad,
    )


def _sampled(before: Statistics, values: torch.Tensor) -> Statistics:
    tiny = _TINY[values.dtype]
    some = values[:: max(1, values.numel() // SAMPLE)].double().abs()
    some = some[torch.isfinite(some)]
    return replace(
        before,
        sampled=before.sampled + some.numel(),
        zeros=before.zeros + int((some == 0).sum()),
        subnormals=before.subnormals + int(((some > 0) & (some < tiny)).sum()),
        squares=before.squares + float(some.square().sum()),
    )


def _chunks(tensor: SavedTensor, region: Region, reading: Reading) -> Iterator[torch.Tensor]:
    """The values in stretches of one dimension; of complex numbers, both parts. A piece of compressed values is one."""
    part = _COMPLEX.get(tensor.dtype)
    dtype = getattr(torch, tensor.dtype) if part is None else part
    if tensor.storage is not None and tensor.storage.pieces is not None:
        piece = _Reader(region, dtype, tensor.big_endian, Reading(len(region)))  # what is unpacked was counted there
        yield from piece.stretches([(len(region) // dtype.itemsize, 1)], 0)
        return
    reader = _Reader(region, dtype, tensor.big_endian, reading)
    dimensions = _without_repetition(tensor)
    if part is None:
        yield from reader.stretches(dimensions, tensor.offset)
    else:
        yield from reader.stretches([*((size, 2 * step) for size, step in dimensions), (2, 1)], 2 * tensor.offset)


def _without_repetition(tensor: SavedTensor) -> list[tuple[int, int]]:
    """Size and step of the dimensions, largest step first, so that no value is read twice.

    The order of the dimensions does not matter here. What repeats (stride 0) or steps inside of a stretch that is read
    anyway, such as the rows of a sliding window, is part of that stretch.
    """
    stretch, outer = 1, []
    for step, size in sorted(zip(tensor.stride, tensor.shape, strict=True)):
        if step <= stretch:
            stretch += (size - 1) * step
        else:
            outer.append((size, step))
    dimensions = [*reversed(outer), (stretch, 1)]
    if math.prod(size for size, _ in dimensions) > _span(dimensions):
        raise hostile(f"has the shape {plain(tensor.shape)} and overlapping strides {plain(tensor.stride)}")
    return [(size, step) for size, step in dimensions if size != 1]


@dataclass(frozen=True)
class _Reader:
    """The values of a region as one dtype."""

    region: Region
    dtype: torch.dtype
    big_endian: bool
    reading: Reading

    def stretches(self, dimensions: list[tuple[int, int]], offset: int) -> Iterator[torch.Tensor]:
        """In order if the values lie side by side; with gaps between them, as many rows at a time as fit into a chunk."""
        count, span = math.prod(size for size, _ in dimensions), _span(dimensions)
        most = CHUNK // self.dtype.itemsize
        if span == count:
            for start in range(0, count, most):
                yield self.values(offset + start, min(most, count - start))
        elif span <= most:
            strided = [size for size, _ in dimensions], [step for _, step in dimensions]
            yield self.values(offset, span).as_strided(*strided).reshape(-1)
        else:
            (rows, step), *inner = dimensions
            together = max(1, (most - _span(inner)) // step)
            for row in range(0, rows, together):
                some = min(together, rows - row)
                yield from self.stretches([(some, step), *inner] if some > 1 else inner, offset + row * step)

    def values(self, start: int, count: int) -> torch.Tensor:
        """`count` values from `start` on, in place where the machine can read them there."""
        size = self.dtype.itemsize
        self.reading.look(count * size)
        view = self.region.view[start * size : (start + count) * size]
        raw = torch.frombuffer(bytearray(view) if view.readonly else view, dtype=torch.uint8)
        if self.big_endian:
            raw = raw.view(-1, size).flip(1).reshape(-1)
        return (raw.clone() if raw.data_ptr() % size else raw).view(self.dtype)


def _span(dimensions: list[tuple[int, int]]) -> int:
    """From the first value to the last."""
    return 1 + sum((size - 1) * step for size, step in dimensions)
