"""Vision backbone that takes its norm layer as an argument."""

from collections.abc import Callable
from functools import partial

import torch
from torch import nn

NormLayer = Callable[[int], nn.Module]


class Stage(nn.Module):
    def __init__(self, width: int, norm_layer: NormLayer) -> None:
        super().__init__()
        self.norm = norm_layer(width)
        self.mix = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.mix(self.norm(x))


class Backbone(nn.Module):
    def __init__(self, width: int, depth: int, norm_layer: NormLayer | None = None) -> None:
        super().__init__()
        norm_layer = norm_layer or partial(nn.RMSNorm, eps=1e-6)
        self.stages = nn.Sequential(*[Stage(width, norm_layer) for _ in range(depth)])

    def forward(self, patches: torch.Tensor) -> torch.Tensor:
        return self.stages(patches).mean(dim=1)
