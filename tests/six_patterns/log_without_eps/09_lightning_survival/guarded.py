"""Discrete-time survival model."""

import lightning as L
import torch
from torch import nn

FLOOR = 1e-7


class SurvivalModel(L.LightningModule):
    def __init__(self, inputs: int, bins: int, lr: float = 1e-3) -> None:
        super().__init__()
        self.lr = lr
        self.risk = nn.Linear(inputs, bins)

    def training_step(self, batch, batch_idx):
        x, last_bin, died = batch
        hazard = torch.sigmoid(self.risk(x))
        alive = torch.cumprod(1 - hazard, dim=1)
        at = last_bin.unsqueeze(1)
        end = torch.log(hazard.gather(1, at) + FLOOR)
        stay = torch.log(alive.gather(1, at) + FLOOR)
        loss = -torch.where(died.unsqueeze(1), end, stay).mean()
        self.log("nll", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)
