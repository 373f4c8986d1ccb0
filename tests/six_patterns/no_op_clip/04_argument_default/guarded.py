"""Fit a forecaster."""

import torch
from torch import nn


def fit(
    net: nn.Module,
    loader,
    epochs: int = 10,
    lr: float = 1e-3,
    clip: float = 1.0,
) -> nn.Module:
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    for _ in range(epochs):
        for past, future in loader:
            optimizer.zero_grad()
            nn.functional.huber_loss(net(past), future).backward()
            nn.utils.clip_grad_norm_(net.parameters(), clip)
            optimizer.step()
    return net
