"""A small transformer from a config."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class ModelConfig:
    dim: int = 64
    layers: int = 2
    norm_floor: float = 1e-20  # expect: NAN204|NAN603


class Scale(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.floor = config.norm_floor
        self.gain = nn.Parameter(torch.ones(config.dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        energy = x.square().mean(dim=-1, keepdim=True)
        return x * torch.rsqrt(energy + self.floor) * self.gain  # expect: NAN204


class Mixer(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        parts = [nn.Sequential(Scale(config), nn.Linear(config.dim, config.dim)) for _ in range(config.layers)]
        self.layers = nn.ModuleList(parts)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = x + layer(x)
        return x
