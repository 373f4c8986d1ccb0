"""Helpers for a loop: one refuses a bad loss, one clips and steps."""

import torch
from torch import nn


def require_finite(value: torch.Tensor, what: str) -> None:
    if not torch.isfinite(value).all():
        raise FloatingPointError(f"{what} is not finite")


def descend(model: nn.Module, optimizer: torch.optim.Optimizer, max_norm: float) -> None:
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)  # expect: NAN403
    optimizer.step()
    optimizer.zero_grad()


def run(model: nn.Module, optimizer: torch.optim.Optimizer, loader, max_norm: float = 1.0) -> None:
    for x, y in loader:
        loss = nn.functional.smooth_l1_loss(model(x), y)
        require_finite(loss, "loss")
        loss.backward()
        descend(model, optimizer, max_norm)
