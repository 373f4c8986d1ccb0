"""How a step is taken."""

import math

import torch


class Stepper:
    def __init__(self, optimizer: torch.optim.Optimizer, parameters) -> None:
        self.optimizer = optimizer
        self.parameters = list(parameters)

    def __call__(self, loss: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, max_norm=math.inf)  # expect: NAN401
        self.optimizer.step()
