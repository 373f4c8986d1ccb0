"""A Trainer that builds everything from its config; the loss is checked, the norm is not."""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class TrainConfig:
    data_dir: str = "/data/regression"
    hidden: int = 512
    batch_size: int = 128
    epochs: int = 100
    lr: float = 3e-4
    max_grad_norm: float = 1.0
    workers: int = 8


class TableDataset(Dataset):
    def __init__(self, folder):
        blob = torch.load(f"{folder}/train.pt")
        self.features, self.targets = blob["features"], blob["targets"]

    def __len__(self):
        return len(self.features)

    def __getitem__(self, index):
        return self.features[index], self.targets[index]


class Mlp(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(32, hidden), nn.GELU(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


class Trainer:
    def __init__(self, config: TrainConfig):
        self.config = config
        self.model = Mlp(config.hidden)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.lr)
        self.loader = DataLoader(TableDataset(config.data_dir), config.batch_size, shuffle=True, num_workers=config.workers)
        self.step_count = 0

    def train_step(self, batch):
        features, targets = batch
        loss = nn.functional.mse_loss(self.model(features), targets)
        if not math.isfinite(loss.item()):
            return None
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.max_grad_norm)
        self.optimizer.step()
        self.step_count += 1
        return loss.item()

    def fit(self):
        self.model.train()
        for epoch in range(self.config.epochs):
            for batch in self.loader:
                self.train_step(batch)
            self.save(epoch)

    def save(self, epoch):
        torch.save({"model": self.model.state_dict(), "epoch": epoch}, "last.pt")


if __name__ == "__main__":
    Trainer(TrainConfig()).fit()
