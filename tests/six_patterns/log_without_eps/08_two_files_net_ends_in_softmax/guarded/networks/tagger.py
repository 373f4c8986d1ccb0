"""Tags for the words of a sentence."""

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, vocabulary: int, width: int, tags: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, tags)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.rnn(self.embed(words))
        return torch.log_softmax(self.out(hidden), dim=-1)
