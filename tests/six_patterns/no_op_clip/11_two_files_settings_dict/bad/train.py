"""Train with the settings of this folder."""

import torch
from torch import nn

from settings import SETTINGS


def make_optimizer(net: nn.Module) -> torch.optim.Optimizer:
    section = SETTINGS["optim"]
    return torch.optim.SGD(net.parameters(), lr=section["lr"], momentum=section["momentum"])


def train(net: nn.Module, loader) -> None:
    optimizer = make_optimizer(net)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        nn.utils.clip_grad_norm_(net.parameters(), SETTINGS["optim"]["clip_norm"])  # expect: NAN401
        optimizer.step()
