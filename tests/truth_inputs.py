"""Inputs that bring float arithmetic to its edges, made from the names and annotations of a function's parameters.

The battery of a fixture: ordinary values, zeros, equal rows, one-hot rows, saturated logits, a single element. A name
says what a tensor is: `target` and `probs` lie in [0, 1], `index` counts classes, `mask` is boolean, `image` has four
dimensions. A folder whose fixtures need more says so in `inputs(name)` of its `truth.py`.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch

from tests.seeding import seed_cpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Case = dict[str, torch.Tensor]

ROWS, COLUMNS = 2, 3
LARGE = 1e4
"""As large as a logit gets in a run that diverges."""

_REAL = (
    torch.randn,
    torch.zeros,
    torch.ones,
    lambda shape: torch.full(shape, LARGE),
    lambda shape: torch.full(shape, -LARGE),
    lambda shape: _alternating(shape) * LARGE,
    lambda shape: _alternating(shape) * -LARGE,
    lambda shape: _alternating(shape) * 50,
    lambda shape: torch.randn(shape) * 100,
    lambda shape: torch.randn(shape) * 1e-3,
)
_UNIT = (
    torch.rand,
    torch.zeros,
    torch.ones,
    lambda shape: torch.eye(max(shape))[: shape[0], : shape[-1]].expand(shape).contiguous(),
    lambda shape: torch.full(shape, 0.5),
)
_INDEX = (lambda shape: torch.zeros(shape[0], dtype=torch.long), lambda shape: torch.arange(shape[0]) % shape[-1])
_MASK = (
    lambda shape: torch.ones(shape, dtype=torch.bool),
    lambda shape: torch.zeros(shape, dtype=torch.bool),
    lambda shape: _alternating(shape) > 0,
)
_KINDS: dict[str, tuple[Callable[[tuple[int, ...]], torch.Tensor], ...]] = {
    **dict.fromkeys(("target", "targets", "probs", "p", "q", "weights"), _UNIT),
    **dict.fromkeys(("index", "labels"), _INDEX),
    **dict.fromkeys(("mask", "keep"), _MASK),
}
_IMAGES = frozenset({"image", "images"})
WITHOUT_GRADIENT = frozenset({"target", "targets", "weights"})
"""What is given to a loss and not learned."""


def _alternating(shape: tuple[int, ...]) -> torch.Tensor:
    """1 and -1 in turn along every dimension."""
    places = torch.stack(torch.meshgrid(*(torch.arange(length) for length in shape), indexing="ij")).sum(0)
    return 1.0 - 2.0 * (places % 2)


def battery(function: Callable[..., Any]) -> Iterator[Case]:
    """Cases for every parameter without a default; the first is an ordinary one."""
    names = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
    ]
    for rows, columns in ((ROWS, COLUMNS), (1, COLUMNS)):
        longest = max((len(_kind(name)) for name in names), default=0)
        for case in range(longest):
            # Every kind goes round at its own pace, so that each value of one meets several of the others.
            for turn in range(2 if len(names) > 1 else 1):
                seed_cpu(case)
                yield {name: _tensor(name, case + turn * place, rows, columns) for place, name in enumerate(names)}


def _kind(name: str) -> tuple[Callable[[tuple[int, ...]], torch.Tensor], ...]:
    return _KINDS.get(name, _REAL)


def _tensor(name: str, case: int, rows: int, columns: int) -> torch.Tensor:
    makers = _kind(name)
    shape = (rows, columns, 4, 4) if name in _IMAGES else (rows, columns)
    return makers[case % len(makers)](shape)
