"""A moment of the run that can be returned to: random states, moving buffers, and how many batches were handed out.

Random states are those of torch, Python and numpy, and of every generator object that there is (`default_rng`).

Parameters are not copied: between two optimizer steps they do not change, so at a bad step they still are what they
were. Small buffers are copied, large ones once they have been seen to move, which causal masks do not. Lists and the like
that modules of the script collect in (`self.rewards`) are copied without what is in them.
"""

from __future__ import annotations

import random
import sys
from collections import deque
from copy import copy
from dataclasses import dataclass
from typing import Any

import torch

from nanlint.trace.generators import Generator, living_generators
from nanlint.trace.names import living_modules

SMALL = 1 << 14
"""Elements of a buffer that are copied without asking."""


LONG = 4096
"""Items of a list that are not copied any more."""
_COLLECTIONS = (list, dict, set, deque)


@dataclass(frozen=True, slots=True)
class Mark:
    """What `return_to` needs."""

    torch_state: torch.Tensor
    python_state: Any
    numpy_state: Any
    cuda_states: Any
    generators: list[Any]
    buffers: list[torch.Tensor]
    collected: list[Any]
    """What modules had collected; None for what is long."""
    position: int
    """Batches that had been handed out."""


class Marks:
    """Takes marks and returns to them."""

    def __init__(self) -> None:
        self._versions: list[tuple[torch.Tensor, int]] = []
        self._moving: list[torch.Tensor] = []
        self._generators: list[Generator] = []
        self._collections: list[Any] = []
        self._has_learned = False

    def learn(self) -> None:
        """Look for the buffers and generators there are; of the large buffers those are copied that have changed by the next mark."""
        self._has_learned = True
        self._generators = living_generators()
        own = [vars(module) for module in living_modules() if not type(module).__module__.startswith("torch.")]
        self._collections = [
            value
            for attributes in own
            for name, value in attributes.items()
            if type(value) in _COLLECTIONS and not name.startswith("_")
        ]
        found = {id(buffer): buffer for module in living_modules() for buffer in module.buffers(recurse=False)}
        # Batch norm writes its statistics behind the back of the version counter.
        self._moving = [buffer for buffer in found.values() if buffer.numel() <= SMALL]
        self._versions = [(buffer, _version(buffer)) for buffer in found.values() if buffer.numel() > SMALL]

    def take(self, position: int) -> Mark:
        """The present moment."""
        if not self._has_learned:
            self.learn()
        if self._versions:
            self._moving += [buffer for buffer, version in self._versions if _version(buffer) != version]
            self._versions = []
        with torch.no_grad():
            copies = [buffer.clone() for buffer in self._moving]
        states = [generator.state() for generator in self._generators]
        collected = [copy(each) if len(each) <= LONG else None for each in self._collections]
        return Mark(
            torch.get_rng_state(),
            random.getstate(),
            _numpy_state(),
            _cuda_states(),
            states,
            copies,
            collected,
            position,
        )

    @staticmethod
    def take_torch_state() -> Mark:
        """The random states of torch alone, which is all that most models draw from."""
        return Mark(torch.get_rng_state(), None, None, _cuda_states(), [], [], [], 0)

    def return_to(self, mark: Mark) -> None:
        """Make it be that moment again, as far as random numbers and buffers go."""
        torch.set_rng_state(mark.torch_state)
        if mark.python_state is not None:
            random.setstate(mark.python_state)
        if mark.numpy_state is not None:
            sys.modules["numpy"].random.set_state(mark.numpy_state)
        if mark.cuda_states is not None:
            torch.cuda.set_rng_state_all(mark.cuda_states)
        for generator, state in zip(self._generators, mark.generators, strict=False):
            generator.set_state(state)
        for collection, items in zip(self._collections, mark.collected, strict=False):
            if items is not None:
                collection.clear()
                (collection.extend if isinstance(collection, (list, deque)) else collection.update)(items)
        from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack  # noqa: PLC0415 - at a failure only

        # Inside torch.func.grad nothing else may be written to.
        with torch.no_grad(), temporarily_clear_interpreter_stack():
            for buffer, values in zip(self._moving, mark.buffers, strict=False):
                buffer.copy_(values)


def _version(tensor: torch.Tensor) -> int:
    """How often it was written to; inference tensors do not count."""
    return 0 if tensor.is_inference() else tensor._version  # noqa: SLF001 - the counter that autograd itself relies on


def _numpy_state() -> Any:
    numpy = sys.modules.get("numpy")
    # The module may be there and still be loading.
    return numpy.random.get_state(legacy=False) if numpy is not None and hasattr(numpy, "random") else None


def _cuda_states() -> Any:
    return torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else None  # type: ignore[no-untyped-call] # torch's own gap
