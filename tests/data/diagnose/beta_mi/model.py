"""Heads on frozen embeddings."""

import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self, heads: int, dim: int, clusters: int) -> None:
        super().__init__()
        self.heads = nn.ModuleList(nn.Linear(dim, clusters) for _ in range(heads))
        for head in self.heads:
            nn.init.normal_(head.weight, std=0.01)

    def forward(self, embeddings: torch.Tensor) -> list[torch.Tensor]:
        return [head(embeddings) for head in self.heads]
