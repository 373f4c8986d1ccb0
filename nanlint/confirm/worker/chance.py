"""Corner values of internal randomness: `torch.rand` returns exactly 0 now and then, in half precision often.

Uniform numbers lie in [0, 1): measured, 0 comes with a chance of 2^-24 in float32 and of 1 in 523 in bfloat16.
"""

from __future__ import annotations

import contextlib
import random
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

CORNERS = ("random numbers 0", "random numbers close to 1")
_UNIFORM = frozenset({"rand", "rand_like", "uniform_"})


class _Fixed(TorchFunctionMode):
    def __init__(self, corner: str) -> None:
        super().__init__()
        self.at_zero = corner == CORNERS[0]

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = function(*args, **kwargs)
        name = getattr(function, "__name__", "")
        if name not in _UNIFORM or not isinstance(result, torch.Tensor):
            return result
        low, high = (0.0, 1.0)
        if name == "uniform_":
            bounds = [*args[1:], *kwargs.values()]
            low, high = (float(bounds[0]), float(bounds[1])) if len(bounds) > 1 else (0.0, 1.0)
        largest = high - (high - low) * torch.finfo(result.dtype).eps / 2
        with torch.no_grad():
            return result.fill_(low if self.at_zero else largest)


def fixed(corner: str) -> Any:
    """A context in which uniform random numbers are at a corner; "" leaves them random."""
    return _Fixed(corner) if corner else contextlib.nullcontext()


def seed(number: int) -> None:
    """Begin all random numbers of the code anew."""
    # `torch.manual_seed` notes a traceback for each device that is not in use: a millisecond, where a run takes a third of it.
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # untyped in torch
        torch.cuda.manual_seed_all(number)
    if torch.backends.mps.is_available():
        torch.mps.manual_seed(number)
    random.seed(number)
    try:
        import numpy as np  # noqa: PLC0415 - torch runs without it, too
    except ImportError:
        return
    np.random.seed(number)  # noqa: NPY002 - what the user's code uses
