"""Faults that the witnesses inject: a gradient that breaks although the loss is finite, or one that explodes."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import nn

SomeModule = TypeVar("SomeModule", bound=nn.Module)


def break_gradient(model: SomeModule, with_value: float = float("nan")) -> SomeModule:
    """`model`, of which one gradient has one entry of NaN (or `with_value`) in every backward; its outputs stay finite."""

    def break_one_entry(gradient: torch.Tensor) -> torch.Tensor:
        broken = gradient.clone()
        broken.view(-1)[0] = with_value
        return broken

    next(model.parameters()).register_hook(break_one_entry)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return model


def explode_gradient(model: SomeModule, norm: float = 500.0) -> SomeModule:
    """`model`, whose first parameter gets a gradient of this norm in every backward, and the others one of 0."""

    def explode(gradient: torch.Tensor) -> torch.Tensor:
        return torch.full_like(gradient, norm / gradient.numel() ** 0.5)

    first, *others = model.parameters()
    first.register_hook(explode)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    for parameter in others:
        parameter.register_hook(torch.zeros_like)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return model


def distance_moved(model: nn.Module, start: dict[str, torch.Tensor]) -> float:
    """How far the parameters are from `start`; with plain SGD at lr 1 that is the norm of what the clip let through."""
    moved = [(value.detach() - start[name]).flatten() for name, value in model.named_parameters()]
    return float(torch.cat(moved).norm())


def copy_of(model: nn.Module) -> dict[str, torch.Tensor]:
    """The parameters of `model` as they are now."""
    return {name: value.detach().clone() for name, value in model.named_parameters()}
