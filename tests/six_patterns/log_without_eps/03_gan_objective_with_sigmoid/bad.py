"""The minimax objective of a GAN, as the paper writes it."""

import torch
from torch import nn


def discriminator_loss(critic: nn.Module, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
    on_real = torch.sigmoid(critic(real))
    on_fake = torch.sigmoid(critic(fake.detach()))
    gain = torch.log(on_real) + torch.log(1 - on_fake)  # expect: NAN102|NAN110
    return -gain.mean()


def train_critic(critic, generator, optimizer, real, noise_width: int = 16):
    noise = torch.randn(real.size(0), noise_width)
    optimizer.zero_grad()
    loss = discriminator_loss(critic, real, generator(noise))
    loss.backward()
    optimizer.step()
    return loss.item()
