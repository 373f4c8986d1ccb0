"""Sequence model."""

import torch
from torch import nn

from layers import RMSNorm


class Sequence(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.rnn = nn.GRU(features, features, batch_first=True)
        self.after = RMSNorm(features, 1e-24)  # expect: NAN204
        self.out = nn.Linear(features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.after(self.rnn(x)[0]))


def train_step(net: Sequence, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> float:
    optimizer.zero_grad()
    loss = (net(x[:, :-1]) - x[:, 1:]).abs().mean()
    loss.backward()
    optimizer.step()
    return loss.item()
