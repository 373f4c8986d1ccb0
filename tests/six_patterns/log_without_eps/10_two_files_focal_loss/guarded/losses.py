"""Focal loss for rare positives."""

import torch


def focal_loss(chance: torch.Tensor, positive: torch.Tensor, gamma: float = 2.0) -> torch.Tensor:
    chance = chance.clamp(1e-6, 1 - 1e-6)
    hit = (1 - chance) ** gamma * torch.log(chance)
    miss = chance**gamma * torch.log1p(-chance)
    return -(positive * hit + (1 - positive) * miss).mean()
