"""Trainer: made in __init__, saved and resumed by methods."""

import torch
from torch import nn


class Trainer:
    def __init__(self, model: nn.Module, lr: float, decay_every: int = 30) -> None:
        self.model = model
        self.lr = lr
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=decay_every)
        self.epoch = 0

    def save(self, path) -> None:
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "epoch": self.epoch,
        }
        torch.save(state, path)

    def resume(self, path) -> None:
        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])
        self.epoch = state["epoch"]
        self._use_configured_lr()

    def _use_configured_lr(self) -> None:
        self.scheduler.base_lrs = [self.lr] * len(self.optimizer.param_groups)
        for group in self.optimizer.param_groups:
            group["lr"] = self.lr

    def train_epoch(self, loader) -> None:
        for x, y in loader:
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
        self.scheduler.step()
        self.epoch += 1
