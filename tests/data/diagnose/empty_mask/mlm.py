"""Masked reconstruction of sensor windows; windows can be shorter than the batch's longest."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, channels: int = 6, dim: int = 32) -> None:
        super().__init__()
        self.enter = nn.Linear(channels, dim)
        self.block = nn.TransformerEncoderLayer(dim, 4, 64, batch_first=True)
        self.leave = nn.Linear(dim, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.leave(self.block(self.enter(x)))


def draw_mask(x: torch.Tensor, ratio: float) -> torch.Tensor:
    return torch.rand(x.shape[:2], device=x.device) < ratio


def reconstruction_loss(pred: torch.Tensor, target: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    error = (pred - target).square().mean(dim=-1)
    return (error * mask).sum() / mask.sum()  # planted
