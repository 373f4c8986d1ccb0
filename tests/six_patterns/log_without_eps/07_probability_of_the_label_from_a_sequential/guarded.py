"""Digit classifier: the net is made in __init__, its loss is written in `step`."""

import torch
from torch import nn


class DigitTrainer:
    def __init__(self, pixels: int = 784, lr: float = 1e-3) -> None:
        self.net = nn.Sequential(
            nn.Linear(pixels, 64),
            nn.ReLU(),
            nn.Linear(64, 10),
            nn.LogSoftmax(dim=1),
        )
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=lr, momentum=0.9)

    def step(self, images: torch.Tensor, digits: torch.Tensor) -> float:
        out = self.net(images.flatten(1))
        picked = out.gather(1, digits.unsqueeze(1))
        cost = torch.neg(picked).mean()
        self.optimizer.zero_grad()
        cost.backward()
        self.optimizer.step()
        return cost.item()
