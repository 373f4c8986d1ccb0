"""Attention that leaves out padding."""

import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        batch, length, dim = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(dim // self.heads)
        scores = scores.masked_fill(~keep[:, None, None, :], float("-inf"))
        weights = scores.softmax(dim=-1)  # planted
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, dim))


class Classifier(nn.Module):
    def __init__(self, dim: int, heads: int, vocabulary: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim, padding_idx=0)
        self.attention = Attention(dim, heads)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        hidden = self.embed(tokens)
        hidden = hidden + self.attention(self.norm(hidden), tokens != 0)
        return self.head(hidden.mean(dim=1))
