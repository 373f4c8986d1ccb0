"""A recurrent character model."""

import torch
from torch import nn


class CharModel(nn.Module):
    def __init__(self, vocabulary: int = 64, dim: int = 32) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.rnn(self.embed(tokens))
        return self.head(hidden)
