"""The gradients are looked at for NaN, then clipped."""

import torch
from torch import nn


def has_nan(parameters) -> bool:
    return any(p.grad is not None and torch.isnan(p.grad).any() for p in parameters)


def step(model: nn.Module, optimizer: torch.optim.Optimizer, batch, clip_at: float = 1.0) -> bool:
    """Train on one batch; False if the batch was dropped."""
    optimizer.zero_grad()
    logits = model(batch["x"])
    nn.functional.cross_entropy(logits, batch["y"]).backward()
    if has_nan(model.parameters()):
        optimizer.zero_grad()
        return False
    size = nn.utils.clip_grad_norm_(model.parameters(), clip_at)
    if not size.isfinite():
        optimizer.zero_grad()
        return False
    optimizer.step()
    return True
