"""A text encoder that is trained in float16."""

import torch
from torch import nn


class Pooler(nn.Module):
    def __init__(self, dim: int = 16) -> None:
        super().__init__()
        self.score = nn.Linear(dim, 1)
        self.norm = nn.LayerNorm(dim)

    def forward(self, hidden: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        hidden = self.norm(hidden).half()
        scores = nn.functional.linear(hidden, self.score.weight.half()).squeeze(-1)
        scores = torch.where(padding, -1e9, scores)  # planted
        weights = scores.softmax(dim=-1)  # planted
        return (weights.unsqueeze(-1) * hidden).sum(dim=1).float()
