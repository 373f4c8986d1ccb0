"""Train a forecaster on series with gaps."""

import torch
from torch import nn

from objectives.averages import average


def objective(net: nn.Module, past: torch.Tensor, future: torch.Tensor, has_value: torch.Tensor) -> torch.Tensor:
    forecast = net(past)
    return average((forecast - future).abs(), has_value).mean()


def fit(net: nn.Module, loader, epochs: int, lr: float) -> None:
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    for _ in range(epochs):
        for past, future, has_value in loader:
            optimizer.zero_grad()
            objective(net, past, future, has_value).backward()
            optimizer.step()
