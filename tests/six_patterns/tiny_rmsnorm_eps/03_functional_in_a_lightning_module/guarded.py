"""Autoencoder for expression counts."""

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn


class CountAutoencoder(L.LightningModule):
    def __init__(self, genes: int, width: int = 16) -> None:
        super().__init__()
        self.encode = nn.Linear(genes, width, bias=False)
        self.gain = nn.Parameter(torch.ones(width))
        self.decode = nn.Linear(width, genes)

    def forward(self, counts: torch.Tensor) -> torch.Tensor:
        h = self.encode(counts.log1p())
        h = F.rms_norm(h, (h.size(-1),), self.gain, 1e-5)
        return self.decode(h)

    def training_step(self, batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
        return F.poisson_nll_loss(self(batch).clamp(max=20), batch)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)
