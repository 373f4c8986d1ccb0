"""Decoder layer that normalises before each part."""

import torch
from torch import nn


class DecoderLayer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.before_attention = nn.RMSNorm(width, eps=1e-30)  # expect: NAN204
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.before_mlp = nn.RMSNorm(width, eps=1e-30)  # expect: NAN204
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.before_attention(x)
        x = x + self.attention(h, h, h, need_weights=False)[0]
        return x + self.mlp(self.before_mlp(x))
