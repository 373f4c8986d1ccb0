"""Speech model: every entry of the gradient is kept between two bounds."""

import torch
from torch import nn
from torch.nn.utils import clip_grad_value_


class Recogniser:
    def __init__(self, net: nn.Module, rate: float) -> None:
        self.net = net
        self.optimizer = torch.optim.RMSprop(net.parameters(), lr=rate)

    def learn(self, frames: torch.Tensor, phones: torch.Tensor) -> float | None:
        cost = nn.functional.cross_entropy(self.net(frames), phones)
        if not cost.isfinite():
            return None
        self.optimizer.zero_grad()
        cost.backward()
        clip_grad_value_(self.net.parameters(), 0.1)
        if not all(torch.isfinite(p.grad).all() for p in self.net.parameters() if p.grad is not None):
            return None
        self.optimizer.step()
        return cost.item()
