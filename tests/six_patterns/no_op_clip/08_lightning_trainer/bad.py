"""Entry point of a Lightning project."""

import lightning.pytorch as pl
import torch
from torch import nn


class Regressor(pl.LightningModule):
    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.net = nn.Linear(inputs, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x).squeeze(-1), y)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main(loader, inputs: int) -> None:
    trainer = pl.Trainer(max_epochs=20, gradient_clip_val=1e5, gradient_clip_algorithm="norm")  # expect: NAN401|NAN603
    trainer.fit(Regressor(inputs), loader)
