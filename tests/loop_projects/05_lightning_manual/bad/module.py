"""A Lightning module with manual optimisation: a NaN loss is logged, and stepped with."""

import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class AutoEncoder(pl.LightningModule):
    def __init__(self, width: int = 64, lr: float = 1e-3):
        super().__init__()
        self.automatic_optimization = False
        self.lr = lr
        self.encoder = nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, 4))
        self.decoder = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 20))

    def forward(self, x):
        return self.decoder(self.encoder(x))

    def training_step(self, batch, batch_idx):
        (x,) = batch
        opt = self.optimizers()
        opt.zero_grad()
        loss = nn.functional.mse_loss(self(x), x)
        if torch.isnan(loss) or torch.isinf(loss):
            print("loss is not finite")
        self.manual_backward(loss)
        opt.step()
        self.log("train_loss", loss)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


def main():
    data = TensorDataset(torch.randn(4096, 20))
    loader = DataLoader(data, batch_size=64, shuffle=True)
    trainer = pl.Trainer(max_epochs=10, accelerator="auto")
    trainer.fit(AutoEncoder(), loader)


if __name__ == "__main__":
    main()
