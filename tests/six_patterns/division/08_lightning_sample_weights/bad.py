"""Regression on weighted samples."""

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn


class YieldModel(L.LightningModule):
    def __init__(self, inputs: int, lr: float = 1e-3) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(inputs, 32), nn.GELU(), nn.Linear(32, 1))

    def training_step(self, batch: dict[str, torch.Tensor], batch_idx: int) -> torch.Tensor:
        predicted = self.net(batch["x"]).squeeze(-1)
        trust = batch["trust"]
        error = F.huber_loss(predicted, batch["y"], reduction="none")
        total = trust.sum()
        loss = torch.dot(error, trust) / total  # expect: NAN101
        self.log("train/loss", loss)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
