"""Text and latent loss of the diffusion model."""

import torch
import torch.nn.functional as F
from torch import nn


class Trainer(nn.Module):
    def __init__(self, dim: int = 16, vocabulary: int = 50) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.text_head = nn.Linear(dim, vocabulary)
        self.latent_head = nn.Linear(dim, dim)

    def forward(self, batch, weights):
        hidden = self.embed(batch["text"])
        logits = self.text_head(hidden)
        unmasked = F.cross_entropy(logits.flatten(0, 1), batch["target"].flatten(), reduction="none")
        text_mask = batch["mask"].flatten().float()
        text_loss = (unmasked * text_mask).sum() / text_mask.sum().clamp(min=1)
        latent_loss = F.mse_loss(self.latent_head(hidden), batch["latent"])
        return weights[0] * text_loss + weights[1] * latent_loss
