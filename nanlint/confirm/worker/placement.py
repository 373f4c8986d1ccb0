"""The device that code is run on: one for the whole process, and everything that is made follows it.

Factory calls, constructors and stand-ins are made there because it is torch's default while the code runs. Random values are
drawn on the CPU first, so that a case has the same values on every device.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

CPU = "cpu"
_CHOSEN = [CPU]


def use(device: str) -> None:
    """Run on this device from now on."""
    _CHOSEN[0] = device
    if device.startswith("cuda:"):
        # Code that says "cuda" means the current one.
        torch.cuda.set_device(device)


def opened(device: str) -> str:
    """Start the driver of a device and its libraries; the reason if it does not start."""
    if device == CPU:
        return ""
    try:
        one = torch.ones(2, 2, device=device)
        float((one @ one).sum())
    except (RuntimeError, AssertionError) as error:
        # A torch without CUDA raises an AssertionError.
        return str(error).partition("\n")[0]
    return ""


def chosen() -> torch.device:
    """The device that code is run on."""
    return torch.device(_CHOSEN[0])


def here() -> Any:
    """A context in which everything is made on the chosen device."""
    return contextlib.nullcontext() if _CHOSEN[0] == CPU else torch.device(_CHOSEN[0])


def on_the_cpu() -> Any:
    """A context in which things are made on the CPU, whatever is chosen."""
    return contextlib.nullcontext() if _CHOSEN[0] == CPU else torch.device(CPU)


def moved(module: torch.nn.Module) -> torch.nn.Module:
    """The module on the chosen device; one that is there already is left alone."""
    parts = [*module.parameters(), *module.buffers()]
    is_there = all(one.device.type == chosen().type for one in parts)
    return module if is_there else module.to(chosen())


def is_out_of_memory(reason: str) -> bool:
    """Whether a run ended because the device was full."""
    return "out of memory" in reason or "OutOfMemoryError" in reason


class OnDevice(TorchFunctionMode):
    """Whatever is asked of CUDA happens on the device that was chosen."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if getattr(function, "__name__", "") == "cuda" and args:
            return args[0].to(chosen())
        args = tuple(map(_moved, args))
        return function(*args, **{name: _moved(one) for name, one in kwargs.items()})


def _moved(thing: Any) -> Any:
    """The chosen device for a CUDA device that is not there."""
    if isinstance(thing, torch.device):
        return chosen() if thing.type == "cuda" and chosen().type != "cuda" else thing
    if isinstance(thing, str) and thing.partition(":")[0] == "cuda" and chosen().type != "cuda":
        return chosen()
    return thing


def wants_cuda(error: str) -> bool:
    """Whether a run ended because it asked for a CUDA device that is not there."""
    return "not compiled with CUDA" in error or "No CUDA GPUs" in error or "NVIDIA driver" in error
