"""Whether a tensor is finite, and what its values look like.

Sums decide cheaply: NaN and inf survive a sum, so a finite sum proves a finite tensor. A sum can overflow by itself, so
a non-finite one is checked exactly. Nothing here knows where a tensor came from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

PLAIN_TENSORS = (torch.Tensor, torch.nn.Parameter)
BINS = 24
SAMPLE = 1_000_000
"""More values than this are not sorted into a histogram; every n-th is."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Flaws:
    """What kinds of non-finite values a tensor holds."""

    nan: bool = False
    above: bool = False
    """+inf."""
    below: bool = False
    """-inf."""

    @property
    def inf(self) -> bool:
        """Whether it holds an infinity of either sign."""
        return self.above or self.below

    def __bool__(self) -> bool:
        return self.nan or self.above or self.below


FINITE = Flaws()


def is_checkable(tensor: object) -> bool:
    """Whether it holds real or complex floats that can be read here and now."""
    return (
        type(tensor) in PLAIN_TENSORS
        and (tensor.is_floating_point() or tensor.is_complex())  # type: ignore[attr-defined] # a tensor, as the type says
        and tensor.layout is torch.strided  # type: ignore[attr-defined] # same
        and tensor.device.type != "meta"  # type: ignore[attr-defined] # same
    )


def is_finite(tensor: torch.Tensor) -> bool:
    """Exact, and cheap when the answer is yes."""
    total = tensor.detach().sum(dtype=_sum_dtype(tensor))
    return math.isfinite(abs(total.item())) or not flaws_of(tensor)


def _sum_dtype(tensor: torch.Tensor) -> torch.dtype | None:
    """Half floats are summed in float32, where ordinary values do not overflow."""
    return torch.float32 if tensor.dtype in {torch.float16, torch.bfloat16} else None


def flaws_of(tensor: torch.Tensor) -> Flaws:
    """Which kinds of non-finite values it holds, exactly."""
    values = tensor.detach()
    if values.is_complex():
        values = torch.view_as_real(values.resolve_conj())
    if values.numel() == 0:
        return FINITE
    if values.element_size() < 2:  # float8 has no comparisons of its own
        values = values.float()
    low, high = (float(end) for end in values.aminmax())
    if not math.isnan(low):
        return Flaws(above=math.isinf(high) and high > 0, below=math.isinf(low) and low < 0)
    return Flaws(nan=True, above=bool((values == math.inf).any()), below=bool((values == -math.inf).any()))


def local_part(tensor: torch.Tensor) -> torch.Tensor:
    """The values on this device: of a sharded tensor the shard, of a sparse one its values."""
    local = getattr(tensor, "_local_tensor", tensor)
    if local.layout is torch.strided:
        return local
    return local._values() if local.is_sparse else local.values()  # noqa: SLF001 - gradients of embeddings are not coalesced


def bytes_of(value: object) -> int:
    """The memory of all tensors in a value."""
    return sum(local_part(leaf).nbytes for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor))


@dataclass(frozen=True, slots=True)
class Stats:
    """A tensor in numbers; minimum, maximum and mean are those of its finite values."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    device: str = "cpu"
    count: int = 0
    nan: int = 0
    above: int = 0
    below: int = 0
    zeros: int = 0
    negative: int = 0
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    smallest: float | None = None
    """The smallest magnitude above 0."""
    histogram: tuple[int, ...] = field(default=())

    @property
    def largest(self) -> float:
        """The largest magnitude of a finite value."""
        return max(abs(self.low or 0.0), abs(self.high or 0.0))


def stats_of(name: str, tensor: torch.Tensor) -> Stats:
    """The numbers of `tensor` under the name it goes by."""
    shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
    values = local_part(tensor.detach())
    if values.is_complex():
        values = torch.view_as_real(values.resolve_conj())
    head: dict[str, Any] = {
        "name": name,
        "shape": shape,
        "dtype": dtype,
        "device": str(tensor.device),
        "count": values.numel(),
    }
    if values.numel() == 0 or values.device.type == "meta":
        return Stats(**head)
    values = values.double() if values.numel() <= SAMPLE and values.device.type == "cpu" else values.float()
    finite = values[values.isfinite()]
    counts: dict[str, Any] = {
        "nan": int(values.isnan().sum()),
        "above": int((values == math.inf).sum()),
        "below": int((values == -math.inf).sum()),
        "zeros": int((values == 0).sum()),
        "negative": int((values < 0).sum()),
    }
    if finite.numel() == 0:
        return Stats(**head, **counts)
    magnitudes = finite[finite != 0].abs()
    return Stats(
        **head,
        **counts,
        low=float(finite.min()),
        high=float(finite.max()),
        mean=float(finite.mean()),
        smallest=float(magnitudes.min()) if magnitudes.numel() else None,
        histogram=_histogram(finite),
    )


def _histogram(finite: torch.Tensor) -> tuple[int, ...]:
    """How many values lie in each of equal parts between minimum and maximum."""
    sample = finite.flatten()[:: max(1, finite.numel() // SAMPLE)].cpu()
    low, high = float(sample.min()), float(sample.max())
    if not math.isfinite(high - low) or high == low:
        return (sample.numel(),)
    return tuple(int(count) for count in torch.histc(sample, BINS, low, high))
