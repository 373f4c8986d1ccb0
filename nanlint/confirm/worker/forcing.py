"""Corners of the parameters of a module: the states of a fresh, a zeroed and a diverged model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

if TYPE_CHECKING:
    from collections.abc import Iterator

EDGE, LARGE = "edge", "large"
STATES: dict[str, str] = {
    "bias = 0": EDGE,
    "1-d parameters = 0": EDGE,
    "all parameters = 0": EDGE,
    "all parameters x 10": LARGE,
    "all parameters x 100": LARGE,
    "1-d parameters + 100": LARGE,
    "parameters / 1000": EDGE,
}
"""What is done to the parameters, and how plausible a model in that state is."""


def states_of(module: torch.nn.Module, operand: str) -> Iterator[tuple[str, str]]:
    """The states worth trying, first those of a parameter that the finding names."""
    names = [name for name, value in module.named_parameters() if value.is_floating_point()]
    named = [
        name
        for name in names
        if name.rpartition(".")[2] in operand.replace(".", " ").split() or f"self.{name}" in operand
    ]
    for name in named:
        yield f"{name} = 0", EDGE
        yield f"{name} = 1", EDGE
        yield f"{name} = 100", LARGE
        yield f"{name} = -100", LARGE
        yield f"{name} = -1", EDGE
    if names:
        yield from STATES.items()


@torch.no_grad()
def force(module: torch.nn.Module, state: str) -> None:
    """Bring the parameters into a state; "" leaves them as they are."""
    if not state:
        return
    named, _, number = state.rpartition(" = ")
    for name, value in module.named_parameters():
        if isinstance(value, (UninitializedParameter, UninitializedBuffer)) or not value.is_floating_point():
            continue
        _force_one(name, value, state, (named, number))


def _force_one(name: str, value: torch.Tensor, state: str, single: tuple[str, str]) -> None:
    is_small = value.dim() <= 1
    if state.startswith("all parameters x "):
        value.mul_(float(state.rpartition(" ")[2]))
    elif state == "parameters / 1000":
        value.div_(1000.0)
    elif state == "1-d parameters + 100":
        value.add_(100.0 if is_small else 0.0)
    elif name == single[0]:
        value.fill_(float(single[1]))
    elif state == "all parameters = 0" or ("1-d" in state and is_small) or (state == "bias = 0" and "bias" in name):
        value.zero_()
