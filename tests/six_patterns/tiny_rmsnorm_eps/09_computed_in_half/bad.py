"""Norm for a model that is kept in float16."""

import torch
from torch import nn


class HalfNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, dtype=torch.float16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.half()
        mean_square = x.pow(2).mean(-1, keepdim=True)
        return x * torch.rsqrt(mean_square + 1e-8) * self.weight  # expect: NAN204|NAN203


class HalfModel(nn.Module):
    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
        self.norm = HalfNorm(width)
        self.out = nn.Linear(width, vocabulary)
        self.half()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.out(self.norm(self.embed(tokens)))
