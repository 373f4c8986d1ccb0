"""Focal loss for rare positives."""

import torch


def focal_loss(chance: torch.Tensor, positive: torch.Tensor, gamma: float = 2.0) -> torch.Tensor:
    hit = (1 - chance) ** gamma * torch.log(chance)  # expect: NAN102|NAN110|NAN111
    miss = chance**gamma * torch.log1p(-chance)  # expect: NAN102|NAN110|NAN111
    return -(positive * hit + (1 - positive) * miss).mean()
