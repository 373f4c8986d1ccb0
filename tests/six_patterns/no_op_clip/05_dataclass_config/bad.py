"""Trainer with a config object."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class TrainConfig:
    lr: float = 3e-4
    steps: int = 10_000
    max_grad_norm: float = 1e4  # expect: NAN401|NAN603


class Trainer:
    def __init__(self, model: nn.Module, config: TrainConfig) -> None:
        self.model = model
        self.config = config
        self.optimizer = torch.optim.SGD(model.parameters(), lr=config.lr)

    def step(self, x: torch.Tensor, y: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        nn.functional.mse_loss(self.model(x), y).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.max_grad_norm)  # expect: NAN401
        self.optimizer.step()
