"""Train a detector of rare events."""

import torch
from torch import nn

from losses import focal_loss


def train_epoch(net: nn.Module, loader, optimizer: torch.optim.Optimizer, gamma: float) -> float:
    net.train()
    seen = 0.0
    for x, event in loader:
        optimizer.zero_grad()
        loss = focal_loss(net(x).squeeze(-1).sigmoid(), event, gamma)
        loss.backward()
        optimizer.step()
        seen += loss.item()
    return seen
