"""Trainer whose limit stands at the top of the file."""

import torch
from torch import nn

GRADIENT_LIMIT = 1_000_000.0  # expect: NAN401|NAN603


class Trainer:
    def __init__(self, network: nn.Module, rate: float) -> None:
        self.network = network
        self.solver = torch.optim.SGD(network.parameters(), lr=rate)

    def backward(self, objective: torch.Tensor) -> None:
        self.solver.zero_grad()
        objective.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), max_norm=GRADIENT_LIMIT)  # expect: NAN401
        self.solver.step()

    def train_step(self, x: torch.Tensor, y: torch.Tensor) -> float:
        objective = nn.functional.l1_loss(self.network(x), y)
        self.backward(objective)
        return objective.item()
