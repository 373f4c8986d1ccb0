"""einops where it is not installed: the same results, and the same complaints about shapes.

So much code is written in it that without it whole packages could not be run; and what it computes is exactly defined.
"""

from __future__ import annotations

import math
import re
from typing import Any

import torch

_GROUP = re.compile(r"\(([^)]*)\)|(\S+)")
_ELLIPSIS = "..."


class EinopsError(RuntimeError):
    """A pattern that does not suit the shape."""


def _groups(side: str, spread: str) -> list[list[str]]:
    """The axes of one side of a pattern, those in brackets together; the ellipsis stands for the names in `spread`."""
    found = _GROUP.findall(side.replace(_ELLIPSIS, f" {spread} "))
    return [[name for name in (inside or single).split() if name != "1"] for inside, single in found]


def _elementary(x: torch.Tensor, left: list[list[str]], sizes: dict[str, int]) -> torch.Tensor:
    """The tensor with an axis for each name of the left side; `sizes` learns them."""
    if len(left) != x.dim():
        raise EinopsError(f"Wrong shape: expected {len(left)} dims. Received {x.dim()}-dim tensor.")
    for group, size in zip(left, x.shape, strict=True):
        known = math.prod(sizes[name] for name in group if name in sizes)
        open_ones = [name for name in group if name not in sizes]
        if (known and size % known) or (not open_ones and known != size):
            raise EinopsError(f"Shape mismatch, can't divide axis of length {size} in chunks of {known}")
        sizes.update({name: size // max(known, 1) for name in open_ones[:1]})
    return x.reshape([sizes[name] for group in left for name in group])


def _rearranged(given: Any, pattern: str, sizes: dict[str, int], combine: str = "") -> torch.Tensor:
    """The one function behind rearrange, reduce and repeat."""
    x: torch.Tensor = torch.stack(list(given)) if isinstance(given, (list, tuple)) else torch.as_tensor(given)
    before, _, after = pattern.partition("->")
    named = len(_groups(before.replace(_ELLIPSIS, ""), ""))
    spread = " ".join(f"_{place}" for place in range(x.dim() - named)) if _ELLIPSIS in before else ""
    left, right = _groups(before, spread), _groups(after, spread)
    x = _elementary(x, left, sizes)
    names, wanted = [name for group in left for name in group], [name for group in right for name in group]
    for place in reversed([place for place, name in enumerate(names) if name not in wanted]):
        x = getattr(x, {"max": "amax", "min": "amin"}.get(combine, combine))(dim=place)
    names = [name for name in names if name in wanted]
    for name in wanted:
        if name not in names:
            x = x.unsqueeze(-1).expand(*x.shape, sizes[name])
            names.append(name)
    x = x.permute([names.index(name) for name in wanted])
    return x.reshape([math.prod(sizes[name] for name in group) for group in right])


def rearrange(tensor: Any, pattern: str, **sizes: int) -> torch.Tensor:
    """Axes in another order, split and joined."""
    return _rearranged(tensor, pattern, sizes)


def reduce(tensor: Any, pattern: str, reduction: Any, **sizes: int) -> torch.Tensor:
    """Axes that the right side lacks are combined."""
    return _rearranged(tensor, pattern, sizes, reduction)


def repeat(tensor: Any, pattern: str, **sizes: int) -> torch.Tensor:
    """Axes that the left side lacks are repeated."""
    return _rearranged(tensor, pattern, sizes)


def einsum(*arguments: Any) -> torch.Tensor:
    """The einsum of torch, with names for axes."""
    *tensors, pattern = arguments
    names = dict.fromkeys(re.findall(r"\w+", pattern))
    letters = dict(zip(names, "abcdefghijklmnopqrstuvwxyz", strict=False))
    return torch.einsum(re.sub(r"\w+", lambda found: letters[found[0]], pattern).replace(" ", ""), *tensors)


def pack(tensors: Any, pattern: str) -> tuple[torch.Tensor, list[torch.Size]]:
    """Tensors with any axes in the place of the star, as one."""
    names = pattern.split()
    place, behind = names.index("*"), len(names) - names.index("*") - 1
    shapes = [one.shape[place : one.dim() - behind] for one in tensors]
    flat = [
        one.reshape([*one.shape[:place], shape.numel(), *one.shape[one.dim() - behind :]])
        for one, shape in zip(tensors, shapes, strict=True)
    ]
    return torch.cat(flat, dim=place), shapes


def unpack(tensor: torch.Tensor, shapes: Any, pattern: str) -> list[torch.Tensor]:
    """What `pack` has put together."""
    place = pattern.split().index("*")
    parts = torch.split(tensor, [math.prod(shape) for shape in shapes], dim=place)
    return [
        part.reshape([*part.shape[:place], *shape, *part.shape[place + 1 :]])
        for part, shape in zip(parts, shapes, strict=True)
    ]


class Rearrange(torch.nn.Module):
    """`rearrange` as a layer."""

    def __init__(self, pattern: str, **sizes: int) -> None:
        super().__init__()
        self.pattern, self.reduction, self.sizes = pattern, "", sizes

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The input in the order of the pattern."""
        return _rearranged(x, self.pattern, dict(self.sizes), self.reduction)


class Reduce(Rearrange):
    """`reduce` as a layer."""

    def __init__(self, pattern: str, reduction: str, **sizes: int) -> None:
        super().__init__(pattern, **sizes)
        self.reduction = reduction


HELD = {
    "einops": (EinopsError, rearrange, reduce, repeat, einsum, pack, unpack),
    "einops.layers": (),
    "einops.layers.torch": (Rearrange, Reduce),
}
"""The modules of the package, and what each of them has."""
