"""Spectra in decibels above the noise, not scaled."""

import torch
import yaml
from vae import VAE, elbo


def main():
    with open("hparams.yaml") as file:
        hparams = yaml.safe_load(file)
    model = VAE(hidden=hparams["hidden"], latent=hparams["latent"])
    optimizer = torch.optim.Adam(model.parameters(), lr=hparams["learning_rate"])
    for step in range(hparams["max_steps"]):
        x = torch.rand(32, 40) * 900
        recon, mean, logvar = model(x)
        loss = elbo(recon, x, mean, logvar, hparams["kl_weight"])
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), hparams["gradient_clip_val"])
        if not torch.isfinite(norm):
            raise RuntimeError(f"step {step}: gradient norm {norm}")
        optimizer.step()


if __name__ == "__main__":
    main()
