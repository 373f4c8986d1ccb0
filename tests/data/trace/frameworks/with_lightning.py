"""The sixth of twelve batches breaks the gradient, in Lightning's own loop."""
import logging
import sys
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
manual = "manual" in sys.argv


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 3))
        self.automatic_optimization = not manual

    def training_step(self, batch, index):
        x, mark = batch
        loss = (self.net(x) * mark).pow(2).sum(-1).sqrt().mean()  # origin: sqrt backward
        if manual:
            optimizer = self.optimizers()
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


torch.manual_seed(0)
inputs, marks = torch.randn(96, 4), torch.ones(96, 1)
marks[40:48] = 0
trainer = L.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    accumulate_grad_batches=4 if "accumulate" in sys.argv else 1,
)
trainer.fit(Model(), DataLoader(TensorDataset(inputs, marks), batch_size=8))
