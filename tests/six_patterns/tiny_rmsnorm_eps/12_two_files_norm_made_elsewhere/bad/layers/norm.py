"""Our own root mean square norm."""

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, features: int, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.gain = nn.Parameter(torch.ones(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        variance = x.pow(2).mean(dim=-1, keepdim=True)
        return self.gain * x * torch.rsqrt(variance + self.epsilon)  # expect: NAN204
