"""Attention with normalised queries and keys."""

import torch
import torch.nn.functional as F
from torch import nn

TINY = 1e-20  # expect: NAN204


class NormedAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)

    @staticmethod
    def unit(t: torch.Tensor) -> torch.Tensor:
        factor = t.pow(2).mean(-1, keepdim=True)
        factor.add_(TINY).rsqrt_()  # expect: NAN204
        return t * factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        mixed = F.scaled_dot_product_attention(self.unit(q), self.unit(k), v)
        return self.out(mixed.transpose(1, 2).flatten(2))
