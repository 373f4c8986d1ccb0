"""One epoch, and what is saved after it."""

from pathlib import Path

import torch
from torch.nn.functional import cross_entropy


class Trainer:
    def __init__(self, model, optimizer, scheduler, settings):
        self.model, self.optimizer, self.scheduler, self.settings = model, optimizer, scheduler, settings
        self.epoch = 0

    def resume(self, path):
        if not Path(path).exists():
            return
        state = torch.load(path)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])
        self.epoch = state["epoch"]

    def train_epoch(self, loader):
        for images, labels in loader:
            loss = cross_entropy(self.model(images), labels)
            self.optimizer.zero_grad()
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.GRAD_CLIP)
            if not torch.isfinite(norm):
                print(f"epoch {self.epoch}: gradient norm {norm}, batch skipped")
                self.optimizer.zero_grad()
                continue
            self.optimizer.step()
            self.scheduler.step()
        self.epoch += 1

    def save(self, path):
        torch.save(
            {
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "scheduler": self.scheduler.state_dict(),
                "epoch": self.epoch,
            },
            path,
        )
