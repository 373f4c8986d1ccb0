"""Train or continue."""

import torch
from torch import nn

from project.checkpointing import load_checkpoint


def start(config: dict, model: nn.Module):
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=config["momentum"])
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=config["milestones"])
    epoch = 0
    if config.get("resume"):
        epoch = load_checkpoint(config["resume"], model, optimizer, scheduler)
        scheduler.base_lrs = [config["lr"]] * len(optimizer.param_groups)
        for group in optimizer.param_groups:
            group["lr"] = config["lr"]
    return optimizer, scheduler, epoch


def train(config: dict, model: nn.Module, loader) -> None:
    optimizer, scheduler, epoch = start(config, model)
    for _ in range(epoch, config["epochs"]):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        scheduler.step()
