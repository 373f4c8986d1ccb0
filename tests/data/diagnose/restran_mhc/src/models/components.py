"""Streams mixed by a routing matrix; pooled features are normalised first."""

import torch
from torch import nn


class HyperConnection(nn.Module):
    def __init__(self, streams: int, channels: int) -> None:
        super().__init__()
        self.streams = streams
        self.norm = nn.LayerNorm(streams * channels)
        self.phi = nn.Linear(streams * channels, streams * streams)
        self.alpha_res = nn.Parameter(torch.tensor(0.1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pooled = self.norm(x.mean(dim=(-1, -2)).flatten(1))
        scores = self.alpha_res * self.phi(pooled).view(-1, self.streams, self.streams)
        return torch.einsum("bmn,bnchw->bmchw", scores.softmax(dim=-1), x)


class ResTran(nn.Module):
    def __init__(self, streams: int = 2, channels: int = 3, classes: int = 37) -> None:
        super().__init__()
        self.streams = streams
        self.mixing = HyperConnection(streams, channels)
        self.head = nn.Linear(channels, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        streams = images.unsqueeze(1).expand(-1, self.streams, -1, -1, -1)
        return self.head(self.mixing(streams).mean(dim=1).mean(dim=(-1, -2)))
