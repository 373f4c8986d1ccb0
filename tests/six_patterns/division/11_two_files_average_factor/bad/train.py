"""Box head and its training step."""

import torch
from torch import nn

from losses import reduce_loss


class BoxHead(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.regress = nn.Linear(channels, 4)

    def loss(self, features: torch.Tensor, boxes: torch.Tensor, assigned: torch.Tensor) -> torch.Tensor:
        positive = (assigned > 0).float()
        distance = (self.regress(features) - boxes).abs().sum(-1)
        return reduce_loss(distance, positive, positive.sum())  # expect: NAN101


def step(head: BoxHead, optimizer: torch.optim.Optimizer, batch: dict[str, torch.Tensor]) -> float:
    optimizer.zero_grad()
    value = head.loss(batch["features"], batch["boxes"], batch["assigned"])
    value.backward()
    optimizer.step()
    return value.item()
