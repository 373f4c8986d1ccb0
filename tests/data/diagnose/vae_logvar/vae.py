"""A variational autoencoder for spectra."""

import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, bins: int = 40, hidden: int = 64, latent: int = 8) -> None:
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(bins, hidden), nn.ReLU(), nn.Linear(hidden, 2 * latent))
        self.decode = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, bins))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mean, logvar = self.encode(x).chunk(2, dim=-1)
        std = torch.exp(0.5 * logvar)  # planted
        return self.decode(mean + std * torch.randn_like(std)), mean, logvar


def kl_divergence(mean: torch.Tensor, logvar: torch.Tensor) -> torch.Tensor:
    return -0.5 * (1 + logvar - mean.square() - logvar.exp()).sum(dim=-1).mean()  # planted


def elbo(recon: torch.Tensor, x: torch.Tensor, mean: torch.Tensor, logvar: torch.Tensor, weight: float) -> torch.Tensor:
    return (recon - x).square().sum(dim=-1).mean() + weight * kl_divergence(mean, logvar)
