"""Training step of a denoiser."""

import torch
import torch.nn.functional as F


def train_step(model, optimizer, clean: torch.Tensor, noise_level: float) -> torch.Tensor:
    noisy = clean + noise_level * torch.randn_like(clean)
    optimizer.zero_grad(set_to_none=True)
    loss = F.mse_loss(model(noisy), clean)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1e6)  # expect: NAN401
    optimizer.step()
    return loss.detach()
