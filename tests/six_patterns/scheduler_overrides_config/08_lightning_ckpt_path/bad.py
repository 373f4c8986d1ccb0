"""Continue a Lightning run at another learning rate."""

import argparse

import lightning.pytorch as pl
import torch
from torch import nn


class Forecaster(pl.LightningModule):
    def __init__(self, width: int, lr: float) -> None:
        super().__init__()
        self.lr = lr
        self.net = nn.Linear(width, 1)

    def training_step(self, batch, batch_idx):
        past, future = batch
        return nn.functional.l1_loss(self.net(past).squeeze(-1), future)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.lr)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=self.trainer.max_epochs)]


def main(loader) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--ckpt")
    args = parser.parse_args()
    trainer = pl.Trainer(max_epochs=100, gradient_clip_val=1.0)
    trainer.fit(Forecaster(width=48, lr=args.lr), loader, ckpt_path=args.ckpt)  # expect: NAN501
