"""A moment of the run that can be returned to: random states, moving buffers, and how many batches were handed out.

Parameters are not copied: between two optimizer steps they do not change, so at a bad step they still are what they
were. Small buffers are copied, large ones once they have been seen to move, which causal masks do not.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from typing import Any

import torch

from nanlint.trace.names import living_modules

SMALL = 1 << 14
"""Elements of a buffer that are copied without asking."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What `return_to` needs."""

    torch_state: torch.Tensor
    python_state: Any
    numpy_state: Any
    cuda_states: Any
    buffers: list[torch.Tensor]
    position: int
    """Batches that had been handed out."""


class Marks:
    """Takes marks and returns to them."""

    def __init__(self) -> None:
        self._versions: list[tuple[torch.Tensor, int]] = []
        self._moving: list[torch.Tensor] = []

    def learn_buffers(self) -> None:
        """Look for the buffers there are; of the large ones those are copied that have changed by the next mark."""
        found = {id(buffer): buffer for module in living_modules() for buffer in module.buffers(recurse=False)}
        # Batch norm writes its statistics behind the back of the version counter.
        self._moving = [buffer for buffer in found.values() if buffer.numel() <= SMALL]
        self._versions = [(buffer, _version(buffer)) for buffer in found.values() if buffer.numel() > SMALL]

    def take(self, position: int) -> Mark:
        """The present moment."""
        if self._versions:
            self._moving += [buffer for buffer, version in self._versions if _version(buffer) != version]
            self._versions = []
        with torch.no_grad():
            copies = [buffer.clone() for buffer in self._moving]
        return Mark(torch.get_rng_state(), random.getstate(), _numpy_state(), _cuda_states(), copies, position)

    def return_to(self, mark: Mark) -> None:
        """Make it be that moment again, as far as random numbers and buffers go."""
        torch.set_rng_state(mark.torch_state)
        random.setstate(mark.python_state)
        if mark.numpy_state is not None:
            sys.modules["numpy"].random.set_state(mark.numpy_state)
        if mark.cuda_states is not None:
            torch.cuda.set_rng_state_all(mark.cuda_states)
        with torch.no_grad():
            for buffer, copy in zip(self._moving, mark.buffers, strict=False):
                buffer.copy_(copy)


def _version(tensor: torch.Tensor) -> int:
    """How often it was written to; inference tensors do not count."""
    return 0 if tensor.is_inference() else tensor._version  # noqa: SLF001 - the counter that autograd itself relies on


def _numpy_state() -> Any:
    numpy = sys.modules.get("numpy")
    # The module may be there and still be loading.
    return numpy.random.get_state(legacy=False) if numpy is not None and hasattr(numpy, "random") else None


def _cuda_states() -> Any:
    return torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else None  # type: ignore[no-untyped-call] # torch's own gap
