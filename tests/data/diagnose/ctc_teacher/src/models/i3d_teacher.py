"""Modalities fused by attention, in front of a classifier for every frame."""

import torch
from torch import nn


class ModalityFusion(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.layer_norm = nn.LayerNorm(dim)
        self.attention = nn.MultiheadAttention(dim, num_heads=2, dropout=0.1, batch_first=True)
        self.dropout = nn.Dropout(0.3)

    def forward(self, fused: torch.Tensor) -> torch.Tensor:
        normed = self.layer_norm(fused)
        attended, _ = self.attention(normed, normed, normed)
        return fused + self.dropout(attended)


class Teacher(nn.Module):
    def __init__(self, dim: int = 16, vocabulary: int = 12) -> None:
        super().__init__()
        self.fusion = ModalityFusion(dim)
        self.head = nn.Linear(dim, vocabulary)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.head(self.fusion(features)).log_softmax(dim=-1)
