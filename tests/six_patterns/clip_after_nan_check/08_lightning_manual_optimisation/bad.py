"""Segmentation with manual optimisation."""

import lightning.pytorch as pl
import torch
import torch.nn.functional as F


class Segmenter(pl.LightningModule):
    def __init__(self, backbone: torch.nn.Module, lr: float = 2e-4) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.backbone = backbone
        self.lr = lr

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        image, label = batch
        loss = F.cross_entropy(self.backbone(image), label)
        if not torch.isfinite(loss):
            self.log("skipped", 1.0)
            return
        opt.zero_grad()
        self.manual_backward(loss)
        self.clip_gradients(opt, gradient_clip_val=0.5, gradient_clip_algorithm="norm")  # expect: NAN403
        opt.step()
        self.log("loss", loss)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.lr)
