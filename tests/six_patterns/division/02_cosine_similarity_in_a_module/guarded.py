"""Two towers that are compared by the angle between their outputs."""

import torch
from torch import nn


class TwoTowers(nn.Module):
    def __init__(self, query_width: int, item_width: int, width: int = 64) -> None:
        super().__init__()
        self.query = nn.Sequential(nn.Linear(query_width, width), nn.ReLU())
        self.item = nn.Sequential(nn.Linear(item_width, width), nn.ReLU())
        self.scale = nn.Parameter(torch.tensor(10.0))

    def embed(self, tower: nn.Module, x: torch.Tensor) -> torch.Tensor:
        v = tower(x)
        return nn.functional.normalize(v, dim=-1)

    def forward(self, queries: torch.Tensor, items: torch.Tensor) -> torch.Tensor:
        q = self.embed(self.query, queries)
        k = self.embed(self.item, items)
        return self.scale * q @ k.T
