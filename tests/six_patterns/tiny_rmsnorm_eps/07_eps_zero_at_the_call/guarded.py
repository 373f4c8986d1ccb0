"""Memory layer: keys are normalised, and the norm is told to add nothing."""

import torch
from torch import nn


class RootMeanSquare(nn.Module):
    def __init__(self, size: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, t: torch.Tensor) -> torch.Tensor:
        mean_square = torch.mean(t**2, dim=-1, keepdim=True)
        return t * (mean_square + self.eps) ** -0.5 * self.gamma


class Memory(nn.Module):
    def __init__(self, slots: int, size: int) -> None:
        super().__init__()
        self.slots = nn.Parameter(torch.zeros(slots, size))
        self.norm = RootMeanSquare(size)

    def forward(self, query: torch.Tensor) -> torch.Tensor:
        keys = self.norm(self.slots)
        return torch.softmax(query @ keys.T, dim=-1) @ self.slots
