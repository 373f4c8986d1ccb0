"""Update of a recurrent policy."""

import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.out = nn.Linear(inputs, actions)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(x).log_softmax(-1)

    def improve(
        self, optimizer: torch.optim.Optimizer, x: torch.Tensor, taken: torch.Tensor, gain: torch.Tensor
    ) -> None:
        chosen = self(x).gather(1, taken.unsqueeze(1)).squeeze(1)
        optimizer.zero_grad()
        (-chosen * gain).mean().backward()
        nn.utils.clip_grad_value_(self.parameters(), clip_value=0.5)
        optimizer.step()
